"""The whole application on one machine, with a study in it."""

import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from annotation_app.demo_marketplace import marketplace_people, marketplace_port
from annotation_app.embedded import running_servers, write_private
from annotation_app.processes import Child, Program, dies_with_parent, running

BASE_DIR = Path(__file__).resolve().parent.parent
HEALTH_SECONDS = 60.0
CELERY = (sys.executable, "-m", "celery", "-A", "annotation_app")
GUNICORN = (sys.executable, "-m", "gunicorn", "annotation_app.wsgi:application")
QUIET = ("--no-input", "--verbosity=0")
STOP_SIGNALS = [(signal.SIGTERM, 10.0), (signal.SIGQUIT, 5.0)]

Show = Callable[[str], None]


class DemoError(Exception):
    """The demo cannot go on, for a reason that is told to whoever started it."""


def run_demo(*, folder: Path, port: int, images: int, environment: Mapping[str, str]) -> None:
    """Runs until it is stopped by an exception from outside or a child that ends."""
    console = Console()
    with ExitStack() as stack:
        stack.callback(console.print, "Stopped.")
        with _step(console, "PostgreSQL and Valkey"):
            servers = stack.enter_context(running_servers(folder))
        for needed in (port, marketplace_port(port)):
            _refuse_busy_port(needed)
        kept = None if environment.get("DATABASE_URL") else _KeptLogins(folder)
        environment = {**environment, **servers.urls}
        with (
            _step(console, "Tables and static files"),
            _managing(environment, "migrate", *QUIET) as migrate,
            _managing(environment, "collectstatic", *QUIET) as collectstatic,
        ):
            migrate.finish()
            collectstatic.finish()
        # The web server gets ready meanwhile.
        web = stack.enter_context(running(_web("web", port, environment), folder))
        market = stack.enter_context(
            running(_web("marketplace", marketplace_port(port), environment), folder)
        )
        people = stack.enter_context(_managing(environment, *marketplace_people(folder)))
        logins = kept.read() if kept else None
        if logins is None:
            logins = _fill(console, images, environment)
            if kept:
                kept.write(logins)
        worker = stack.enter_context(running(_worker(environment), folder))
        scheduler = stack.enter_context(running(_scheduler(folder, environment), folder))
        children = (*servers.children, worker, scheduler, market, web)
        with _step(console, "Web server, marketplace, worker and scheduler"):
            workers = people.finish()
            _wait_until_healthy(marketplace_port(port), market, children)
            _wait_until_healthy(port, web, children)
        _tell_logins(console, port, logins)
        _tell_logins(console, marketplace_port(port), workers)
        console.print(f"Logs are in {folder / 'log'}. Ctrl-C stops everything.", soft_wrap=True)
        stack.callback(console.print, "Stopping…")
        while True:
            _refuse_dead(children)
            time.sleep(0.5)


def _fill(console: Console, images: int, environment: Mapping[str, str]) -> str:
    with (
        _step(console, "A study with answers in it") as show,
        _managing(environment, "demo", f"--images={images}") as fill,
    ):
        return fill.finish(show)


def _tell_logins(console: Console, port: int, logins: str) -> None:
    console.print(f"\n[bold]http://127.0.0.1:{port}[/]\n")
    console.print(logins, markup=False, highlight=False, soft_wrap=True)


class _KeptLogins:
    """What the first start said of its logins, so that the next need not ask the database.

    Only for a database that lies in the same folder, and is not newer than they are."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "demo-logins"
        self.made_with_the_database = folder / "postgres" / "PG_VERSION"

    def read(self) -> str | None:
        try:
            if self.path.stat().st_mtime < self.made_with_the_database.stat().st_mtime:
                return None
            return self.path.read_text()
        except FileNotFoundError:
            return None

    def write(self, logins: str) -> None:
        write_private(self.path, logins)


def _worker(environment: Mapping[str, str]) -> Program:
    options = ("--queues=cpu,marketplace,gpu", "--concurrency=2", "--loglevel=INFO")
    return Program(
        name="worker",
        command=[*CELERY, "worker", *options],
        environment=environment,
        stop_signals=STOP_SIGNALS,
        # Valkey goes too, and to say farewell there Celery would wait for ever. Its jobs are taken
        # up again.
        death_signal=signal.SIGKILL,
        cwd=BASE_DIR,
    )


def _scheduler(folder: Path, environment: Mapping[str, str]) -> Program:
    # Not inside the worker, whose kill -9 it would survive.
    options = (f"--schedule={folder / 'celerybeat-schedule'}", "--loglevel=INFO", "--pidfile=")
    return Program(
        name="scheduler",
        command=[*CELERY, "beat", *options],
        environment=environment,
        stop_signals=STOP_SIGNALS,
        cwd=BASE_DIR,
    )


def _web(name: str, port: int, environment: Mapping[str, str]) -> Program:
    options = ("--worker-class=gthread", "--workers=2", "--threads=4", "--graceful-timeout=5")
    return Program(
        name=name,
        command=[*GUNICORN, f"--bind=127.0.0.1:{port}", "--no-control-socket", *options],
        environment=environment,
        stop_signals=STOP_SIGNALS,
        cwd=BASE_DIR,
    )


@dataclass(frozen=True)
class _Management:
    name: str
    process: subprocess.Popen[str]
    answer: IO[str]

    def finish(self, show: Show = lambda _progress: None) -> str:
        """What the command has to say; what it says of its progress is shown as it comes."""
        said: list[str] = []
        for line in self.process.stderr or ():
            said.append(line)
            is_log_record = line.startswith("{")
            if not is_log_record:
                show(line.strip())
        if self.process.wait() != 0:
            raise DemoError(f"manage.py {self.name} failed:\n{''.join(said[-30:])}")
        self.answer.seek(0)
        return self.answer.read()


@contextmanager
def _managing(environment: Mapping[str, str], *arguments: str) -> Iterator[_Management]:
    with (
        tempfile.TemporaryFile("w+") as answer,
        subprocess.Popen(
            [sys.executable, "manage.py", *arguments],
            env=dict(environment),
            cwd=BASE_DIR,
            stdout=answer,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            preexec_fn=dies_with_parent(signal.SIGTERM),
        ) as process,
    ):
        try:
            yield _Management(arguments[0], process, answer)
        finally:
            if process.poll() is None:
                process.terminate()


@contextmanager
def _step(console: Console, title: str) -> Iterator[Show]:
    started = time.monotonic()
    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    if not console.is_terminal:
        console.print(f"{title} …")
    with Progress(
        *columns, console=console, transient=True, disable=not console.is_terminal
    ) as progress:
        task = progress.add_task(title)
        if console.is_terminal:
            yield lambda detail: progress.update(task, description=f"{title}: {detail}")
        else:
            yield lambda detail: console.print(f"  {detail}", markup=False, highlight=False)
    console.print(f"[green]✓[/] {title} [dim]{time.monotonic() - started:.1f} s[/]")


def _refuse_busy_port(port: int) -> None:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as error:
            raise DemoError(
                f"Port {port} of 127.0.0.1 cannot be used: {error.strerror}. "
                f"Choose another one: PORT={port + 1} make demo"
            ) from error


def _wait_until_healthy(port: int, server: Child, children: tuple[Child, ...]) -> None:
    deadline = time.monotonic() + HEALTH_SECONDS
    while not _is_healthy(port):
        _refuse_dead(children)
        if time.monotonic() > deadline:
            raise DemoError(f"The {server.name} server does not answer:\n{server.log_tail()}")
        time.sleep(0.1)


def _is_healthy(port: int) -> bool:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/health/", timeout=5) as answer:
            return bool(answer.status == 200)
    except (urllib.error.URLError, TimeoutError):
        return False


def _refuse_dead(children: tuple[Child, ...]) -> None:
    for child in children:
        if child.has_ended():
            raise DemoError(
                f"{child.name} has ended, so everything is stopped. "
                f"The end of {child.log}:\n{child.log_tail()}"
            )
