"""Erase a person on their request."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from hits.models import User
from hits.pipeline import erase
from hits.pipeline.errors import PipelineError


class Command(BaseCommand):
    help = "Destroy what says who a person is and all that they wrote. It cannot be undone."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("channel", help="in_house, import, or the name of a marketplace")
        parser.add_argument("identity", help="the email of a login, or the id there")
        parser.add_argument("--by", required=True, help="the email of an admin")
        parser.add_argument("--yes", action="store_true", help="do not only say what there is")

    def handle(self, **options: Any) -> None:
        by = User.objects.filter(email=options["by"]).first()
        if by is None:
            raise CommandError(f"There is no login {options['by']!r}.")
        try:
            person = erase.find(channel=options["channel"], identity=options["identity"])
            erase.check(person=person, by=by)
            self._tell("There are", erase.outlook(person))
            if options["yes"]:
                self._tell("Erased", erase.erase(person=person, by=by).counts)
        except PipelineError as error:
            raise CommandError(error.message) from None

    def _tell(self, what: str, counts: dict[str, int]) -> None:
        told = ", ".join(f"{count:,} {name.replace('_', ' ')}" for name, count in counts.items())
        self.stdout.write(f"{what}: {told}")
