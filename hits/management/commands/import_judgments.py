"""Import judgments made elsewhere into a study."""

from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from hits.management.following import do
from hits.management.lines import researcher_named, study_named, tell_refused


class Command(BaseCommand):
    help = (
        "Imports a CSV or JSONL file of judgments, or a batch's results as Mechanical Turk gave "
        "them out, into an open study. The same file again adds nothing."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("study", help="the study's short name")
        parser.add_argument("source", help="a file, or s3://bucket/key")
        parser.add_argument("--by", metavar="EMAIL", help="whose name the record has")
        parser.add_argument("--report", default="", metavar="FILE", help="where refusals go")
        parser.add_argument(
            "--raise-wanted",
            action="store_true",
            help="count what is beyond the judgments wanted, by wanting more",
        )

    def handle(self, **options: Any) -> None:
        study = study_named(options["study"])
        by = researcher_named(options["by"], study=study) if options["by"] else None
        arguments = {
            "study": study.pk,
            "source": options["source"],
            "report": options["report"],
            "raise_wanted": options["raise_wanted"],
            "by": by.pk if by else None,
        }
        result = do(kind="judgments", arguments=arguments, study=study)
        self.stdout.write(
            f"{result['added']:,} added by {result['people']:,} people on {result['pages']:,} "
            f"pages: {result['counted']:,} counted, {result['surplus']:,} more than wanted, "
            f"{result['not_used']:,} not used; {result['there']:,} there already"
        )
        tell_refused(self.stdout, result)
