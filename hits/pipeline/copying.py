"""Rows into PostgreSQL by COPY, streamed."""

import io
import re
from collections.abc import Iterable, Iterator, Sequence

from django.db import connection

_ESCAPES = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"})
_is_special = re.compile(r"[\\\t\n\r]").search
CHUNK = 1 << 16
NULL = "\\N"


def copy_lines(table: str, columns: Sequence[str], lines: Iterable[str]) -> None:
    """Append rows to a table, inside the transaction that is open.

    A line is the cells of a row with tabs between them and a newline behind; whatever may hold
    other characters than digits and plain words goes through `cell`.
    """
    with connection.cursor() as cursor:
        cursor.cursor.copy_expert(
            f"COPY {table} ({', '.join(columns)}) FROM STDIN", _Stream(iter(lines)), CHUNK
        )


def cell(text: str) -> str:
    return text.translate(_ESCAPES) if _is_special(text) else text


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
