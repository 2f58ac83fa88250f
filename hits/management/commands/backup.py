"""Save the database and the data folder."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from hits.management.programs import postgres_program
from hits.pipeline.backup import backup
from hits.pipeline.errors import Refused


class Command(BaseCommand):
    help = "Save the database and the data folder into an empty folder. The application may run."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("folder", type=Path)

    def handle(self, *, folder: Path, **options: Any) -> None:
        try:
            contents = backup(folder=folder, program=postgres_program)
        except Refused as error:
            raise CommandError(error.message) from None
        rows, files = sum(contents["rows"].values()), len(contents["files"])
        self.stdout.write(f"{rows:,} rows and {files:,} files are in {folder}.")
