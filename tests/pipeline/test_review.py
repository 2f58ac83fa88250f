from typing import Any

import pytest
from django.db import DatabaseError, connection, transaction

from hits.models import Assignment, Decision, Judgment, Slot, Study, Unit
from hits.pipeline.check import check_submitted
from hits.pipeline.draw import draw
from hits.pipeline.errors import Closed, Refused
from hits.pipeline.review import decide, queue
from hits.pipeline.submit import submit
from tests import making
from tests.concurrency.reconciling import assert_places_reconcile

pytestmark = pytest.mark.django_db

SMALL = {"candidates_a_page": 4, "justification": False}


@pytest.fixture
def study() -> Study:
    return making.study(making.corpus(images=12), settings=SMALL)


@pytest.fixture
def page(study: Study) -> Assignment:
    return making.work(study, making.rater(study))


def use(page: Assignment, value: str, reason: str = "Because.") -> None:
    by = page.study.corpus.owner
    decide(assignment=page, by=by, use=value, payment="approved", reason=reason)
    assert_places_reconcile()


def states(page: Assignment) -> set[str]:
    slots = Slot.objects.filter(assignment=page, unit__gold__isnull=True)
    return set(slots.values_list("state", flat=True))


def test_paying_and_using_are_two_decisions_each_with_who_and_why(page: Assignment) -> None:
    use(page, "not_used", "  Answered without looking. ")
    decisions = Decision.objects.order_by("kind").values_list("kind", "value", "reason", "by")
    by = page.study.corpus.owner_id
    assert list(decisions) == [
        ("payment", "approved", "Answered without looking.", by),
        ("use", "not_used", "Answered without looking.", by),
    ]


def test_what_is_not_used_goes_out_again_to_somebody_else(study: Study, page: Assignment) -> None:
    use(page, "not_used")
    again = draw(study=study, account=making.rater(study))
    first = set(Slot.objects.filter(assignment=page, state="not_used").values_list("unit"))
    assert set(Unit.objects.filter(held=1).values_list("pk")) <= first
    assert states(again) == {"held"}


def test_the_answers_of_a_page_that_is_not_used_stay_on_record(page: Assignment) -> None:
    use(page, "not_used")
    assert Judgment.objects.filter(slot__assignment=page).count() == 6


def test_a_decision_taken_back_gives_the_places_back(page: Assignment) -> None:
    use(page, "not_used")
    use(page, "used")
    assert states(page) == {"counted"}
    assert Decision.objects.filter(kind="use").count() == 2


def test_a_decision_taken_back_too_late_keeps_the_answers_without_a_place(
    study: Study, page: Assignment
) -> None:
    use(page, "not_used")
    other = making.work(study, making.rater(study))
    use(page, "used")
    assert (states(page), states(other)) == ({"surplus"}, {"counted"})


def test_the_same_decision_again_is_not_recorded_again(page: Assignment) -> None:
    use(page, "used")
    use(page, "used", "Once more.")
    assert Decision.objects.count() == 2


def test_refusing_payment_leaves_the_places_alone(page: Assignment) -> None:
    by = page.study.corpus.owner
    making.refuse(page, by, "No work was done.", use="pending")
    assert states(page) == {"counted"}
    assert Decision.objects.get().kind == "payment"


@pytest.mark.parametrize(
    "wrong",
    [
        {"use": "maybe"},
        {"payment": "later"},
        {"reason": " "},
        {"use": ""},
        {"payment": "pending"},
        {"use": "not_used", "payment": "pending"},
    ],
)
def test_a_decision_that_says_nothing_is_refused(page: Assignment, wrong: dict[str, str]) -> None:
    values: Any = {"use": "used", "payment": "approved", "reason": "Because."} | wrong
    with pytest.raises(Refused):
        decide(assignment=page, by=page.study.corpus.owner, **values)
    assert not Decision.objects.exists()


def test_work_that_is_not_paid_is_not_used(page: Assignment) -> None:
    with pytest.raises(Refused, match="not paid is not used"):
        making.refuse(page, page.study.corpus.owner, "No work was done.", use="used")
    assert not Decision.objects.exists()


def test_a_page_that_was_not_submitted_cannot_be_decided_on(study: Study) -> None:
    with pytest.raises(Closed):
        use(draw(study=study, account=making.rater(study)), "used")


@pytest.mark.parametrize(
    "change",
    [
        "DELETE FROM hits_decision",
        "DELETE FROM hits_judgment",
        "DELETE FROM hits_studyversion",
        "UPDATE hits_decision SET value = 'not_used'",
        "UPDATE hits_judgment SET problem = 'Something else'",
        "UPDATE hits_studyversion SET pay = 9",
    ],
)
def test_decisions_judgments_and_versions_are_only_ever_added(
    page: Assignment, change: str
) -> None:
    use(page, "used")
    with (
        pytest.raises(DatabaseError, match="only ever added"),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute(change)


def test_the_queue_has_the_most_failed_golds_first_and_then_the_oldest(study: Study) -> None:
    failed_both, passed, failed_one, failed_one_later = (
        draw(study=study, account=making.rater(study)) for _ in range(4)
    )
    wrong = {
        position: ["no" if choice == ["yes"] else "yes"]
        for position, choice in making.truthful(failed_both).items()
    }
    submit(assignment_key=passed.key, account=passed.account, fields=making.truthful(passed))
    for page in (failed_one, failed_one_later):
        submit(assignment_key=page.key, account=page.account, fields=making.answers(6))
    submit(assignment_key=failed_both.key, account=failed_both.account, fields=wrong)
    assert not queue(study).exists()
    check_submitted()
    assert list(queue(study)) == [failed_both, failed_one, failed_one_later]
