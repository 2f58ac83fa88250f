"""The embedded PostgreSQL and Valkey of a measurement: its databases, and what they were asked."""

import os
import re
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg2

from annotation_app.embedded import Servers, running_servers

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "var" / "bench"
_LOGGED = re.compile(r"^(\w*)\|LOG:  (?:statement|execute [^:]*): (.*)")
_VALUES = re.compile(r"'(?:[^']|'')*'|\b\d+\b")


class BenchError(Exception):
    """A measurement cannot be made, or what was measured went wrong."""


@dataclass(frozen=True)
class Cluster:
    folder: Path
    servers: Servers

    def pid(self, name: str) -> int:
        return next(child.process.pid for child in self.servers.children if child.name == name)

    def url(self, database: str) -> str:
        return f"{self.servers.urls['DATABASE_URL'].rpartition('/')[0]}/{database}"

    def make_database(self, name: str, template: str = "template0") -> None:
        self.run(
            "postgres",
            f"DROP DATABASE IF EXISTS {name} WITH (FORCE)",
            f"CREATE DATABASE {name} TEMPLATE {template} STRATEGY file_copy",
        )

    def run(self, database: str, *statements: str) -> None:
        with closing(psycopg2.connect(self.url(database))) as connection:
            connection.autocommit = True
            with connection.cursor() as cursor:
                for statement in statements:
                    cursor.execute(statement)

    def rows(self, database: str, statement: str) -> list[tuple[Any, ...]]:
        with (
            closing(psycopg2.connect(self.url(database))) as connection,
            connection.cursor() as cursor,
        ):
            cursor.execute(statement)
            return list(cursor.fetchall())

    def settle(self, database: str) -> None:
        self.run(database, "VACUUM ANALYZE", "CHECKPOINT")

    @contextmanager
    def counted_statements(self, database: str) -> Iterator[Counter[str]]:
        """What clients send meanwhile, from the server's log of every statement; filled at the
        end. PostgreSQL's own checks of foreign keys are not among them."""
        counts: Counter[str] = Counter()
        log = self.folder / "log" / "postgres.log"
        self._set("SET log_statement = 'all'", "SET log_line_prefix = '%d|'")
        start = log.stat().st_size
        yield counts
        self._set("RESET log_statement", "RESET log_line_prefix")
        with log.open("rb") as lines:
            lines.seek(start)
            logged = lines.read().decode(errors="replace").splitlines()
        counts.update(_statements(logged, database))

    def _set(self, *changes: str) -> None:
        self.run("postgres", *(f"ALTER SYSTEM {change}" for change in changes))
        self.run("postgres", "SELECT pg_reload_conf()")
        time.sleep(0.5)  # until every backend has read it


@contextmanager
def cluster(folder: Path = FOLDER) -> Iterator[Cluster]:
    # What is measured is the server that comes with the project, whatever the shell has set.
    for name in ("DATABASE_URL", "REDIS_URL"):
        os.environ.pop(name, None)
    with running_servers(folder) as servers:
        yield Cluster(folder, servers)


def _statements(lines: Iterable[str], database: str) -> Iterator[str]:
    """Each statement without its values, so that like ones count together."""
    statement: str | None = None
    for line in [*lines, "|end"]:
        if line.startswith("\t"):
            statement = statement and f"{statement} {line.strip()}"
            continue
        if statement is not None:
            yield " ".join(_VALUES.sub("?", statement).split())
        found = _LOGGED.match(line)
        statement = f"{found[2]} " if found and found[1] == database else None
