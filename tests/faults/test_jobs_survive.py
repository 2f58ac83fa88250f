"""Jobs under a real Celery worker that is killed, a bell that is lost, and a cancel."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import timedelta
from pathlib import Path

import psycopg2
import pytest
from django.conf import settings
from django.db import connection
from django.utils import timezone

from hits.models import Job, Release, Study
from hits.pipeline.jobs import ask, cancel
from hits.pipeline.open import create_study
from hits.pipeline.shelf import path_of
from tests import making
from tests.concurrency.reconciling import rows
from tests.faults.programs import environment, workers

pytestmark = pytest.mark.django_db(transaction=True)

SETTINGS = {"candidates_a_page": 4, "justification": False}


def study_with_answers() -> Study:
    study = making.study(making.corpus(images=12), settings=SETTINGS)
    making.work(study, making.rater(study))
    return study


def ask_for_release(study: Study) -> Job:
    owner = study.corpus.owner
    arguments = {"studies": [study.pk], "name": "survivor", "by": owner.pk}
    return ask(kind="release", arguments=arguments, by=owner, study=study)


@contextmanager
def table_locked(table: str) -> Iterator[None]:
    """Whoever wants to write there waits, at a point that the test has chosen."""
    with closing(psycopg2.connect(environment()["DATABASE_URL"])) as other:
        with other.cursor() as cursor:
            cursor.execute(f"LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE")
        yield
        other.rollback()


def somebody_waits_for(table: str) -> bool:
    waiting = "SELECT 1 FROM pg_locks WHERE relation = %(table)s::regclass AND NOT granted"
    return bool(rows(waiting, {"table": table}))


def eventually(true: Callable[[], bool], seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, list(Job.objects.values())
        time.sleep(0.1)


def state_of(job: Job) -> str:
    job.refresh_from_db()
    return job.state


def let_lease_run_out(job: Job) -> None:
    past = timezone.now() - timedelta(minutes=2)
    Job.objects.filter(pk=job.pk).update(lease_until=past, rung_at=past)


def test_a_release_whose_worker_is_killed_at_its_end_is_taken_over_and_made_once(
    tmp_path: Path,
) -> None:
    study = study_with_answers()
    with workers(tmp_path) as celery:
        with table_locked("hits_releasefile"):
            job = ask_for_release(study)
            eventually(lambda: somebody_waits_for("hits_releasefile"))
            assert state_of(job) == "running"
            celery.kill()
        assert state_of(job) == "running"
        let_lease_run_out(job)
        celery.start_again()
        eventually(lambda: state_of(job) == "done")
    assert job.attempts == 2
    made = Release.objects.get()
    assert job.result == {"release": made.pk}
    assert {path_of(file).stat().st_size for file in made.files.all()} == set(
        made.files.values_list("size", flat=True)
    )


def test_a_job_whose_bell_was_lost_is_done_all_the_same(tmp_path: Path) -> None:
    corpus = making.corpus(images=12)
    study = create_study(
        slug="silent", name="Silent", corpus=corpus, protocol_slug="matching", by=corpus.owner
    )
    study.proposals.set(making.proposals(corpus))
    asked = timezone.now() - timedelta(minutes=1)
    job = Job.objects.create(kind="open", arguments={"study": study.pk}, rung_at=asked)
    with workers(tmp_path):
        eventually(lambda: state_of(job) == "done")
    study.refresh_from_db()
    assert study.state == "open"
    assert job.attempts == 1


def test_a_running_job_that_is_cancelled_stops_and_leaves_nothing(tmp_path: Path) -> None:
    study = study_with_answers()
    with workers(tmp_path):
        with table_locked("hits_release"):
            job = ask_for_release(study)
            eventually(lambda: somebody_waits_for("hits_release"))
            cancel(job)
            time.sleep(1.5)
        eventually(lambda: state_of(job) == "cancelled")
    assert not Release.objects.exists()


def test_a_job_can_be_asked_for_while_the_bell_is_out_of_order() -> None:
    asking = (
        "import django; django.setup()\n"
        "from hits.pipeline.jobs import ask\n"
        "ask(kind='open', arguments={'study': 0}, by=None)\n"
    )
    dead = environment(REDIS_URL="redis://127.0.0.1:1/0")
    answer = subprocess.run(
        [sys.executable, "-c", asking],
        env=dict(dead) | {"PYTHONPATH": os.fspath(settings.BASE_DIR)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert answer.returncode == 0, answer.stderr
    assert "bell not rung" in answer.stderr
    assert Job.objects.get().state == "queued"
    connection.close()
