"""Fill an open study with the answers of a simulated crowd."""

import sys
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from hits.management.crowds import Crowd, MarketWorkers, Raters
from hits.management.following import PlainLines, do
from hits.management.lines import study_named, tell_refused
from hits.management.visiting import NotServed
from hits.models import Study
from hits.pipeline.errors import PipelineError
from hits.pipeline.simulate import may_simulate
from hits.pipeline.simulated import crowd


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
            "--wrong-golds",
            type=float,
            default=0.0,
            metavar="SHARE",
            help="of golds whose expected answer is wrong, so that good people fail them; default "
            "0: only those that are wrong about a drawn scene",
        )
        parser.add_argument(
            "--by",
            choices=["import", "http", "marketplace"],
            default="import",
            help="by a file of judgments, as raters through the API of a server that runs, or as "
            "workers at the marketplace where the study is published; default import",
        )
        parser.add_argument("--url", default=settings.SITE_URL, help="of the server, for http")
        parser.add_argument("--pages", type=int, help="at most, for http and marketplace")
        parser.add_argument("--at-once", type=int, default=4, help="people at work; default 4")
        parser.add_argument(
            "--among-people",
            action="store_true",
            help="also in a study that people have worked in; its data are then no data",
        )

    def handle(self, **options: Any) -> None:
        study = study_named(options["study"])
        if options["by"] == "import":
            self._by_import(study, options)
            return
        try:
            self._over_http(study, options)
        except (PipelineError, NotServed, OSError) as refusal:
            raise CommandError(str(refusal)) from refusal

    def _by_import(self, study: Study, options: dict[str, Any]) -> None:
        arguments = {
            "study": study.pk,
            "people": options["people"],
            "seed": options["seed"],
            "bad_share": options["bad"],
            "wrong_golds": options["wrong_golds"],
            "among_people": options["among_people"],
        }
        result = do(kind="simulate", arguments=arguments, study=study)
        self.stdout.write(
            f"{result['added']:,} judgments by {result['people']:,} simulated people on "
            f"{result['pages']:,} pages: {result['counted']:,} counted"
        )
        tell_refused(self.stdout, result)

    def _over_http(self, study: Study, options: dict[str, Any]) -> None:
        may_simulate(study, among_people=options["among_people"])
        given = {"people": options["people"], "seed": options["seed"], "bad_share": options["bad"]}
        wrong = options["wrong_golds"]
        people = Crowd(study, crowd(**given), options["seed"], wrong_golds=wrong)
        as_raters = options["by"] == "http"
        workers = Raters(people, options["url"]) if as_raters else MarketWorkers(people)
        tell = PlainLines(sys.stderr)
        done = people.work(
            workers.do_page,
            at_once=max(1, options["at_once"]),
            most_pages=options["pages"],
            tell=lambda pages: tell(pages, message="Pages done:"),
        )
        where = "raters" if as_raters else "workers at the marketplace"
        self.stdout.write(f"{done:,} pages submitted by simulated {where}")
