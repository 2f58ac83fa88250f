"""Jobs: long work is a row that says what was asked, how far it is and what came of it."""

import threading
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any, Self

import structlog
from celery import current_app
from django.db import DatabaseError, connection, transaction
from django.db.models import F, Q, Value
from django.db.models.functions import Concat, Now
from django.utils import timezone
from kombu.exceptions import OperationalError

from hits.models import Corpus, Job, Study, User
from hits.pipeline.errors import PipelineError

LEASE = timedelta(seconds=60)
BEAT_SECONDS = 1.0
RING_AGAIN_AFTER = timedelta(seconds=30)
MOST_ATTEMPTS = 5
# Whoever asks does not wait for a bell that is not there: one try, and a short one.
BELL = {"max_retries": 0, "socket_connect_timeout": 0.5, "socket_timeout": 1}

log = structlog.get_logger()


class Cancelled(Exception):
    """Somebody asked for the job to stop."""


class Lost(Exception):
    """Another worker has taken the job over."""


class Progress:
    """What a job calls to say how far it is; each new message is a line of the job's log.

    A thread with a connection of its own writes it down every second, keeps the lease and hears
    of a cancel: work inside one long transaction, or inside a COPY, is seen as it goes.
    """

    def __init__(self, job: Job) -> None:
        self.job = job
        self._told: dict[str, Any] = {}
        self._began = (0, time.monotonic())
        self._lines: list[str] = []
        self._stop: type[Cancelled] | type[Lost] | None = None
        self._finished = threading.Event()
        self._thread = threading.Thread(target=self._keep_writing, daemon=True)

    def __call__(self, done: int, total: int | None = None, message: str = "") -> None:
        self.heed()
        told: dict[str, Any] = {"done": done}
        told |= {"total": total} if total is not None else {}
        told |= {"message": message[:500]} if message else {}
        if message and told["message"] != self._told.get("message"):
            self._lines.append(f"{timezone.now():%H:%M:%S} {told['message']}")
            self._began = (done, time.monotonic())
        self._told |= told | {"rate": self._rate(done)}

    def _rate(self, done: int) -> float | None:
        """Since the message changed; what was done before that is not this run's."""
        already, since = self._began
        seconds = time.monotonic() - since
        return (done - already) / seconds if done > already and seconds else None

    def heed(self) -> None:
        """Stop here, if somebody asked for it or another worker has the job."""
        if self._stop is not None:
            raise self._stop

    def say(self, message: str) -> None:
        self(self._told.get("done", 0), message=message)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._finished.set()
        self._thread.join()

    def _keep_writing(self) -> None:
        try:
            while not self._finished.wait(BEAT_SECONDS):
                try:
                    self._write()
                except DatabaseError as failure:
                    log.warning("progress not written", job=self.job.pk, failure=str(failure))
                    connection.close()
            self._write()
        finally:
            connection.close()

    def _write(self) -> None:
        lines, self._lines = self._lines, []
        mine = Job.objects.filter(pk=self.job.pk, state="running", attempts=self.job.attempts)
        kept = mine.update(
            lease_until=timezone.now() + LEASE,
            log=Concat("log", Value("".join(f"{line}\n" for line in lines))),
            **self._told,
        )
        if not kept:
            self._stop = Lost
        elif mine.filter(cancel_asked=True).exists():
            self._stop = Cancelled


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


@transaction.atomic
def ask_for_one(
    *, kind: str, arguments: dict[str, Any], by: User | None, study: Study, queue: str = "cpu"
) -> Job:
    """One at a time: whoever asks for the same meanwhile gets the job that is under way."""
    Study.objects.select_for_update(no_key=True).get(pk=study.pk)
    same = study.jobs.unfinished().filter(kind=kind, arguments=arguments, cancel_asked=False)
    return same.first() or ask(kind=kind, arguments=arguments, by=by, study=study, queue=queue)


def ask_once(*, kind: str, arguments: dict[str, Any], queue: str) -> None:
    """Ask for routine work, unless it waits to be done already."""
    if not Job.objects.filter(kind=kind, arguments=arguments, state="queued").exists():
        ask(kind=kind, arguments=arguments, by=None, queue=queue)


def ring(job: Job) -> None:
    """Tell a worker. A bell that is lost is rung again by the sweeper."""
    try:
        with current_app.connection_for_write(transport_options=BELL) as bell:
            current_app.send_task(
                "workers.tasks.run_job",
                args=[job.pk],
                queue=job.queue,
                retry=False,
                connection=bell,
            )
    except OperationalError as failure:
        log.warning("bell not rung", job=job.pk, failure=str(failure))


def run_here(job: Job) -> Job:
    """Do a job in this process, unless a worker was quicker; come back when it is finished."""
    current_app.loader.import_default_modules()
    current_app.tasks["workers.tasks.run_job"](job.pk)
    return awaited(job)


def awaited(job: Job) -> Job:
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
        with Progress(job) as progress:
            result = work[job.kind](job.arguments, progress)
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
    mine = Job.objects.unfinished().filter(pk=job.pk, attempts=job.attempts)
    values: dict[str, Any] = {"message": message[:500]} if message else {}
    if state == "done":
        values["total"] = values["done"] = F("done")
    mine.update(state=state, finished_at=timezone.now(), lease_until=None, result=result, **values)
