"""Statements of the rater's cycle, written out and prepared.

To put them together by the ORM, and to have PostgreSQL plan them, costs more than to run them; so
each is put together once, and planned once a connection. JSON comes as text.
"""

import hashlib
import json
import re
from functools import cache
from typing import Any
from weakref import WeakKeyDictionary

from django.db import connection
from django.db.backends.utils import CursorWrapper
from django.db.models import JSONField, Model

Values = dict[str, Any]
Row = tuple[Any, ...]

_prepared: WeakKeyDictionary[Any, set[str]] = WeakKeyDictionary()


def row(statement: str, values: Values) -> Row | None:
    with connection.cursor() as cursor:
        _execute(cursor, statement, values)
        found: Row | None = cursor.fetchone()
        return found


def rows(statement: str, values: Values) -> list[Row]:
    with connection.cursor() as cursor:
        _execute(cursor, statement, values)
        return list(cursor.fetchall())


def run(statement: str, values: Values) -> int:
    """The number of rows it changed."""
    with connection.cursor() as cursor:
        _execute(cursor, statement, values)
        return int(cursor.rowcount)


class Joined:
    """Models that one statement fetches together: `SELECT … FROM` is put before it, with the
    columns of each model under its alias. An outer join that found nothing gives None."""

    def __init__(self, rest: str, **models: type[Model]) -> None:
        columns: list[str] = []
        self._parts: list[tuple[type[Model], list[str], int, list[int]]] = []
        for alias, model in models.items():
            fields = model._meta.concrete_fields
            texts = [i for i, field in enumerate(fields) if isinstance(field, JSONField)]
            names = [field.attname for field in fields]
            self._parts.append((model, names, len(columns), texts))
            columns += [f"{alias}.{field.column}" for field in fields]
        self.statement = f"SELECT {', '.join(columns)} FROM {rest}"

    def first(self, **values: Any) -> tuple[Any, ...] | None:
        found = row(self.statement, values)
        if found is None:
            return None
        return tuple(_made(*part, found) for part in self._parts)


def _made(
    model: type[Model], names: list[str], start: int, texts: list[int], found: Row
) -> Model | None:
    own = list(found[start : start + len(names)])
    if own[0] is None:
        return None
    for place in texts:
        own[place] = None if own[place] is None else json.loads(own[place])
    return model.from_db(connection.alias, names, own)


def _execute(cursor: CursorWrapper, statement: str, values: Values) -> None:
    name, prepare, call = _put_together(statement)
    known = _prepared.setdefault(cursor.connection, set())
    if name not in known:
        cursor.execute(prepare)
        known.add(name)
    cursor.execute(call, values)


@cache
def _put_together(statement: str) -> tuple[str, str, str]:
    """Its name, the statement that prepares it, and the one that calls it."""
    name = "s" + hashlib.sha256(statement.encode()).hexdigest()[:16]
    parameters = list(dict.fromkeys(re.findall(r"%\((\w+)\)s", statement)))
    numbered = re.sub(r"%\((\w+)\)s", lambda found: f"${parameters.index(found[1]) + 1}", statement)
    arguments = ", ".join(f"%({parameter})s" for parameter in parameters)
    return name, f"PREPARE {name} AS {numbered}", f"EXECUTE {name} ({arguments})"
