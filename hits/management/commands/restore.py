"""Put a backup in the place of what is there."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from hits.management.programs import postgres_program
from hits.pipeline.backup import restore
from hits.pipeline.errors import Refused


class Command(BaseCommand):
    help = "Put a backup in the place of the database, and its files into the data folder."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("folder", type=Path)
        parser.add_argument("--yes", action="store_true", help="what is there is lost")

    def handle(self, *, folder: Path, yes: bool, **options: Any) -> None:
        if not yes:
            raise CommandError("Everything in the database is lost by this: say --yes.")
        try:
            contents = restore(folder=folder, program=postgres_program)
        except Refused as error:
            raise CommandError(error.message) from None
        rows, files = sum(contents["rows"].values()), len(contents["files"])
        self.stdout.write(f"{rows:,} rows and {files:,} files are as they were.")
