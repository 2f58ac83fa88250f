"""Several people decide at the same moment: each page has one outcome, and nothing counts twice."""

from functools import partial

import pytest

from hits.models import Assignment, Decision, Judgment, Membership, Role, Study, User
from hits.pipeline import bulk
from hits.pipeline.check import check_submitted
from hits.pipeline.draw import draw
from hits.pipeline.errors import Stale
from hits.pipeline.review import decide, take_back
from hits.pipeline.submit import submit
from hits.records import Receipt
from tests import making
from tests.concurrency.racing import at_once
from tests.concurrency.reconciling import assert_places_reconcile

pytestmark = pytest.mark.django_db(transaction=True)

REVIEWERS = 4


@pytest.fixture
def study() -> Study:
    settings = {"candidates_a_page": 4, "justification": False}
    return making.study(making.corpus(images=14), settings=settings)


@pytest.fixture
def reviewers(study: Study) -> list[User]:
    found = [making.user() for _ in range(REVIEWERS)]
    for user in found:
        Membership.objects.create(study=study, user=user, role=Role.REVIEWER)
    return found


def failed(study: Study) -> Assignment:
    account = making.rater(study)
    page = draw(study=study, account=account)
    fields = making.answers(page.slots.count())
    submit(assignment_key=page.key, account=account, fields=fields)
    return page


def test_of_two_reviewers_on_one_page_one_decides_and_the_other_is_told(
    study: Study, reviewers: list[User]
) -> None:
    page = failed(study)
    check_submitted()
    calls = [
        partial(
            decide, assignment=page, by=user, use=use, payment="approved", reason="Seen.", seen=0
        )
        for user, use in zip(reviewers, ["used", "not_used"] * 2, strict=True)
    ]
    answers = at_once(calls)
    assert sum(isinstance(answer, Stale) for answer in answers) == REVIEWERS - 1
    assert Decision.objects.filter(by__isnull=False).count() == 2
    page.refresh_from_db()
    assert {page.use} == set(Decision.objects.filter(kind="use").values_list("value", flat=True))
    assert_places_reconcile()


def test_a_page_is_approved_once_while_its_submission_is_sent_again(
    study: Study, reviewers: list[User]
) -> None:
    page = failed(study)
    check_submitted()
    fields = making.answers(page.slots.count(), "no")
    again = partial(submit, assignment_key=page.key, account=page.account, fields=fields)
    approve = partial(
        decide, assignment=page, by=reviewers[0], use="used", payment="approved", reason="Seen."
    )
    answers = at_once([again, approve, again, again])
    receipts = {str(answer) for answer in answers if isinstance(answer, Receipt)}
    assert len(receipts) == 1
    page.refresh_from_db()
    assert (page.use, page.payment) == ("used", "approved")
    assert Decision.objects.count() == 2
    given = Judgment.objects.filter(slot__assignment=page)
    assert set(given.values_list("answer__choice", flat=True)) == {"yes"}
    assert_places_reconcile()


def test_bulk_decisions_that_run_at_once_decide_on_each_page_once(
    study: Study, reviewers: list[User]
) -> None:
    pages = [failed(study).pk for _ in range(4)]
    check_submitted()
    calls = [
        partial(
            bulk.decide_many,
            job=bulk.ask(study=study, by=user, pages=pages, use=use, reason="Seen."),
            tell=lambda *a, **k: None,
        )
        for user, use in zip(reviewers, ["used", "not_used"] * 2, strict=True)
    ]
    answers = at_once(calls)
    assert sum(answer["decided"] for answer in answers) == len(pages)
    assert Decision.objects.count() == 2 * len(pages)
    assert_places_reconcile()


def test_a_decision_is_taken_back_once_however_often_that_is_pressed(
    study: Study, reviewers: list[User]
) -> None:
    page = failed(study)
    check_submitted()
    by = reviewers[0]
    decide(assignment=page, by=by, use="not_used", payment="approved", reason="Seen.")
    answers = at_once([partial(take_back, assignment=page, by=by)] * 3)
    assert sum(isinstance(answer, Stale) for answer in answers) == 2
    page.refresh_from_db()
    assert (page.use, page.payment) == ("pending", "pending")
    assert_places_reconcile()
