"""What the sweep asks for by itself, so that nothing waits for somebody to think of it."""

from datetime import timedelta

import pytest
from django.utils import timezone

from hits.marketplace.models import HIT
from hits.marketplace.models import Assignment as TheirAssignment
from hits.models import Claim, Job, Publication
from tests import selling
from workers.tasks import forget_routine_jobs, sweep

pytestmark = pytest.mark.usefixtures("requester")


@pytest.fixture
def publication() -> Publication:
    return selling.sell(selling.study(), pages=2)


def kinds() -> list[str]:
    return list(Job.objects.filter(state="queued").order_by("kind").values_list("kind", flat=True))


def test_a_page_is_confirmed_checked_and_paid_by_sweeps_alone(publication: Publication) -> None:
    selling.do_page(selling.live_hit(publication))
    for _ in range(3):
        sweep()
        selling.run_jobs()
    assert TheirAssignment.objects.get().status == TheirAssignment.Status.APPROVED
    assert Claim.objects.get().theirs == "approved"


def test_nothing_is_asked_for_twice(publication: Publication) -> None:
    selling.do_page(selling.live_hit(publication))
    for _ in range(3):
        sweep()
    assert kinds() == ["reconcile"]


def test_where_nothing_is_published_nothing_is_asked_for() -> None:
    sweep()
    assert kinds() == []


def test_a_launch_that_broke_off_is_taken_up_again() -> None:
    publication = selling.sell(selling.study(), pages=2)
    publication.hits.create()
    long_ago = timezone.now() - timedelta(minutes=5)
    Job.objects.update(state="failed", finished_at=long_ago)
    sweep()
    assert "publish" in kinds()
    selling.run_jobs()
    assert HIT.objects.count() == 3


def test_routine_jobs_are_forgotten_after_a_while(publication: Publication) -> None:
    sweep()
    selling.run_jobs()
    forget_routine_jobs()
    assert Job.objects.filter(kind="reconcile").count() == 1
    Job.objects.update(finished_at=timezone.now() - timedelta(days=3))
    forget_routine_jobs()
    assert list(Job.objects.values_list("kind", flat=True)) == ["publish"]
