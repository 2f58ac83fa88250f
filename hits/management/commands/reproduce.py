"""Compute published figures anew."""

import sys
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from rich.console import Console
from rich.table import Table

from hits.analysis.reproduction import Released, Row, reproduce


class Command(BaseCommand):
    help = (
        "Compute the published figures of five papers anew, from their printed tables, the "
        "eccv_caption package and released files. The status is 0 if all is as expected."
    )
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--released",
            type=Path,
            help="a folder with files that were released with the papers, at any depth",
        )

    def handle(self, **options: Any) -> None:
        folder: Path | None = options["released"]
        if folder and not folder.is_dir():
            raise CommandError(f"{folder} is no folder.")
        rows = reproduce(Released(folder))
        console = Console(width=160)
        with console.capture() as printed:
            console.print(_table(rows))
        self.stdout.write(printed.get())
        self.stdout.write(_summary(rows))
        if not all(row.is_as_expected for row in rows):
            sys.exit(1)


def _table(rows: list[Row]) -> Table:
    table = Table(header_style="bold")
    for name in ("figure", "published", "computed", "match"):
        table.add_column(name)
    for row in rows:
        table.add_row(row.figure, row.published, row.computed, _verdict(row))
    return table


def _verdict(row: Row) -> str:
    if row.matches is None:
        return "no file"
    if row.matches:
        return "yes" if row.holds else "yes, against what is known"
    return "NO" if row.holds else "no, as is known"


def _summary(rows: list[Row]) -> str:
    computed = [row for row in rows if row.matches is not None]
    matching = sum(row.matches is True for row in computed)
    known = sum(not row.matches and not row.holds for row in computed)
    failed = sum(not row.is_as_expected for row in rows)
    return (
        f"{len(computed)} computed: {matching} match, {known} are known not to, {failed} are not "
        f"as expected. {len(rows) - len(computed)} want a file."
    )
