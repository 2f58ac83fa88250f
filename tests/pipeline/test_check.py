import pytest

from hits.models import Assignment, Decision, Slot, Study, Unit
from hits.pipeline.check import NO_GOLDS, PASSED, check_submitted
from hits.pipeline.draw import draw
from hits.pipeline.review import decide, queue
from hits.pipeline.submit import submit
from tests import making

pytestmark = pytest.mark.django_db

SMALL = {"candidates_a_page": 4, "justification": False}


@pytest.fixture
def study() -> Study:
    return making.study(making.corpus(images=12), settings=SMALL)


@pytest.fixture
def page(study: Study) -> Assignment:
    return draw(study=study, account=making.rater(study))


def checked(page: Assignment, **changes: str) -> Assignment:
    """The page submitted with true golds, but for these pools, and checked."""
    fields = making.truthful(page)
    for pool, choice in changes.items():
        slot = Slot.objects.get(assignment=page, unit__pool=pool)
        name = "broken" if choice == "broken" else "choice"
        fields[f"q{slot.position}-{name}"] = [choice]
    submit(assignment_key=page.key, account=page.account, fields=fields)
    assert check_submitted() == 1
    page.refresh_from_db()
    return page


@pytest.mark.parametrize("choice", ["yes", "partial_yes"])
def test_either_yes_passes_the_true_positive(page: Assignment, choice: str) -> None:
    assert checked(page, true_positive=choice).golds_failed == 0


@pytest.mark.parametrize("choice", ["no", "mostly_no"])
def test_either_no_passes_the_true_negative(page: Assignment, choice: str) -> None:
    assert checked(page, true_negative=choice).golds_failed == 0


@pytest.mark.parametrize(
    ("pool", "choice"),
    [
        ("true_positive", "no"),
        ("true_positive", "mostly_no"),
        ("true_negative", "yes"),
        ("true_negative", "partial_yes"),
    ],
)
def test_one_failed_gold_sends_the_page_to_a_person(
    study: Study, page: Assignment, pool: str, choice: str
) -> None:
    checked(page, **{pool: choice})
    assert (page.golds_shown, page.golds_failed) == (2, 1)
    assert (page.use, page.payment) == ("pending", "pending")
    assert list(queue(study)) == [page]
    assert not Decision.objects.exists()


def test_a_page_with_true_golds_is_used_and_paid_by_a_rule_on_record(page: Assignment) -> None:
    checked(page)
    assert (page.use, page.payment) == ("used", "approved")
    assert set(Decision.objects.values_list("reason", flat=True)) == {PASSED}
    assert not Decision.objects.filter(by__isnull=False).exists()


def test_a_page_without_golds_is_used_and_the_reason_says_so(study: Study) -> None:
    Unit.objects.filter(gold__isnull=False).update(excluded=True)
    checked(draw(study=study, account=making.rater(study)))
    assert set(Decision.objects.values_list("reason", flat=True)) == {NO_GOLDS}


def test_a_page_is_checked_once(page: Assignment) -> None:
    checked(page)
    assert check_submitted() == 0
    assert Decision.objects.count() == 2


def test_a_decision_made_before_the_check_stands(page: Assignment) -> None:
    submit(assignment_key=page.key, account=page.account, fields=making.truthful(page))
    by = page.study.corpus.owner
    decide(assignment=page, by=by, use="not_used", payment="approved", reason="Seen by hand.")
    check_submitted()
    page.refresh_from_db()
    assert (page.use, page.golds_failed) == ("not_used", 0)


def test_pages_that_are_open_returned_or_expired_are_not_checked(page: Assignment) -> None:
    assert check_submitted() == 0


def test_a_gold_that_is_claimed_not_to_load_is_not_passed_by_a_program(page: Assignment) -> None:
    assert checked(page, true_positive="broken").use == "pending"
    assert list(queue(page.study)) == [page]


def test_a_page_on_which_most_is_claimed_not_to_load_waits_for_a_person(study: Study) -> None:
    account = making.rater(study)
    page = draw(study=study, account=account)
    fields = making.truthful(page)
    for slot in Slot.objects.filter(assignment=page, unit__gold__isnull=True):
        fields[f"q{slot.position}-broken"] = ["1"]
    submit(assignment_key=page.key, account=account, fields=fields)
    check_submitted()
    page.refresh_from_db()
    assert (page.golds_failed, page.use) == (0, "pending")
    assert study.participations.get().judgments_done == 2
