"""Jobs from the terminal: asked, done here, with a progress bar."""

import threading
from typing import Any

from django.core.management.base import CommandError
from django.db import connection
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from hits.models import Job
from hits.pipeline import jobs


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
        raise CommandError(f"{job.get_state_display()}: {job.message}")
    return job.result or {}


def _follow(job_id: int, finished: threading.Event) -> None:
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    try:
        with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
            task = bar.add_task("", total=None)
            while not finished.wait(0.5):
                job = Job.objects.only("kind", "done", "total", "message").get(pk=job_id)
                description = job.message or job.kind
                bar.update(task, description=description, completed=job.done, total=job.total)
    finally:
        connection.close()
