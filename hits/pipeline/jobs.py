"""Jobs: long work is a row that says what was asked, how far it is and what came of it."""

import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import structlog
from celery import current_app
from django.db import transaction
from django.db.models import F, Q, Value
from django.db.models.functions import Concat, Now
from django.utils import timezone

from hits.models import Corpus, Job, Study, User
from hits.pipeline.errors import PipelineError

LEASE = timedelta(seconds=60)
RING_AGAIN_AFTER = timedelta(seconds=30)
MOST_ATTEMPTS = 5

log = structlog.get_logger()


class Cancelled(Exception):
    """Somebody asked for the job to stop."""


class Lost(Exception):
    """Another worker has taken the job over."""


class Progress:
    """What a job calls to say how far it is; keeps its lease and hears of a cancel."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self._last = timezone.now()

    def __call__(self, done: int, total: int | None = None, message: str = "") -> None:
        now = timezone.now()
        if now - self._last < timedelta(seconds=1) and done != total:
            return
        self._last = now
        values: dict[str, Any] = {"done": done, "lease_until": now + LEASE}
        values |= {"total": total} if total is not None else {}
        values |= {"message": message[:500]} if message else {}
        if not self._mine().filter(cancel_asked=False).update(**values):
            if self._mine().exists():
                raise Cancelled
            raise Lost

    def say(self, line: str) -> None:
        self._mine().update(
            log=Concat("log", Value(line + "\n")), lease_until=timezone.now() + LEASE
        )

    def _mine(self) -> Any:
        return Job.objects.filter(pk=self.job.pk, state="running", attempts=self.job.attempts)


Work = Callable[[dict[str, Any], Progress], dict[str, Any]]


def ask(
    *,
    kind: str,
    arguments: dict[str, Any],
    by: User | None,
    corpus: Corpus | None = None,
    study: Study | None = None,
    queue: str = "cpu",
) -> Job:
    job = Job.objects.create(
        kind=kind, arguments=arguments, asked_by=by, corpus=corpus, study=study, queue=queue
    )
    transaction.on_commit(lambda: ring(job))
    return job


def ring(job: Job) -> None:
    """Tell a worker. A bell that is lost is rung again by the sweeper."""
    try:
        current_app.send_task("workers.tasks.run_job", args=[job.pk], queue=job.queue, retry=False)
    except OSError as failure:
        log.warning("bell not rung", job=job.pk, failure=str(failure))


def run_here(job: Job) -> Job:
    """Do a job in this process, unless a worker was quicker; come back when it is finished."""
    current_app.loader.import_default_modules()
    current_app.tasks["workers.tasks.run_job"](job.pk)
    job.refresh_from_db()
    while not job.is_finished:
        time.sleep(0.2)
        job.refresh_from_db()
    return job


def cancel(job: Job) -> None:
    Job.objects.filter(pk=job.pk, state="queued").update(
        state="cancelled", cancel_asked=True, finished_at=Now()
    )
    Job.objects.filter(pk=job.pk, state="running").update(cancel_asked=True)


def ring_again() -> int:
    """Ring for what waits too long, and for what a dead worker left behind."""
    now = timezone.now()
    waiting = Q(state="queued", rung_at__lt=now - RING_AGAIN_AFTER)
    abandoned = Q(state="running", lease_until__lt=now, rung_at__lt=now - RING_AGAIN_AFTER)
    jobs = list(Job.objects.filter(waiting | abandoned).order_by("rung_at")[:100])
    for job in jobs:
        Job.objects.filter(pk=job.pk).update(rung_at=now)
        ring(job)
    return len(jobs)


def run(job_id: int, work: dict[str, Work]) -> None:
    """Take a job that is free, do it, and write down what came of it."""
    job = _take(job_id)
    if job is None:
        return
    try:
        result = work[job.kind](job.arguments, Progress(job))
    except Cancelled:
        _finish(job, "cancelled")
    except Lost:
        log.warning("job taken over by another worker", job=job.pk)
    except PipelineError as refusal:
        _finish(job, "failed", message=refusal.message)
    except Exception as failure:
        _finish(job, "failed", message=f"{type(failure).__name__}: {failure}")
        raise
    else:
        _finish(job, "done", result=result)


def _take(job_id: int) -> Job | None:
    now = timezone.now()
    free = Q(state="queued") | Q(state="running", lease_until__lt=now)
    with transaction.atomic():
        job = Job.objects.select_for_update().filter(free, pk=job_id).first()
        if job is None:
            return None
        if job.attempts >= MOST_ATTEMPTS:
            _finish(job, "failed", message=f"Given up after {job.attempts} attempts.")
            return None
        Job.objects.filter(pk=job.pk).update(
            state="running",
            attempts=F("attempts") + 1,
            started_at=now,
            lease_until=now + LEASE,
        )
        job.refresh_from_db()
        return job


def _finish(
    job: Job, state: str, *, message: str = "", result: dict[str, Any] | None = None
) -> None:
    mine = Job.objects.filter(pk=job.pk, attempts=job.attempts, state__in=["queued", "running"])
    values: dict[str, Any] = {"message": message[:500]} if message else {}
    if state == "done":
        values["total"] = values["done"] = F("done")
    mine.update(state=state, finished_at=timezone.now(), lease_until=None, result=result, **values)
