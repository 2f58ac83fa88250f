from django.contrib.auth.backends import ModelBackend

from hits.models import User


class WithAccount(ModelBackend):
    """Fetches a login with its account in one query: every request of a rater needs both."""

    def get_user(self, user_id: int) -> User | None:
        user = User.objects.select_related("account").filter(pk=user_id).first()
        return user if user is not None and self.user_can_authenticate(user) else None
