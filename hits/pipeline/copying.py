"""Rows into PostgreSQL by COPY, streamed."""

import io
import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from django.db import connection

_ESCAPES = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"})
CHUNK = 1 << 16


def copy_rows(table: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Append rows to a table, inside the transaction that is open."""
    with connection.cursor() as cursor:
        cursor.cursor.copy_expert(
            f"COPY {table} ({', '.join(columns)}) FROM STDIN", _Stream(_lines(rows))
        )


def _lines(rows: Iterable[Sequence[Any]]) -> Iterator[str]:
    for row in rows:
        yield "\t".join(map(_cell, row)) + "\n"


def _cell(value: Any) -> str:
    if value is None:
        return "\\N"
    if isinstance(value, dict | list):
        value = json.dumps(value)
    if isinstance(value, str):
        return value.translate(_ESCAPES)
    return str(value)


class _Stream(io.TextIOBase):
    """Lines as a file that COPY reads."""

    def __init__(self, lines: Iterator[str]) -> None:
        self.lines = lines
        self.rest = ""

    def read(self, size: int | None = -1) -> str:
        parts = [self.rest]
        length = len(self.rest)
        wanted = CHUNK if size is None or size < 0 else size
        for line in self.lines:
            parts.append(line)
            length += len(line)
            if length >= wanted:
                break
        text = "".join(parts)
        self.rest = text[wanted:]
        return text[:wanted]
