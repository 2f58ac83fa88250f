from datetime import timedelta
from decimal import Decimal

import pytest
from django.utils import timezone

from hits.models import Account, Assignment, Study
from hits.pipeline.check import check_submitted
from hits.pipeline.draw import draw
from hits.pipeline.submit import submit
from hits.pipeline.terms import Terms, terms_of
from hits.pipeline.versions import change_version
from tests import making

pytestmark = pytest.mark.django_db


@pytest.fixture
def study() -> Study:
    return making.study(
        making.corpus(images=20), settings={"candidates_a_page": 2}, pay="0.65", expected_minutes=6
    )


@pytest.fixture
def account(study: Study) -> Account:
    return making.rater(study)


def work_for(study: Study, account: Account, seconds: int) -> None:
    """A page that its four questions took so long for together."""
    page = draw(study=study, account=account)
    hour_ago = timezone.now() - timedelta(hours=1)
    Assignment.objects.filter(pk=page.pk).update(drawn_at=hour_ago)
    times = {f"q{position}-ms": [str(seconds * 250)] for position in range(1, 5)}
    submit(assignment_key=page.key, account=account, fields=making.truthful(page) | times)


def terms(study: Study) -> Terms:
    study.refresh_from_db()
    assert study.version is not None
    return terms_of(study, study.version)


def test_pay_time_and_wage_stand_together() -> None:
    assert str(Terms(Decimal("0.65"), 240, True)) == "$0.65, about 4 minutes, $9.75 an hour"


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (20, "about ½ minute"),
        (60, "about 1 minute"),
        (61, "about 1½ minutes"),
        (599, "about 10 minutes"),
        (601, "about 11 minutes"),
        (None, "time not known yet"),
    ],
)
def test_time_is_rounded_up_so_that_the_wage_is_never_overstated(
    seconds: float | None, words: str
) -> None:
    assert Terms(Decimal(0), seconds, True).time == words


def test_before_pages_are_measured_the_estimate_is_shown_as_one(study: Study) -> None:
    assert str(terms(study)) == "$0.65, about 6 minutes (estimated), $6.50 an hour"
    assert study.version is not None
    study.version.expected_minutes = 0
    assert str(terms_of(study, study.version)) == "$0.65, time not known yet"


def test_the_time_is_the_median_of_pages_once_there_are_enough(
    study: Study, account: Account
) -> None:
    for seconds in (100, 200, 240, 900):
        work_for(study, account, seconds)
    check_submitted()
    assert not terms(study).is_measured
    work_for(study, account, 3000)
    check_submitted()
    assert str(terms(study)) == "$0.65, about 4 minutes, $9.75 an hour"


def test_a_version_that_asks_something_else_is_measured_anew(
    study: Study, account: Account
) -> None:
    for _ in range(5):
        work_for(study, account, 240)
    check_submitted()
    change_version(study=study, by=study.corpus.owner, pay="1.30")
    assert str(terms(study)) == "$1.30, about 4 minutes, $19.50 an hour"
    change_version(study=study, by=study.corpus.owner, settings={"candidates_a_page": 3})
    assert not terms(study).is_measured
