"""Erase a person on their request."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from hits.models import User
from hits.pipeline import erase
from hits.pipeline.errors import PipelineError

TO_DO = (
    "Accounts: {accounts:,}. Pages: {pages:,}. Judgments: {judgments:,}. "
    "Releases with what they wrote: {releases:,}. Nothing is erased yet: say --yes."
)
DONE = (
    "Erased. Accounts emptied: {accounts:,}. Pages: {pages:,}. "
    "Answers with words of theirs, now without: {judgments:,}. "
    "Releases withdrawn: {releases_withdrawn:,}. What they chose stays, without them."
)


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
            if options["yes"]:
                self._tell(DONE, erase.erase(person=person, by=by).counts)
            else:
                self._tell(TO_DO, erase.outlook(person))
        except PipelineError as error:
            raise CommandError(error.message) from None

    def _tell(self, what: str, counts: dict[str, int]) -> None:
        self.stdout.write(what.format(**counts))
