"""Open a draft study: its proposals become units and golds."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from hits.management.following import do
from hits.models import Study


class Command(BaseCommand):
    help = "Open a draft study."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("study", help="the study's short name")

    def handle(self, **options: Any) -> None:
        study = Study.objects.filter(slug=options["study"]).first()
        if study is None:
            raise CommandError(f"There is no study {options['study']!r}.")
        result = do(kind="open", arguments={"study": study.pk}, study=study)
        for pool, count in result["units"].items():
            self.stdout.write(f"{count:>8,}  {pool}")
