import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from celery import current_app
from django.conf import settings
from django.db import transaction
from django.db.models import Count
from django.utils import timezone
from redis import Redis

from hits.models import Job
from hits.pipeline import jobs
from hits.pipeline.errors import Refused
from hits.pipeline.jobs import Progress, Work, ask, cancel, ring_again, run
from tests import making
from tests.concurrency.racing import at_once
from workers.work import WORK

# A running job tells its progress on a connection of its own, which sees what is committed.
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _quick_beat(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "BEAT_SECONDS", 0.02)


@pytest.fixture
def bells() -> Callable[[], int]:
    """How many times somebody rang since the test began."""
    queue = Redis.from_url(settings.REDIS_URL)
    before = queue.llen("cpu")
    return lambda: queue.llen("cpu") - before


def queued(**values: Any) -> Job:
    return Job.objects.create(kind="count", **values)


def doing(work: Work) -> dict[str, Work]:
    return {"count": work}


def until_stopped(progress: Progress, seconds: float = 10) -> None:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        progress(1)
        time.sleep(0.01)


def let_lease_run_out(job: Job) -> None:
    past = timezone.now() - timedelta(minutes=2)
    Job.objects.filter(pk=job.pk).update(lease_until=past, rung_at=past)


def test_a_job_says_how_far_it_is_and_what_came_of_it() -> None:
    job = queued()

    def count(arguments: dict[str, Any], progress: Progress) -> dict[str, Any]:
        progress(3, total=3, message="Counting")
        return {"counted": 3}

    run(job.pk, doing(count))
    job.refresh_from_db()
    assert (job.state, job.done, job.message) == ("done", 3, "Counting")
    assert job.result == {"counted": 3}
    assert job.finished_at is not None


def test_every_new_message_of_a_job_is_a_line_of_its_log() -> None:
    job = queued()

    def count(arguments: dict[str, Any], progress: Progress) -> dict[str, Any]:
        progress(1, message="Learning")
        progress(2, message="Learning")
        progress(3, message="Ranking")
        return {}

    run(job.pk, doing(count))
    job.refresh_from_db()
    assert [line.split(maxsplit=1)[1] for line in job.log.splitlines()] == ["Learning", "Ranking"]


def test_a_refusal_is_the_message_of_a_failed_job() -> None:
    job = queued()

    def refuse(arguments: dict[str, Any], progress: Progress) -> dict[str, Any]:
        raise Refused("There is nothing to count.")

    run(job.pk, doing(refuse))
    job.refresh_from_db()
    assert (job.state, job.message) == ("failed", "There is nothing to count.")


def test_a_job_is_asked_for_when_the_transaction_is_through(bells: Callable[[], int]) -> None:
    with transaction.atomic():
        job = ask(kind="count", arguments={}, by=None)
        assert bells() == 0
    assert bells() == 1
    assert Job.objects.get() == job


def test_a_job_asked_for_in_a_transaction_that_fails_never_runs(bells: Callable[[], int]) -> None:
    def ask_and_fail() -> None:
        with transaction.atomic():
            ask(kind="count", arguments={}, by=None)
            raise Refused("No")

    with pytest.raises(Refused):
        ask_and_fail()
    assert bells() == 0
    assert not Job.objects.exists()


def test_whoever_asks_while_the_bell_is_out_of_order_tries_it_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as broken:
        address = f"redis://127.0.0.1:{broken.getsockname()[1]}/0"
        monkeypatch.setattr(current_app.conf, "broker_write_url", address)
        tried: list[int] = []
        answering = threading.Thread(target=hang_up, args=(broken, tried), daemon=True)
        answering.start()
        job = ask(kind="count", arguments={}, by=None)
        broken.shutdown(socket.SHUT_RDWR)
        answering.join()
    assert len(tried) == 1
    assert Job.objects.get() == job


def hang_up(broken: socket.socket, tried: list[int]) -> None:
    with suppress(OSError):
        while True:
            broken.accept()[0].close()
            tried.append(1)


def test_of_many_workers_that_hear_the_bell_one_does_the_job() -> None:
    job = queued()
    runs: list[int] = []

    def count(arguments: dict[str, Any], progress: Progress) -> dict[str, Any]:
        runs.append(threading.get_ident())
        time.sleep(0.1)
        return {}

    at_once([partial(run, job.pk, doing(count))] * 6)
    assert len(runs) == 1


def test_a_finished_job_is_not_run_again() -> None:
    job = queued()
    run(job.pk, doing(lambda arguments, progress: {"time": "first"}))
    run(job.pk, doing(lambda arguments, progress: {"time": "second"}))
    job.refresh_from_db()
    assert job.result == {"time": "first"}


def test_a_job_whose_worker_is_silent_is_taken_over_and_the_silent_one_stops() -> None:
    job = queued()
    stopped: list[str] = []

    def silent(arguments: dict[str, Any], progress: Progress) -> dict[str, Any]:
        let_lease_run_out(job)
        run(job.pk, doing(lambda arguments, progress: {"by": "another"}))
        try:
            until_stopped(progress)
        except jobs.Lost:
            stopped.append("silent")
            raise
        return {"by": "the silent one"}

    run(job.pk, doing(silent))
    job.refresh_from_db()
    assert (job.state, job.result, job.attempts) == ("done", {"by": "another"}, 2)
    assert stopped == ["silent"]


def test_a_job_at_work_is_left_to_its_worker() -> None:
    now = timezone.now()
    job = queued(state="running", lease_until=now + timedelta(seconds=30), attempts=1)
    run(job.pk, doing(lambda arguments, progress: {"by": "another"}))
    job.refresh_from_db()
    assert (job.state, job.result) == ("running", None)


def test_a_job_that_kills_its_workers_is_given_up() -> None:
    job = queued(state="running", lease_until=timezone.now(), attempts=jobs.MOST_ATTEMPTS)
    let_lease_run_out(job)
    run(job.pk, doing(lambda arguments, progress: {}))
    job.refresh_from_db()
    assert (job.state, job.message) == ("failed", "Given up after 5 attempts.")


def test_the_sweeper_rings_for_what_waits_too_long_and_what_was_left_behind(
    bells: Callable[[], int],
) -> None:
    past = timezone.now() - timedelta(minutes=2)
    soon = timezone.now() + timedelta(seconds=30)
    queued(rung_at=past)
    queued(state="running", rung_at=past, lease_until=past)
    queued()
    queued(state="running", rung_at=past, lease_until=soon)
    queued(state="done", rung_at=past)
    assert ring_again() == 2
    assert bells() == 2
    assert ring_again() == 0


def test_a_queued_job_that_is_cancelled_never_runs() -> None:
    job = queued()
    cancel(job)
    run(job.pk, doing(lambda arguments, progress: {"counted": 3}))
    job.refresh_from_db()
    assert (job.state, job.result) == ("cancelled", None)


def test_a_running_job_that_is_cancelled_stops() -> None:
    job = queued()

    def count(arguments: dict[str, Any], progress: Progress) -> dict[str, Any]:
        cancel(job)
        until_stopped(progress)
        return {"counted": 3}

    run(job.pk, doing(count))
    job.refresh_from_db()
    assert (job.state, job.result) == ("cancelled", None)


def test_an_opening_taken_over_after_its_commit_ends_done_with_what_it_made() -> None:
    study = making.study()
    gone = timezone.now() - timedelta(minutes=2)
    job = Job.objects.create(
        kind="open",
        arguments={"study": study.pk},
        study=study,
        state="running",
        attempts=1,
        lease_until=gone,
    )
    run(job.pk, WORK)
    job.refresh_from_db()
    made = dict(study.units.order_by("pool").values_list("pool").annotate(Count("pk")))
    assert (job.state, job.result) == ("done", {"units": made, "left_out": {}})


def test_a_second_opening_is_refused() -> None:
    study = making.study()
    job = Job.objects.create(kind="open", arguments={"study": study.pk}, study=study)
    run(job.pk, WORK)
    job.refresh_from_db()
    assert (job.state, job.message) == ("failed", "This study has been opened already.")


@pytest.mark.parametrize(
    ("kind", "arguments", "title"),
    [
        (
            "propose",
            {"machine": "palette", "directions": ["i2t", "t2i"], "split": "test"},
            "Propose palette, image to caption, caption to image, test",
        ),
        ("release", {"name": "coco-v1", "studies": [1]}, "Release coco-v1"),
        ("import", {"source": "/srv/uploads/0a1b.zip", "split": "val"}, "Import a zip file, val"),
        ("import", {"source": "s3://bucket/prefix", "split": ""}, "Import a bucket"),
    ],
)
def test_a_job_says_what_it_is_about_and_tells_no_path(
    kind: str, arguments: dict[str, Any], title: str
) -> None:
    assert Job(kind=kind, arguments=arguments).title == title
