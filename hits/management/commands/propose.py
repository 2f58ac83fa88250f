"""Let a machine propose candidates for a corpus."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from hits.management.following import do
from hits.models import Corpus


class Command(BaseCommand):
    help = "Let a machine rank a split of a corpus, and keep its best candidates."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("corpus", help="the corpus's short name")
        parser.add_argument("machine", help="palette, layout, or originals: its own pairs")
        parser.add_argument("--direction", action="append", choices=["i2t", "t2i"])
        parser.add_argument("--split", default="test", help="whose items are ranked")
        parser.add_argument("--train-split", default="train", help="what the machine learns from")
        parser.add_argument("--depth", type=int, default=25, help="how many candidates a query")
        parser.add_argument("--queries", type=int, help="a random sample of so many queries")
        parser.add_argument("--seed", type=int, default=0)

    def handle(self, **options: Any) -> None:
        corpus = Corpus.objects.filter(slug=options["corpus"]).first()
        if corpus is None:
            raise CommandError(f"There is no corpus {options['corpus']!r}.")
        arguments = {
            "corpus": corpus.pk,
            "machine": options["machine"],
            "directions": options["direction"] or ["i2t", "t2i"],
            "split": options["split"],
            "train_split": options["train_split"],
            "depth": options["depth"],
            "query_sample": options["queries"],
            "seed": options["seed"],
        }
        result = do(kind="propose", arguments=arguments, corpus=corpus)
        self.stdout.write(f"Proposals {', '.join(map(str, result['proposals']))}")
