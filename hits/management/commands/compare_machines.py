"""Tell what machines proposed on a corpus together, and how differently."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from hits.exporters.tables import as_read
from hits.models import Corpus
from hits.pipeline.compare import TOP, comparable, compare, usual
from hits.pipeline.errors import Refused
from hits.records import Table


class Command(BaseCommand):
    help = "Count what machines proposed before and after joining, and compare their lists."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("corpus", help="the corpus's short name")
        parser.add_argument("--proposals", type=int, nargs="+", help="else the newest of each")
        parser.add_argument("--top", type=int, default=TOP, help="how many of each list")

    def handle(self, **options: Any) -> None:
        corpus = Corpus.objects.filter(slug=options["corpus"]).first()
        if corpus is None:
            raise CommandError(f"There is no corpus {options['corpus']!r}.")
        found = comparable(corpus)
        named = options["proposals"] or []
        unknown = set(named) - {each.pk for each in found}
        if unknown:
            raise CommandError(
                f"{', '.join(map(str, sorted(unknown)))}: no finished proposal between images and "
                f"captions of {corpus.slug}."
            )
        chosen = [each for each in found if each.pk in named] or usual(found)
        try:
            compared = compare(corpus=corpus, proposals=chosen, top=options["top"])
        except Refused as refused:
            raise CommandError(str(refused)) from None
        self.stdout.write(
            f"{compared.proposed:,} proposals, {compared.joined:,} pairs after joining, "
            f"{compared.originals:,} of them the corpus's own, {compared.judged:,} judged."
        )
        for table in compared.tables:
            self._print(table)

    def _print(self, table: Table) -> None:
        self.stdout.write(f"\n{table.title}\n{table.why or table.note}")
        lines = [[column.name for column in table.columns]]
        lines += [
            [as_read(column, cell) for column, cell in zip(table.columns, row, strict=True)]
            for row in table.rows
        ]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        for line in lines if table.rows else ():
            cells = zip(line, widths, strict=True)
            self.stdout.write("  ".join(cell.ljust(width) for cell, width in cells).rstrip())
