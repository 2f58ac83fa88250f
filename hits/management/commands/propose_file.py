"""Let a machine that ran elsewhere propose candidates for a corpus."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from hits.management.following import do
from hits.models import Corpus
from hits.models.machines import Direction
from hits.pipeline.errors import Refused
from hits.pipeline.propose import FILES, SIMILARITIES, check_file, refuse_numbers


class Command(BaseCommand):
    help = "Keep the best candidates of a machine that ran elsewhere: by vectors, scores or lists."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("corpus", help="the corpus's short name")
        parser.add_argument("file", type=Path, help=", ".join(FILES))
        parser.add_argument("name", help="of the machine")
        parser.add_argument(
            "--ids", type=Path, help='for .npy: JSON {"images": [ids], "captions": [ids]}'
        )
        parser.add_argument("--of-version", default="1", help="of the machine")
        parser.add_argument(
            "--direction",
            action="append",
            choices=Direction.values,
            required=True,
            help="several times for several",
        )
        parser.add_argument("--split", default="test", help="whose items are ranked")
        parser.add_argument("--similarity", choices=SIMILARITIES, default="cosine")
        parser.add_argument("--depth", type=int, default=25, help="how many candidates a query")
        parser.add_argument("--queries", type=int, help="a random sample of so many queries")
        parser.add_argument("--seed", type=int, default=0)

    def handle(self, **options: Any) -> None:
        corpus = Corpus.objects.filter(slug=options["corpus"]).first()
        if corpus is None:
            raise CommandError(f"There is no corpus {options['corpus']!r}.")
        file: Path = options["file"]
        ids: Path | None = options["ids"]
        for each in filter(None, (file, ids)):
            if not each.is_file():
                raise CommandError(f"There is no file {each}.")
        arguments = {
            "corpus": corpus.pk,
            "source": str(file.resolve()),
            "called": file.name,
            "ids": str(ids.resolve()) if ids else None,
            "name": options["name"],
            "version": options["of_version"],
            "directions": options["direction"],
            "split": options["split"],
            "similarity": options["similarity"],
            "depth": options["depth"],
            "query_sample": options["queries"],
            "seed": options["seed"],
        }
        try:
            check_file(name=file.name, directions=options["direction"], has_ids=ids is not None)
            refuse_numbers(arguments)
        except Refused as refused:
            raise CommandError(str(refused)) from None
        result = do(kind="propose_file", arguments=arguments, corpus=corpus)
        self.stdout.write(f"Proposals {', '.join(map(str, result['proposals']))}")
