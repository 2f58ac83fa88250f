"""Snapshot: one state of the database, read by two connections at once, so that PostgreSQL prepares
the one table while the other is written."""

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

from django.db import connection, transaction

T = TypeVar("T")


def prepare_to_read_all() -> None:
    with connection.cursor() as cursor:
        # Every cursor is read to its end, sorted: plan for the last row, not for the first.
        cursor.execute("SET LOCAL cursor_tuple_fraction = 1")
        cursor.execute("SET LOCAL work_mem = '64MB'")


@contextmanager
def beside(work: Callable[[], T]) -> Iterator[Future[T]]:
    """The work is done in a connection of its own that sees what this transaction sees; at the
    end it is waited for."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_export_snapshot()")
        (snapshot,) = cursor.fetchone()
    with ThreadPoolExecutor(1) as threads:
        yield threads.submit(_in_snapshot, snapshot, work)


def _in_snapshot(snapshot: str, work: Callable[[], T]) -> T:
    try:
        with transaction.atomic():
            with connection.cursor() as cursor:
                cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
                cursor.execute("SET TRANSACTION SNAPSHOT %s", [snapshot])
            prepare_to_read_all()
            return work()
    finally:
        connection.close()
