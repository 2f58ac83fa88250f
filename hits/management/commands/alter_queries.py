"""Alter the queries of a BISON file, or tell how many predictions an alteration changed."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from hits.analysis.alterations import KINDS, share_changed
from hits.analysis.errors import AnalysisError
from hits.analysis.evaluations.choices import chosen_image
from hits.pipeline.alter import altered_pieces
from hits.pipeline.errors import Refused


class Command(BaseCommand):
    help = "BISON's robustness: alter queries, then compare predictions before and after."

    def add_arguments(self, parser: CommandParser) -> None:
        steps = parser.add_subparsers(dest="step", required=True)
        alter = steps.add_parser("alter", help="write a BISON file with altered captions")
        alter.add_argument("file", type=Path, help="BISON's layout, with captions")
        alter.add_argument("kind", choices=KINDS)
        alter.add_argument("out", type=Path)
        alter.add_argument("--seed", type=int, default=0)
        compare = steps.add_parser("compare", help="the share of predictions that changed")
        compare.add_argument(
            "before", type=Path, help='[{"bison_id", "predicted_image_id" or "scores"}, …]'
        )
        compare.add_argument("after", type=Path)

    def handle(self, **options: Any) -> None:
        try:
            if options["step"] == "alter":
                self._alter(**{name: options[name] for name in ("file", "kind", "out", "seed")})
            else:
                self._compare(options["before"], options["after"])
        except (Refused, AnalysisError) as refusal:
            raise CommandError(str(refusal)) from None
        except OSError as wrong:
            raise CommandError(f"{wrong.filename}: {wrong.strerror}.") from None
        except (KeyError, TypeError, ValueError) as wrong:
            raise CommandError(f"This is not a file of BISON's layout: {wrong!r}") from None

    def _alter(self, file: Path, kind: Any, out: Path, seed: int) -> None:
        data = file.read_bytes()
        pieces = altered_pieces(data, alteration=kind, seed=seed)
        with out.open("w", encoding="utf-8") as written:
            written.writelines(pieces)
        before, after = (len(json.loads(each)["data"]) for each in (data, out.read_bytes()))
        self.stdout.write(f"{after:,} of {before:,} queries altered: {kind}.")

    def _compare(self, before: Path, after: Path) -> None:
        share, queries = share_changed(_predictions(before), _predictions(after))
        self.stdout.write(f"{share:.1%} of {queries:,} predictions changed.")


def _predictions(path: Path) -> dict[str, str]:
    rows: Iterable[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
    return {
        str(row["bison_id"]): str(chosen_image(row, f"{path.name}: entry {place}"))
        for place, row in enumerate(rows, 1)
    }
