"""Make a login, or change what an existing one may do."""

from getpass import getpass
from typing import Any

from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.core.validators import validate_email

from hits.models import User


class Command(BaseCommand):
    help = "Make a login for a researcher or an admin, or change an existing one."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("email")
        parser.add_argument("--name", default="")
        what = parser.add_mutually_exclusive_group(required=True)
        what.add_argument("--researcher", action="store_true", help="may make corpora and studies")
        what.add_argument("--admin", action="store_true", help="sees everything")
        what.add_argument("--nothing", action="store_true", help="takes both rights away")
        what.add_argument("--deactivate", action="store_true", help="cannot log in any more")

    def handle(self, **options: Any) -> None:
        email = options["email"].strip().lower()
        user = User.objects.filter(email__iexact=email).first() or self._new(email)
        if options["name"]:
            user.first_name, _, user.last_name = options["name"].partition(" ")
        user.is_researcher = options["researcher"]
        user.is_staff = user.is_superuser = options["admin"]
        user.is_active = not options["deactivate"]
        user.save()
        what = next(
            name for name in ("researcher", "admin", "nothing", "deactivate") if options[name]
        )
        self.stdout.write(f"{user.email}: {what}")

    def _new(self, email: str) -> User:
        user = User(username=email, email=email)
        try:
            validate_email(email)
            password = getpass(f"A password for {email}: ")
            validate_password(password, user)
        except ValidationError as wrong:
            raise CommandError(" ".join(wrong.messages)) from None
        except EOFError:
            raise CommandError(
                "There is no terminal to ask for a password at. Run this in a terminal, or give "
                "the password as one line of standard input."
            ) from None
        user.set_password(password)
        return user
