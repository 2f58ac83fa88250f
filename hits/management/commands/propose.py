"""Let a machine propose candidates for a corpus."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from hits.management.following import follow
from hits.models import Corpus
from hits.models.machines import Direction
from hits.pipeline.errors import Refused
from hits.pipeline.propose import QUEUES, ask, machines, usual_directions


class Command(BaseCommand):
    help = "Let a machine rank a split of a corpus, and keep its best candidates."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("corpus", help="the corpus's short name")
        parser.add_argument("machine", help=", ".join(machines()))
        parser.add_argument(
            "--direction",
            action="append",
            choices=Direction.values,
            help="several times for several",
        )
        parser.add_argument("--split", default="test", help="whose items are ranked")
        parser.add_argument("--train-split", default="train", help="what the machine learns from")
        parser.add_argument("--depth", type=int, default=25, help="how many candidates a query")
        parser.add_argument("--queries", type=int, help="a random sample of so many queries")
        parser.add_argument("--seed", type=int, default=0)
        parser.add_argument(
            "--pool",
            type=int,
            nargs="+",
            default=[],
            help="numbers of the proposals that a pair scorer puts in order",
        )
        parser.add_argument("--queue", choices=QUEUES, default="", help="where its parts are done")

    def handle(self, **options: Any) -> None:
        corpus = Corpus.objects.filter(slug=options["corpus"]).first()
        if corpus is None:
            raise CommandError(f"There is no corpus {options['corpus']!r}.")
        try:
            directions = options["direction"] or usual_directions(options["machine"])
            job = ask(
                corpus=corpus,
                machine=options["machine"],
                directions=list(directions),
                by=None,
                pool=options["pool"],
                queue=options["queue"],
                split=options["split"],
                train_split=options["train_split"],
                depth=options["depth"],
                query_sample=options["queries"],
                seed=options["seed"],
            )
        except Refused as refused:
            raise CommandError(str(refused)) from None
        result = follow(job)
        self.stdout.write(f"Proposals {', '.join(map(str, result['proposals']))}")
