import shutil
import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from signal import SIGINT, SIGQUIT

import psycopg2

from annotation_app.embedded.binaries import postgres_major, postgres_programs
from annotation_app.embedded.errors import ServersError
from annotation_app.embedded.ownership import (
    local_secret,
    make_own_folder,
    write_private,
)
from annotation_app.embedded.starting import SERVER_ENVIRONMENT, started_on_free_port
from annotation_app.processes import Child, Program, User, as_user, command_of

ROLE = DATABASE = "annotation"
SETTINGS = {
    "listen_addresses": "127.0.0.1",
    # None: a socket's path may have no more than 107 bytes, and nobody needs one here.
    "unix_socket_directories": "",
    "max_connections": "100",
    "shared_buffers": "256MB",
    "max_wal_size": "2GB",
    "random_page_cost": "1.1",
    "jit": "off",
    "log_timezone": "UTC",
    "timezone": "UTC",
}
WITHOUT_DURABILITY = {
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
}


@dataclass(frozen=True)
class Postgres:
    folder: Path
    data: Path
    user: User | None
    durable: bool

    @contextmanager
    def running(self) -> Iterator[tuple[Child, str]]:
        programs = postgres_programs(self.user)
        password_file = self.folder / "postgres.password"
        password = local_secret(password_file)
        if self.data.exists():
            self._refuse_another_major(programs)
        else:
            self._initialise(programs, password)
        self._forget_stale_pid_file()

        def program(port: int) -> Program:
            return Program(
                name="postgres",
                command=[programs / "postgres", "-D", self.data, *self._settings(port)],
                environment=SERVER_ENVIRONMENT,
                stop_signals=[(SIGINT, 30.0), (SIGQUIT, 10.0)],
                user=self.user,
                cwd=self.data,
            )

        with started_on_free_port(program, self.folder, self._is_ready) as (
            child,
            port,
        ):
            address = f"postgresql://{ROLE}:{password}@127.0.0.1:{port}"
            try:
                _make_database(f"{address}/postgres")
            except psycopg2.OperationalError as error:
                raise ServersError(
                    f"PostgreSQL in {self.data} cannot be used with {password_file}: {error}"
                ) from error
            yield child, f"{address}/{DATABASE}"

    def _refuse_another_major(self, programs: Path) -> None:
        theirs = (self.data / "PG_VERSION").read_text().strip()
        ours = postgres_major(programs)
        if theirs != ours:
            raise ServersError(
                f"{self.data} holds data of PostgreSQL {theirs}, and this is PostgreSQL {ours}. "
                f"Dump it with PostgreSQL {theirs} and restore the dump here, or move the folder "
                "away to start anew."
            )

    def _initialise(self, programs: Path, password: str) -> None:
        # Under another name until complete, so that a kill leaves no half-made data folder.
        unfinished = self.data.with_name("postgres.unfinished")
        shutil.rmtree(unfinished, ignore_errors=True)
        make_own_folder(unfinished, self.user)
        initial_password = self.data.with_name("postgres.initial-password")
        write_private(initial_password, password, self.user)
        options = [
            f"--pgdata={unfinished}",
            f"--username={ROLE}",
            f"--pwfile={initial_password}",
            "--auth=scram-sha-256",
            "--encoding=UTF8",
            *_locale_options(int(postgres_major(programs))),
            *([] if self.durable else ["--no-sync"]),
        ]
        answer = subprocess.run(
            [programs / "initdb", *options],
            env=SERVER_ENVIRONMENT,
            cwd=unfinished,
            capture_output=True,
            text=True,
            check=False,
            **as_user(self.user),
        )
        initial_password.unlink()
        if answer.returncode != 0:
            raise ServersError(f"initdb failed:\n{answer.stdout}{answer.stderr}")
        unfinished.rename(self.data)

    def _settings(self, port: int) -> list[str]:
        settings = SETTINGS | {"port": str(port)} | ({} if self.durable else WITHOUT_DURABILITY)
        return [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]

    def _forget_stale_pid_file(self) -> None:
        # PostgreSQL would take any process that has the old pid by now for its predecessor.
        pid_file = self.data / "postmaster.pid"
        if pid_file.exists() and "postgres" not in command_of(int(pid_file.read_text().split()[0])):
            pid_file.unlink()

    def _is_ready(self, child: Child, _port: int) -> bool:
        try:
            lines = (self.data / "postmaster.pid").read_text().splitlines()
        except FileNotFoundError:
            return False
        return len(lines) > 7 and lines[0] == str(child.process.pid) and lines[7].strip() == "ready"


def _locale_options(major: int) -> list[str]:
    # Sorted alike on every machine; the system's libraries are asked only where they must be.
    if major >= 17:
        return ["--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C"]
    return ["--locale=C.UTF-8"]


def _make_database(maintenance_url: str) -> None:
    with closing(psycopg2.connect(maintenance_url)) as connection:
        connection.autocommit = True
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1 FROM pg_database WHERE datname = %s", [DATABASE])
            if cursor.fetchone() is None:
                cursor.execute(f"CREATE DATABASE {DATABASE}")
