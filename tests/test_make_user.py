import pytest
from django.core.management import CommandError, call_command

from hits.management.commands import make_user
from hits.models import User
from tests import making

pytestmark = pytest.mark.django_db


def test_a_new_researcher_can_log_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(make_user, "getpass", lambda prompt: "correct horse battery")
    call_command("make_user", "Rosa@lab.org", "--researcher", "--name", "Rosa Lux")
    user = User.objects.get(email="rosa@lab.org")
    assert user.check_password("correct horse battery")
    assert (user.is_researcher, user.is_staff, user.first_name) == (True, False, "Rosa")


def test_an_existing_login_is_changed_without_a_password() -> None:
    user = making.user(is_researcher=True)
    call_command("make_user", user.email, "--deactivate")
    user.refresh_from_db()
    assert not user.is_active
    assert not user.is_researcher


@pytest.mark.parametrize(("email", "password"), [("nobody", "x" * 20), ("a@lab.org", "short")])
def test_a_bad_address_or_password_makes_no_login(
    monkeypatch: pytest.MonkeyPatch, email: str, password: str
) -> None:
    monkeypatch.setattr(make_user, "getpass", lambda prompt: password)
    with pytest.raises(CommandError):
        call_command("make_user", email, "--researcher")
    assert not User.objects.filter(username=email).exists()


def test_without_anybody_to_ask_the_command_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def ask_nobody(prompt: str) -> str:
        raise EOFError

    monkeypatch.setattr(make_user, "getpass", ask_nobody)
    with pytest.raises(CommandError, match="Run this in a terminal"):
        call_command("make_user", "rosa@lab.org", "--researcher")
