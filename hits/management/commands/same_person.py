"""Two raters turned out to be one person: their accounts are joined, on every channel."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from hits.models import Account
from hits.pipeline import people
from hits.pipeline.doubt import note
from hits.pipeline.errors import PipelineError


class Command(BaseCommand):
    help = "Join two raters who are one person; of two judgments of a unit the later is not used."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("one", type=int, help="the number of a rater, as review has it")
        parser.add_argument("other", type=int, help="the number of the other")

    def handle(self, **options: Any) -> None:
        one, other = (_account_of(options[name]) for name in ("one", "other"))
        try:
            people.link(account=one, same_as=other)
        except PipelineError as refusal:
            raise CommandError(refusal.message) from None
        one.refresh_from_db()
        note(one.person.assignments.values_list("study", flat=True).distinct())
        self.stdout.write(f"Both are rater {one.person_id} from now on.")


def _account_of(number: int) -> Account:
    found = Account.objects.filter(person=number).order_by("pk").first()
    if found is None:
        raise CommandError(f"There is no rater {number}.")
    return found
