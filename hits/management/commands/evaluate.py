"""Evaluate files."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from rich.console import Console
from rich.table import Table as Printed

from hits.analysis.evaluations.contract import FILES, Kind
from hits.analysis.evaluations.kinds import KINDS
from hits.exporters.files import TYPES, as_file
from hits.exporters.tables import as_read
from hits.pipeline.errors import Refused
from hits.pipeline.evaluate import computed, settings_of
from hits.records import Table


class Command(BaseCommand):
    help = "Compute figures from files, as the page Evaluate does, and print them."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("kind", choices=list(KINDS))
        parser.add_argument("given", nargs="*", help="FILE=PATH or SETTING=VALUE; none: which ones")
        parser.add_argument("--into", type=Path, help="a folder for the tables and figures")

    def handle(self, **options: Any) -> None:
        kind = KINDS[options["kind"]]
        if not options["given"]:
            self.stdout.write(_asked(kind))
            return
        given = dict(_pair(each) for each in options["given"])
        names = {upload.name for upload in kind.uploads}
        paths = {name: Path(value) for name, value in given.items() if name in names}
        rest = {name: value for name, value in given.items() if name not in names}
        _require(kind, paths, rest)
        try:
            tables = computed(kind, paths, settings_of(kind, rest))
        except Refused as refusal:
            raise CommandError(refusal.message) from refusal
        for table in tables:
            self.stdout.write(_printed(table))
        if options["into"]:
            _write(tables, options["into"])


def _asked(kind: Kind) -> str:
    lines = [f"{kind.title}. {kind.description}"]
    for upload in kind.uploads:
        needed = "" if upload.required else ", if there is one"
        lines.append(
            f"  {upload.name}=PATH ({' '.join(FILES[upload.form])}{needed}): {upload.help}"
        )
    lines += [f"  {each.name}={each.default}: {each.label}. {each.help}" for each in kind.settings]
    return "\n".join(lines)


def _pair(text: str) -> tuple[str, str]:
    name, separator, value = text.partition("=")
    if not separator:
        raise CommandError(f"{text!r} is not NAME=VALUE.")
    return name, value


def _require(kind: Kind, paths: dict[str, Path], rest: dict[str, str]) -> None:
    unknown = rest.keys() - {each.name for each in kind.settings}
    if unknown:
        raise CommandError(f"{kind.slug} has no {', '.join(sorted(unknown))}.")
    for upload in kind.uploads:
        path = paths.get(upload.name)
        if path is None and upload.required:
            raise CommandError(f"{upload.name}=PATH is needed: {upload.help}")
        if path is not None and not path.is_file():
            raise CommandError(f"There is no file {path}.")
        if path is not None and path.suffix not in FILES[upload.form]:
            raise CommandError(f"{upload.name}: one of {', '.join(FILES[upload.form])}.")


def _printed(table: Table) -> str:
    if not table.rows:
        return f"{table.title}: {table.why}\n"
    printed = Printed(title=table.title, caption=table.note, header_style="bold")
    for column in table.columns:
        printed.add_column(column.name, justify="left" if column.kind == "text" else "right")
    for row in table.rows:
        printed.add_row(*map(as_read, table.columns, row))
    console = Console(width=160)
    with console.capture() as captured:
        console.print(printed)
    return captured.get()


def _write(tables: list[Table], folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for table in tables:
        for form in TYPES:
            made = as_file(table, form) if table.rows else None
            if made is not None:
                (folder / f"{table.slug}.{form}").write_bytes(made)
