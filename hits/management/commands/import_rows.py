"""Import rows that the units of a study are made of."""

from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from hits.management.following import do
from hits.management.lines import study_named, tell_refused


class Command(BaseCommand):
    help = "Imports a CSV or JSONL file of rows into a study. The same file again adds nothing."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("study", help="the study's short name")
        parser.add_argument("source", help="a file, or s3://bucket/key")
        parser.add_argument("--report", default="", metavar="FILE", help="where refusals go")

    def handle(self, **options: Any) -> None:
        study = study_named(options["study"])
        arguments = {
            "study": study.pk, "source": options["source"], "report": options["report"],
        }  # fmt: skip
        result = do(kind="rows", arguments=arguments, study=study)
        self.stdout.write(f"{result['added']:,} added, {result['there']:,} there already")
        tell_refused(self.stdout, result)
