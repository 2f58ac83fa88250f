"""Rows into PostgreSQL by COPY, streamed or in a thread of their own."""

import io
from collections.abc import Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager
from itertools import islice
from types import TracebackType
from typing import IO, Any, Self, cast

import psycopg2
from django.db import connection, transaction

_ESCAPES = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"})
_NEW_IDS = "SELECT array_agg(nextval(%s::regclass)) FROM generate_series(1, %s)"
CHUNK = 1 << 20
LINES = 2000
NULL = "\\N"


def cells(*texts: str) -> str:
    """Texts as cells of a line: with tabs between them, and escaped where they hold one."""
    line = "\t".join(texts)
    if "\\" in line or "\n" in line or "\r" in line or line.count("\t") >= len(texts):
        return "\t".join([text.translate(_ESCAPES) for text in texts])
    return line


def as_array(ids: Iterable[int]) -> str:
    """One literal: PostgreSQL takes much longer to read an ARRAY of thousands of constants."""
    return f"{{{','.join(map(str, ids))}}}"


def copy_lines(table: str, columns: Sequence[str], lines: Iterable[str]) -> None:
    """Append rows to a table, inside the transaction that is open.

    A line is the cells of a row with tabs between them and a newline behind; whatever may hold
    other characters than digits and plain words goes through `cells`. What goes wrong where lines
    are made, a cancel too, arrives as what it is and not as an error of PostgreSQL's.
    """
    stream = _Stream(lines)
    try:
        with connection.cursor() as cursor:
            _copy(cursor.cursor, table, columns, cast(IO[bytes], stream))
    except psycopg2.Error:
        if stream.failure is not None:
            raise stream.failure from None
        raise


def new_ids(table: str, count: int) -> list[int]:
    """Ids for rows to come, the last first, so that they are popped in their order."""
    with connection.cursor() as cursor:
        cursor.execute(_NEW_IDS, [f"{table}_id_seq", count])
        (ids,) = cursor.fetchone()
    return list(reversed(ids or []))


def analyze(tables: str) -> None:
    """Enough for plans to be right until PostgreSQL looks for itself: a tenth of its sample."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SET LOCAL default_statistics_target = 10")
        cursor.execute(f"ANALYZE {tables}")
        cursor.execute("SET LOCAL default_statistics_target TO DEFAULT")


class CopyBehind(AbstractContextManager["CopyBehind"]):
    """Copies in a thread, so that PostgreSQL stores rows while the next ones are made.

    The connection is busy from `start` until `wait` returns.
    """

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1)
        self._running: list[Future[None]] = []

    def start(self, table: str, columns: Sequence[str], lines: Iterable[str]) -> None:
        connection.ensure_connection()
        file = io.BytesIO("".join(lines).encode())
        cursor = connection.connection.cursor()
        self._running.append(self._thread.submit(_copy, cursor, table, columns, file))

    def wait(self) -> None:
        running, self._running = self._running, []
        for copy in running:
            copy.result()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._thread.shutdown(cancel_futures=kind is not None)
        if kind is None:
            self.wait()


class _Stream:
    """Lines as a file that COPY reads; it takes more at a time than it asked for."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._lines = iter(lines)
        self.failure: BaseException | None = None

    def read(self, _size: int) -> bytes:
        try:
            return "".join(islice(self._lines, LINES)).encode()
        except BaseException as failure:
            self.failure = failure
            raise


def _copy(cursor: Any, table: str, columns: Sequence[str], file: IO[bytes]) -> None:
    cursor.copy_expert(f"COPY {table} ({', '.join(columns)}) FROM STDIN", file, CHUNK)
