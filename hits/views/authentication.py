from django.contrib.auth.backends import ModelBackend

from hits.models import Account, User
from hits.pipeline.statements import Joined

_LOGIN = Joined(
    "hits_user u LEFT JOIN hits_account a ON a.user_id = u.id WHERE u.id = %(user)s",
    u=User,
    a=Account,
)


class WithAccount(ModelBackend):
    """Fetches a login with its account: every request of a rater needs both."""

    def get_user(self, user_id: int) -> User | None:
        found = _LOGIN.first(user=user_id)
        if found is None:
            return None
        user: User = found[0]
        account: Account | None = found[1]
        user._state.fields_cache["account"] = account
        if account is not None:
            account.user = user
        return user if self.user_can_authenticate(user) else None
