"""Many pages approved by a worker that is killed half way: each is decided on once."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import timedelta
from pathlib import Path

import psycopg2
import pytest
from django.db.models import Count
from django.utils import timezone

from hits.models import Assignment, Decision, Study
from hits.pipeline import bulk
from tests import making
from tests.faults.programs import environment, workers
from tests.faults.test_jobs_survive import eventually, let_lease_run_out, state_of

pytestmark = pytest.mark.django_db(transaction=True)


def waiting(study: Study, number: int) -> list[int]:
    """Pages without questions, which are as long to decide on as others are not."""
    assert study.version is not None
    account, now = making.worker(), timezone.now()
    made = Assignment.objects.bulk_create(
        Assignment(
            study=study,
            version=study.version,
            account=account,
            person=account.person,
            state="submitted",
            submitted_at=now,
            checked_at=now,
            seed=0,
            lease_until=now + timedelta(hours=1),
        )
        for _ in range(number)
    )
    return [page.pk for page in made]


@contextmanager
def page_locked(pk: int) -> Iterator[None]:
    with closing(psycopg2.connect(environment()["DATABASE_URL"])) as other:
        with other.cursor() as cursor:
            cursor.execute("SELECT 1 FROM hits_assignment WHERE id = %s FOR UPDATE", [pk])
        yield
        other.rollback()


@pytest.mark.parametrize("number", [300, pytest.param(10_000, marks=pytest.mark.deep)])
def test_a_bulk_approval_killed_half_way_is_resumed_and_each_page_decided_once(
    tmp_path: Path, number: int
) -> None:
    study = making.study(making.corpus(images=12))
    pages = waiting(study, number)
    half = number // 2
    by = study.corpus.owner
    with workers(tmp_path) as celery:
        with page_locked(pages[half]):
            job = bulk.ask(study=study, by=by, pages=pages, use="used", reason="Looked at.")
            eventually(lambda: Decision.objects.count() == 2 * half, seconds=600)
            celery.kill()
        assert state_of(job) == "running"
        let_lease_run_out(job)
        celery.start_again()
        eventually(lambda: state_of(job) == "done", seconds=600)
    assert job.attempts == 2
    assert job.result == {"decided": number - half, "left": {"Decided on already.": half}}
    counted = Decision.objects.values("assignment", "kind").annotate(n=Count("pk"))
    assert set(counted.values_list("n", flat=True)) == {1}
    assert counted.count() == 2 * number
    assert set(study.assignments.values_list("use", "payment")) == {("used", "approved")}
