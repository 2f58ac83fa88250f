"""Statements of the rater's cycle, written out: putting them together by the ORM would cost more
than running them. JSON comes as text, as the cursor gives it."""

from typing import Any

from django.db import connection

Values = dict[str, Any]
Row = tuple[Any, ...]


def row(statement: str, values: Values) -> Row | None:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        found: Row | None = cursor.fetchone()
        return found


def rows(statement: str, values: Values) -> list[Row]:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return list(cursor.fetchall())


def run(statement: str, values: Values) -> int:
    """The number of rows it changed."""
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return int(cursor.rowcount)
