"""Compute the signals of a study's work, and say what they raise."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db.models import Count

from hits.management.following import do
from hits.models import Reading, Study
from hits.pipeline.doubt import KIND


class Command(BaseCommand):
    help = "What speaks against pages and people of a study; people decide on it in review."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("study", help="the study's short name")

    def handle(self, **options: Any) -> None:
        study = Study.objects.filter(slug=options["study"]).first()
        if study is None:
            raise CommandError(f"There is no study {options['study']!r}.")
        result = do(kind=KIND, arguments={"study": study.pk}, study=study)
        self.stdout.write(f"{result['judgments']:>8,}  judgments read")
        raised = study.flags.order_by("signal").values_list("signal").annotate(Count("pk"))
        for signal, count in raised:
            self.stdout.write(f"{count:>8,}  {signal}")
        self.stdout.write(f"{result['golds_in_doubt']:>8,}  golds in doubt")
        for signal, why in Reading.objects.get(study=study).silent.items():
            self.stdout.write(f"       –  {signal}: {why}")
