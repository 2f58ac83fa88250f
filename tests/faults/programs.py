"""The application's own processes, started on the test database, to be killed."""

import os
import signal
import socket
import sys
import time
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from random import Random
from urllib.parse import urlsplit, urlunsplit

import psutil
from django.conf import settings
from django.db import connection

from annotation_app.processes import Child, Program, command_of, running
from tests.concurrency.reconciling import rows

STOP = [(signal.SIGTERM, 10.0)]


def environment(**changes: str) -> Mapping[str, str]:
    """Ours, with the test database; a commit that was answered survives the server's crash."""
    address = urlsplit(os.environ["DATABASE_URL"])
    return os.environ | {
        "DATABASE_URL": urlunsplit(address._replace(path=f"/{connection.settings_dict['NAME']}")),
        "DATA_DIR": str(settings.DATA_DIR),
        "DJANGO_SETTINGS_MODULE": "tests.faults.settings",
        "PGOPTIONS": "-c synchronous_commit=on",
        "LOG_LEVEL": "WARNING",
        **changes,
    }


class Web:
    """gunicorn, whose workers are killed without warning."""

    def __init__(self, child: Child, address: str) -> None:
        self.child = child
        self.address = address
        self.kills = 0

    def kill_a_worker(self, random: Random) -> None:
        workers = psutil.Process(self.child.process.pid).children()
        if workers:
            with suppress(psutil.NoSuchProcess):
                random.choice(workers).kill()
                self.kills += 1


@contextmanager
def web(folder: Path, workers: int = 3) -> Iterator[Web]:
    port = free_port()
    with _serving(folder, port, workers) as child:
        yield Web(child, f"http://127.0.0.1:{port}")


@contextmanager
def marketplace(folder: Path) -> Iterator[str]:
    """Our own marketplace, with its fault switch; the address of its API."""
    port = free_port()
    host = f"127.0.0.1:{port}"
    changes = {"MARKETPLACE_HOST": host, "MARKETPLACE_FAULTS": "on"}
    with _serving(folder, port, 1, **changes):
        yield f"http://{host}"


@contextmanager
def _serving(folder: Path, port: int, workers: int, **changes: str) -> Iterator[Child]:
    program = Program(
        name="web",
        command=[
            *(sys.executable, "-m", "gunicorn", "tests.faults.site:application"),
            *("--no-control-socket", "--preload", "--bind", f"127.0.0.1:{port}"),
            *("--worker-class", "gthread", "--workers", str(workers), "--threads", "4"),
        ],
        environment=environment(**changes),
        stop_signals=STOP,
        death_signal=signal.SIGKILL,
        cwd=settings.BASE_DIR,
    )
    with running(program, folder) as child:
        wait_for_answer(f"http://localhost:{port}/health/", child)
        yield child


class Workers:
    """A Celery worker with its scheduler; killed as a whole and started anew."""

    def __init__(self, folder: Path, queues: str, changes: Mapping[str, str]) -> None:
        self.folder = folder
        self.program = Program(
            name="workers",
            command=[
                *(sys.executable, "-m", "celery", "-A", "annotation_app", "worker"),
                *("--beat", "--schedule", str(folder / "schedule"), "--concurrency", "1"),
                *("--queues", queues, "--without-gossip", "--without-mingle"),
            ],
            environment=environment(**{"SWEEP_SECONDS": "1", **changes}),
            stop_signals=STOP,
            death_signal=signal.SIGKILL,
            cwd=settings.BASE_DIR,
        )
        self.child = Child(self.program, folder)

    def kill(self) -> None:
        os.killpg(self.child.process.pid, signal.SIGKILL)
        self.child.process.wait()

    def start_again(self) -> None:
        self.kill()
        self.child = Child(self.program, self.folder)


@contextmanager
def workers(folder: Path, queues: str = "cpu", **changes: str) -> Iterator[Workers]:
    started = Workers(folder, queues, changes)
    try:
        yield started
    finally:
        started.kill()


def kill_a_database_backend(random: Random) -> bool:
    """PostgreSQL then throws out everybody and recovers. False where its processes are not ours."""
    backends = rows(
        "SELECT pid FROM pg_stat_activity WHERE datname = current_database()"
        " AND pid <> pg_backend_pid()"
    )
    here = [pid for (pid,) in backends if "postgres" in command_of(pid)]
    if not here:
        return False
    with connection.cursor() as cursor:
        cursor.execute("CHECKPOINT")  # what the suite has written so far need not be recovered
    with suppress(ProcessLookupError):
        os.kill(random.choice(here), signal.SIGKILL)
    connection.close()
    return True


def free_port() -> int:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        port: int = listening.getsockname()[1]
        return port


def wait_for_answer(url: str, child: Child, seconds: float = 120) -> None:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and not child.has_ended():
        with suppress(OSError), urllib.request.urlopen(url, timeout=2):
            return
        time.sleep(0.1)
    raise AssertionError(child.log_tail())
