from django.contrib.auth.backends import ModelBackend
from django.db import connection

from hits.models import Account, User

_USER = [field.attname for field in User._meta.concrete_fields]
_ACCOUNT = [field.attname for field in Account._meta.concrete_fields]
_STATEMENT = (
    f"SELECT {', '.join(f'u.{name}' for name in _USER)},"
    f" {', '.join(f'a.{name}' for name in _ACCOUNT)}"
    " FROM hits_user u LEFT JOIN hits_account a ON a.user_id = u.id WHERE u.id = %s"
)


class WithAccount(ModelBackend):
    """Fetches a login with its account: every request of a rater needs both, so the statement
    is put together once and not by the ORM for each of them."""

    def get_user(self, user_id: int) -> User | None:
        with connection.cursor() as cursor:
            cursor.execute(_STATEMENT, [user_id])
            row = cursor.fetchone()
        if row is None:
            return None
        user = User.from_db(connection.alias, _USER, row[: len(_USER)])
        own = row[len(_USER) :]
        account = Account.from_db(connection.alias, _ACCOUNT, own) if own[0] else None
        user._state.fields_cache["account"] = account
        if account is not None:
            account.user = user
        return user if self.user_can_authenticate(user) else None
