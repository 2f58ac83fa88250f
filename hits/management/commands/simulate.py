"""Fill an open study with the answers of a simulated crowd."""

from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from hits.management.following import do
from hits.management.lines import study_named, tell_refused


class Command(BaseCommand):
    help = (
        "Lets a simulated crowd work in an open study: careful people, and among them hasty, "
        "biased, adversarial, colluding and drifting ones. The same seed gives the same crowd. "
        "For rehearsals: a study in which people have worked is refused."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("study", help="the study's short name")
        parser.add_argument("--people", type=int, default=20, help="default 20")
        parser.add_argument("--seed", type=int, default=0, help="default 0")
        parser.add_argument(
            "--bad", type=float, default=0.1, metavar="SHARE", help="of bad workers; default 0.1"
        )
        parser.add_argument(
            "--among-people",
            action="store_true",
            help="also in a study that people have worked in; its data are then no data",
        )

    def handle(self, **options: Any) -> None:
        study = study_named(options["study"])
        arguments = {
            "study": study.pk,
            "people": options["people"],
            "seed": options["seed"],
            "bad_share": options["bad"],
            "among_people": options["among_people"],
        }
        result = do(kind="simulate", arguments=arguments, study=study)
        self.stdout.write(
            f"{result['added']:,} judgments by {result['people']:,} simulated people on "
            f"{result['pages']:,} pages: {result['counted']:,} counted"
        )
        tell_refused(self.stdout, result)
