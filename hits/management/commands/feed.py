"""Give an open study what its feeding studies have finished and what was uploaded since."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from hits.management.following import do
from hits.models import Study
from hits.pipeline.chain import choose_feeders
from hits.pipeline.errors import PipelineError


class Command(BaseCommand):
    help = "More units for an open study: of the studies that feed it, and of uploaded rows."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("study", help="the study's short name")
        parser.add_argument(
            "--by",
            action="append",
            default=[],
            metavar="STUDY",
            help="also feed it by this study from now on; a draft is only told so",
        )

    def handle(self, **options: Any) -> None:
        study = _study(options["study"])
        if options["by"]:
            feeders = {*study.fed_by.all(), *map(_study, options["by"])}
            try:
                both = choose_feeders(study=study, feeders=feeders)
            except PipelineError as refusal:
                raise CommandError(refusal.message) from None
            if both:
                self.stdout.write(f"{both:,} people worked in both: their later work is not used.")
        if study.state == Study.State.DRAFT:
            self.stdout.write("The study is a draft: opening it makes its units.")
            return
        result = do(kind="feed", arguments={"study": study.pk}, study=study)
        for pool, count in result["units"].items():
            self.stdout.write(f"{count:>8,}  {pool}")
        if not result["units"]:
            self.stdout.write("Nothing new.")


def _study(slug: str) -> Study:
    found = Study.objects.filter(slug=slug).first()
    if found is None:
        raise CommandError(f"There is no study {slug!r}.")
    return found
