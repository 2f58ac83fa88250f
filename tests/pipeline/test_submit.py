from datetime import timedelta

import pytest
from django.utils import timezone

from hits.models import Account, Assignment, Judgment, Participation, Slot, Study, Unit
from hits.pipeline.check import check_submitted
from hits.pipeline.draw import draw
from hits.pipeline.errors import Closed, Incomplete, Stale
from hits.pipeline.people import give_consent, withdraw
from hits.pipeline.show import page_of
from hits.pipeline.submit import free_expired, give_back, save_draft, submit
from hits.pipeline.versions import change_version
from hits.records import Fields, Receipt, Saved
from tests import making
from tests.concurrency.reconciling import assert_places_reconcile

pytestmark = pytest.mark.django_db

SMALL = {"candidates_a_page": 4, "justification": False}


@pytest.fixture
def study() -> Study:
    return making.study(making.corpus(images=12), settings=SMALL)


@pytest.fixture
def page(study: Study) -> Assignment:
    return draw(study=study, account=making.rater(study))


def send(page: Assignment, fields: Fields | None = None, revision: int = 0) -> Receipt:
    return submit(
        assignment_key=page.key,
        account=page.account,
        fields=making.answers(6) if fields is None else fields,
        revision=revision,
    )


def save(page: Assignment, fields: Fields, revision: int = 0) -> Saved:
    return save_draft(
        assignment_key=page.key, account=page.account, fields=fields, revision=revision
    )


def let_expire(page: Assignment) -> None:
    Assignment.objects.filter(pk=page.pk).update(lease_until=timezone.now())
    assert free_expired() == 1


def judgments(page: Assignment) -> dict[int, Judgment]:
    found = Judgment.objects.filter(slot__assignment=page).select_related("slot")
    return {judgment.slot.position: judgment for judgment in found}


def candidate_states(page: Assignment) -> set[str]:
    slots = Slot.objects.filter(assignment=page, unit__gold__isnull=True)
    return set(slots.values_list("state", flat=True))


def position_of(page: Assignment, pool: str) -> int:
    found = Slot.objects.filter(assignment=page, unit__pool=pool).first()
    assert found is not None
    return found.position


def test_a_missing_answer_is_named_and_nothing_is_stored(page: Assignment) -> None:
    with pytest.raises(Incomplete) as refused:
        send(page, making.answers(5))
    assert refused.value.errors == {"q6-choice": "Choose one of the four answers."}
    assert refused.value.message == "1 answer is missing or not complete."
    assert not Judgment.objects.exists()
    page.refresh_from_db()
    assert page.state == "open"


def test_a_strangers_page_is_not_there(study: Study, page: Assignment) -> None:
    stranger = making.rater(study)
    with pytest.raises(Assignment.DoesNotExist):
        submit(assignment_key=page.key, account=stranger, fields=making.answers(6))
    with pytest.raises(Assignment.DoesNotExist):
        save_draft(assignment_key=page.key, account=stranger, fields={}, revision=0)
    with pytest.raises(Assignment.DoesNotExist):
        give_back(assignment_key=page.key, account=stranger)


def test_a_replayed_submission_gets_the_same_receipt_and_changes_nothing(
    page: Assignment,
) -> None:
    first = send(page)
    assert send(page, making.answers(6, "no")) == first
    assert send(page, {}) == first
    stored = Judgment.objects.filter(slot__assignment=page)
    assert set(stored.values_list("answer__choice", flat=True)) == {"yes"}
    assert Participation.objects.get().judgments_done == 6


def test_a_late_submission_counts_where_the_units_are_still_open(page: Assignment) -> None:
    let_expire(page)
    send(page)
    page.refresh_from_db()
    assert (page.state, page.is_late) == ("submitted", True)
    assert candidate_states(page) == {"counted"}
    assert_places_reconcile()


def test_a_late_submission_is_kept_where_others_have_judged_its_units_since(
    study: Study, page: Assignment
) -> None:
    let_expire(page)
    other = making.work(study, making.rater(study))
    receipt = send(page)
    assert receipt.key == str(page.key)
    assert candidate_states(page) == {"surplus"}
    assert candidate_states(other) == {"counted"}
    assert len(judgments(page)) == 6
    assert_places_reconcile()


def test_a_late_page_is_not_taken_from_who_withdrew_and_keeps_its_draft(
    study: Study, page: Assignment
) -> None:
    save(page, making.answers(6))
    let_expire(page)
    withdraw(study=study, account=page.account)
    with pytest.raises(Closed, match="You withdrew from this study"):
        send(page)
    page.refresh_from_db()
    assert page.state == "expired"
    assert page.draft == making.answers(6)
    assert not Judgment.objects.exists()
    give_consent(study=study, account=page.account)
    send(page)
    page.refresh_from_db()
    assert page.state == "submitted"


def test_a_late_submission_can_count_in_part(study: Study, page: Assignment) -> None:
    let_expire(page)
    one = Slot.objects.filter(assignment=page, unit__gold__isnull=True).first()
    assert one is not None
    Unit.objects.filter(study=study, pool="candidate").exclude(pk=one.unit_id).update(excluded=True)
    making.work(study, making.rater(study))
    Unit.objects.update(excluded=False)
    send(page)
    assert candidate_states(page) == {"surplus", "counted"}
    assert Slot.objects.get(pk=one.pk).state == "surplus"
    assert_places_reconcile()


def test_what_cannot_be_judged_in_a_late_submission_takes_no_place(page: Assignment) -> None:
    let_expire(page)
    broken = position_of(page, "candidate")
    send(page, making.answers(6) | {f"q{broken}-broken": ["1"]})
    assert Slot.objects.get(assignment=page, position=broken).state == "broken"
    assert_places_reconcile()


def test_an_expired_lease_frees_its_places_once_and_keeps_the_draft(page: Assignment) -> None:
    save(page, making.answers(3))
    let_expire(page)
    assert free_expired() == 0
    assert not Unit.objects.filter(held__gt=0).exists()
    page.refresh_from_db()
    assert (page.state, page.draft) == ("expired", making.answers(3))
    assert_places_reconcile()


def test_a_page_that_was_given_back_keeps_its_draft_and_takes_no_answers(page: Assignment) -> None:
    save(page, making.answers(3))
    give_back(assignment_key=page.key, account=page.account)
    with pytest.raises(Closed):
        send(page)
    with pytest.raises(Closed):
        save(page, making.answers(4), revision=1)
    page.refresh_from_db()
    assert (page.state, page.draft) == ("returned", making.answers(3))
    assert_places_reconcile()


def test_giving_back_twice_is_as_good_as_once(page: Assignment) -> None:
    for _ in range(2):
        give_back(assignment_key=page.key, account=page.account)
    assert_places_reconcile()


def test_a_submitted_page_cannot_be_given_back(page: Assignment) -> None:
    send(page)
    with pytest.raises(Closed):
        give_back(assignment_key=page.key, account=page.account)


def test_an_image_that_does_not_load_is_reported_and_its_unit_goes_out_again(
    study: Study, page: Assignment
) -> None:
    broken = position_of(page, "candidate")
    send(page, making.answers(6) | {f"q{broken}-broken": ["1"]})
    slot = Slot.objects.select_related("unit").get(assignment=page, position=broken)
    assert (slot.state, slot.unit.is_open) == ("broken", True)
    assert judgments(page)[broken].answer is None
    assert judgments(page)[broken].problem == "The image does not load."
    again = draw(study=study, account=making.rater(study))
    assert Slot.objects.filter(assignment=again, unit=slot.unit).exists()
    assert_places_reconcile()


def test_a_problem_is_kept_beside_the_answer(page: Assignment) -> None:
    send(page, making.answers(6) | {"q2-problem": ["  A blurred image.  "]})
    assert judgments(page)[2].problem == "A blurred image."
    assert judgments(page)[2].answer == {"choice": "yes"}


@pytest.mark.parametrize("text", ["a\0b", "a\ud800b", "\0"])
def test_text_that_the_database_cannot_store_loses_only_those_signs(
    page: Assignment, text: str
) -> None:
    fields = making.answers(6) | {"q1-problem": [text], f"q1-{text}": [text]}
    save(page, fields)
    send(page, fields)
    assert judgments(page)[1].problem in {"ab", "a?b", ""}


def test_markup_and_emoji_are_stored_as_they_are(page: Assignment) -> None:
    text = "<script>alert('🦊')</script> & \u202e"
    send(page, making.answers(6) | {"q1-problem": [text]})
    assert judgments(page)[1].problem == text


@pytest.mark.parametrize(
    ("sent", "stored"),
    [("1500", 1.5), ("-1", None), ("NaN", None), ("inf", None), ("", None), ("soon", None)],
)
def test_time_on_a_question_is_stored_when_it_makes_sense(
    page: Assignment, sent: str, stored: float | None
) -> None:
    Assignment.objects.update(drawn_at=timezone.now() - timedelta(minutes=5))
    send(page, making.answers(6) | {"q1-ms": [sent]})
    assert judgments(page)[1].seconds == stored


def test_no_question_took_longer_than_its_page_was_out(page: Assignment) -> None:
    send(page, making.answers(6) | {"q1-ms": ["99999999"]})
    seconds = judgments(page)[1].seconds
    assert seconds is not None
    assert seconds < 60


def test_a_draft_is_there_when_one_comes_back(page: Assignment) -> None:
    save(page, {"q2-choice": ["no"], "csrfmiddlewaretoken": ["secret"]})
    page.refresh_from_db()
    assert page.draft == {"q2-choice": ["no"]}
    assert page_of(page).questions[1].draft == {"choice": ["no"]}


def test_a_draft_of_an_older_revision_does_not_overwrite_a_newer_one(page: Assignment) -> None:
    assert save(page, making.answers(1)).revision == 1
    assert save(page, making.answers(2), revision=1).revision == 2
    with pytest.raises(Stale):
        save(page, making.answers(3), revision=1)
    page.refresh_from_db()
    assert page.draft == making.answers(2)


@pytest.mark.parametrize("revision", [-1, 2**31 - 1, 10**12])
def test_a_draft_of_an_impossible_revision_is_refused(page: Assignment, revision: int) -> None:
    with pytest.raises(Stale):
        save(page, making.answers(1), revision=revision)


@pytest.mark.parametrize("name", ["", "-", "-choice", "q-choice", "q1", "q1-", f"q{'9' * 5000}-x"])
def test_fields_of_no_question_do_no_harm(page: Assignment, name: str) -> None:
    fields = making.answers(6) | {name: ["1"]}
    save(page, fields)
    page.refresh_from_db()
    assert len(page_of(page).questions) == 6
    send(page, fields)
    assert len(judgments(page)) == 6


def test_a_draft_larger_than_a_page_is_refused(page: Assignment) -> None:
    with pytest.raises(Closed):
        save(page, {"q1-problem": ["x" * 300_000]})


def test_a_page_is_shown_and_answered_under_the_version_it_was_drawn_under(
    study: Study, page: Assignment
) -> None:
    change_version(
        study=study,
        by=study.corpus.owner,
        settings=SMALL | {"justification": True},
        wording={"question": "Is it so?"},
    )
    old = Assignment.objects.select_related("study", "version").get(pk=page.pk)
    assert page_of(old).wording.question == "Is the image correctly described?"
    assert not page_of(old).settings.justification
    send(old, making.answers(6, "partial_yes"))
    new = draw(study=study, account=making.rater(study))
    assert page_of(new).wording.question == "Is it so?"
    with pytest.raises(Incomplete):
        send(new, making.answers(6, "partial_yes"))


def test_what_a_person_did_today_is_counted(study: Study) -> None:
    account: Account = making.rater(study)
    making.work(study, account)
    making.work(study, account)
    theirs = Participation.objects.get(person=account.person)
    assert (theirs.pages_done, theirs.judgments_done, theirs.judgments_that_day) == (2, 12, 12)
    Participation.objects.update(day=timezone.localdate() - timedelta(days=1))
    making.work(study, account)
    theirs.refresh_from_db()
    assert (theirs.judgments_done, theirs.judgments_that_day) == (18, 6)


def test_a_submission_waits_for_its_check(study: Study, page: Assignment) -> None:
    send(page, making.truthful(page))
    page.refresh_from_db()
    assert (page.use, page.checked_at) == ("pending", None)
    assert check_submitted() == 1


def test_answers_older_than_the_saved_ones_are_refused_and_nothing_is_lost(
    page: Assignment,
) -> None:
    newer = save(page, making.answers(6, "no"))
    with pytest.raises(Stale):
        send(page, making.answers(6, "yes"), revision=0)
    page.refresh_from_db()
    assert (page.state, page.draft) == ("open", making.answers(6, "no"))
    send(page, making.answers(6, "yes"), revision=newer.revision)
    assert Judgment.objects.filter(slot__assignment=page, answer__choice="yes").count() == 6


def test_an_older_window_that_says_what_is_saved_is_taken(page: Assignment) -> None:
    save(page, making.answers(6, "no") | {"q1-ms": ["10"], "q1-problem": [""]})
    send(page, making.answers(6, "no") | {"q1-ms": ["4200"]}, revision=0)
    assert len(judgments(page)) == 6


def test_a_save_that_arrives_before_its_own_windows_submission_refuses_nothing(
    page: Assignment,
) -> None:
    save(page, making.answers(5), revision=4)
    assert send(page, making.answers(6), revision=5).submitted_at


def test_a_replayed_submission_gets_its_receipt_whatever_revision_it_knows(
    page: Assignment,
) -> None:
    newer = save(page, making.answers(6, "no"))
    first = send(page, making.answers(6), revision=newer.revision)
    assert send(page, making.answers(6), revision=0) == first
