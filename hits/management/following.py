"""Jobs from the terminal: asked, done here, with a progress bar, or plain lines without one."""

import sys
import threading
import time
from typing import Any, Protocol

from django.core.management.base import CommandError
from django.db import connection
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from hits.models import Job
from hits.pipeline import jobs

LOOK_EVERY_SECONDS = 0.5
LINE_EVERY_SECONDS = 10.0


class Output(Protocol):
    def write(self, text: str, /) -> Any: ...

    def flush(self) -> None: ...


class PlainLines:
    """Progress where no terminal is: a line when there is something new to do, and now and then."""

    def __init__(self, output: Output) -> None:
        self._output = output
        self._message = ""
        self._due = 0.0

    def __call__(self, done: int, total: int | None = None, message: str = "") -> None:
        now = time.monotonic()
        if message == self._message and now < self._due:
            return
        self._message, self._due = message, now + LINE_EVERY_SECONDS
        of = f" of {total:,}" if total else ""
        self._output.write(f"{message} {done:,}{of}\n".lstrip())
        self._output.flush()


def do(**asked: Any) -> dict[str, Any]:
    """Ask for a job, do it, and give back its result; a failure is the command's failure."""
    return follow(jobs.ask(by=None, **asked))


def follow(job: Job) -> dict[str, Any]:
    """The same with a job that was asked for."""
    finished = threading.Event()
    follower = threading.Thread(target=_follow, args=(job.pk, finished), daemon=True)
    follower.start()
    try:
        job = jobs.run_here(job)
    finally:
        finished.set()
        follower.join()
    if job.state != Job.State.DONE:
        raise CommandError(f"{job.title} {job.get_state_display()}. {job.message}".strip())
    return job.result or {}


def _follow(job_id: int, finished: threading.Event) -> None:
    job = Job.objects.select_related("study").get(pk=job_id)
    try:
        if sys.stderr.isatty():
            _show_bar(job, finished)
        else:
            _print_lines(job, finished)
    finally:
        connection.close()


def _show_bar(job: Job, finished: threading.Event) -> None:
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(job.title, total=None)
        while not finished.wait(LOOK_EVERY_SECONDS):
            description = _what_it_does(job)
            bar.update(task, description=description, completed=job.done, total=job.total)


def _print_lines(job: Job, finished: threading.Event) -> None:
    tell = PlainLines(sys.stderr)
    tell(job.done, job.total, job.title)
    while not finished.wait(LOOK_EVERY_SECONDS):
        message = _what_it_does(job)
        tell(job.done, job.total, message)


def _what_it_does(job: Job) -> str:
    job.refresh_from_db(fields=["done", "total", "message"])
    return f"{job.title}: {job.message}" if job.message else job.title
