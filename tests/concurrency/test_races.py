"""Two or more requests at the same moment, each on a connection of its own."""

import time
from collections import Counter
from datetime import timedelta
from functools import partial
from itertools import cycle, pairwise
from threading import Event
from typing import Any

import pytest
from django.db import transaction
from django.utils import timezone

from hits.models import (
    Account,
    Assignment,
    Consent,
    Decision,
    Exclusion,
    Judgment,
    Participation,
    Person,
    Slot,
    Study,
    Unit,
)
from hits.pipeline.check import check_submitted
from hits.pipeline.draw import draw
from hits.pipeline.errors import Closed, NotAllowed, NothingLeft
from hits.pipeline.people import account_of, give_consent, join, link
from hits.pipeline.review import decide
from hits.pipeline.submit import free_expired, give_back, save_draft, submit
from hits.records import Receipt
from tests import making
from tests.concurrency.racing import at_once
from tests.concurrency.reconciling import assert_places_reconcile, rows

pytestmark = pytest.mark.django_db(transaction=True)

SMALL = {"candidates_a_page": 4, "justification": False}
ONE_UNIT = SMALL | {
    "candidates_a_page": 1,
    "true_positives_a_page": 0,
    "true_negatives_a_page": 0,
}


def small_study(settings: dict[str, Any] = SMALL, **values: Any) -> Study:
    return making.study(making.corpus(images=15), settings=settings, **values)


def leave_open(study: Study, count: int) -> None:
    """Only so many units to judge stay; golds stay."""
    candidates = Unit.objects.filter(study=study, gold__isnull=True).order_by("order_key")
    kept = candidates.filter(pool="candidate").values_list("pk", flat=True)[:count]
    candidates.exclude(pk__in=list(kept)).update(excluded=True)


def let_lease_run_out(page: Assignment) -> None:
    Assignment.objects.filter(pk=page.pk).update(lease_until=timezone.now() - timedelta(seconds=1))


NEWEST = 1000


def send(page: Assignment, choice: str = "yes") -> Receipt:
    return submit(
        assignment_key=page.key,
        account=page.account,
        fields=making.answers(20, choice),
        revision=NEWEST,
    )


def judgments_of(page: Assignment) -> int:
    return Judgment.objects.filter(slot__assignment=page).count()


def test_one_person_asking_many_times_at_once_gets_one_page() -> None:
    study = small_study()
    account = making.rater(study)
    pages = at_once([partial(draw, study=study, account=account)] * 6)
    assert len({page.key for page in pages}) == 1
    assert Slot.objects.filter(person=account.person).count() == 6
    assert_places_reconcile()


def test_sixteen_people_race_for_the_last_unit_and_three_get_it() -> None:
    study = small_study(ONE_UNIT, judgments_wanted=3)
    leave_open(study, 1)
    people = [making.rater(study) for _ in range(16)]
    answers = at_once([partial(draw, study=study, account=account) for account in people])
    kinds = Counter(type(answer) for answer in answers)
    assert kinds == {Assignment: 3, NothingLeft: 13}
    unit = Unit.objects.get(study=study, excluded=False, gold__isnull=True)
    assert (unit.held, unit.counted, unit.is_open) == (3, 0, False)
    assert_places_reconcile()


def test_people_at_different_places_of_the_ring_never_deadlock_over_the_last_units() -> None:
    study = small_study(ONE_UNIT | {"candidates_a_page": 6}, judgments_wanted=16)
    leave_open(study, 6)
    keys = Unit.objects.filter(study=study, excluded=False, gold__isnull=True).order_by("order_key")
    people = [making.rater(study) for _ in range(16)]
    starts = cycle(keys.values_list("order_key", flat=True))
    for account, key in zip(people, starts, strict=False):
        Participation.objects.filter(person=account.person).update(cursors={"candidate": key})
    answers = at_once([partial(draw, study=study, account=account) for account in people])
    assert {type(answer) for answer in answers} == {Assignment}
    assert_places_reconcile()


def test_a_submission_sent_ten_times_at_once_is_stored_once_and_answered_alike() -> None:
    study = small_study()
    page = draw(study=study, account=making.rater(study))
    receipts = at_once([partial(send, page)] * 10)
    assert len(set(receipts)) == 1
    assert receipts[0].key == str(page.key)
    assert judgments_of(page) == 6
    assert Participation.objects.get(person=page.person).pages_done == 1
    assert Unit.objects.filter(study=study, counted=1, held=0).count() == 4
    assert_places_reconcile()


def test_a_submission_sent_again_with_other_answers_changes_nothing() -> None:
    study = small_study()
    page = draw(study=study, account=making.rater(study))
    receipts = at_once([partial(send, page, choice) for choice in ("yes", "no", "yes", "no")])
    assert len(set(receipts)) == 1
    said = Judgment.objects.filter(slot__assignment=page).values_list("answer__choice", flat=True)
    assert len(set(said)) == 1
    assert_places_reconcile()


@pytest.mark.parametrize("round_", range(3))
def test_a_submission_at_the_moment_its_lease_is_swept_is_taken_either_way(round_: int) -> None:
    study = small_study()
    pages = [draw(study=study, account=making.rater(study)) for _ in range(4)]
    for page in pages:
        let_lease_run_out(page)
    answers = at_once([*(partial(send, page) for page in pages), free_expired, free_expired])
    assert all(isinstance(answer, Receipt) for answer in answers[:4])
    assert [judgments_of(page) for page in pages] == [6] * 4
    assert not Slot.objects.exclude(state="counted").exists()
    assert_places_reconcile()


def test_a_page_is_either_submitted_or_given_back_never_both() -> None:
    study = small_study()
    pages = [draw(study=study, account=making.rater(study)) for _ in range(6)]
    calls = [
        call
        for page in pages
        for call in (
            partial(send, page),
            partial(give_back, assignment_key=page.key, account=page.account),
        )
    ]
    answers = at_once(calls)
    for page, submitted, returned in zip(pages, answers[::2], answers[1::2], strict=True):
        page.refresh_from_db()
        assert isinstance(submitted, Receipt) == isinstance(returned, Closed)
        assert page.state == ("submitted" if isinstance(submitted, Receipt) else "returned")
        assert judgments_of(page) == (6 if page.state == "submitted" else 0)
    assert_places_reconcile()


def test_a_draft_saved_at_the_moment_of_submission_changes_no_answer() -> None:
    study = small_study()
    page = draw(study=study, account=making.rater(study))
    saving = partial(
        save_draft,
        assignment_key=page.key,
        account=page.account,
        fields=making.answers(6, "no"),
        revision=0,
    )
    answers = at_once([saving, partial(send, page), saving])
    assert isinstance(answers[1], Receipt)
    said = Judgment.objects.filter(slot__assignment=page).values_list("answer__choice", flat=True)
    assert set(said) == {"yes"}


def test_reviewers_who_decide_at_once_leave_one_decision_in_force() -> None:
    study = small_study()
    page = draw(study=study, account=making.rater(study))
    send(page)
    reviewers = [making.user(is_staff=True) for _ in range(6)]
    at_once(
        [
            partial(
                decide,
                assignment=page,
                by=reviewer,
                use="not_used" if number % 2 else "used",
                payment="approved",
                reason=f"Reviewer {number}",
            )
            for number, reviewer in enumerate(reviewers)
        ]
    )
    page.refresh_from_db()
    uses = list(Decision.objects.filter(kind="use").order_by("pk").values_list("value", flat=True))
    assert page.use == uses[-1]
    assert all(before != after for before, after in pairwise(uses))
    assert Decision.objects.filter(kind="payment").count() == 1
    used = Unit.objects.filter(study=study, counted=1).count()
    assert used == (4 if page.use == "used" else 0)
    assert_places_reconcile()


def test_many_processes_check_each_submitted_page_once() -> None:
    study = small_study()
    for _ in range(5):
        making.work(study, making.rater(study))
    assert sum(at_once([check_submitted] * 4)) == 5
    assert Decision.objects.filter(kind="use").count() == 5


def test_units_taken_out_of_use_while_others_draw_go_out_again_and_to_no_one_too_many() -> None:
    study = small_study(judgments_wanted=1)
    leave_open(study, 12)
    pages = [making.work(study, making.rater(study)) for _ in range(3)]
    people = [making.rater(study) for _ in range(6)]
    not_used = partial(
        decide, by=study.corpus.owner, use="not_used", payment="approved", reason="No"
    )
    at_once(
        [
            *(partial(not_used, assignment=page) for page in pages),
            *(partial(draw, study=study, account=account) for account in people),
        ]
    )
    assert_places_reconcile()
    for account in people:
        try:
            draw(study=study, account=account)
        except NothingLeft:
            continue
    units = Unit.objects.filter(study=study, excluded=False, gold__isnull=True)
    assert set(units.values_list("held", "counted")) == {(1, 0)}
    assert_places_reconcile()


def test_a_judgment_taken_into_use_as_another_goes_out_of_use_gets_its_place() -> None:
    study = small_study(ONE_UNIT, judgments_wanted=1)
    leave_open(study, 1)
    deciding = partial(decide, by=study.corpus.owner, payment="approved", reason="Because")
    before = making.work(study, making.rater(study))
    deciding(assignment=before, use="not_used")
    now = making.work(study, making.rater(study))

    room_is_being_made = Event()

    def make_room() -> None:
        with transaction.atomic():
            deciding(assignment=now, use="not_used")
            room_is_being_made.set()
            wait_for_waiters(1)

    def take_it() -> None:
        room_is_being_made.wait(10)
        deciding(assignment=before, use="used")

    at_once([make_room, take_it])
    assert Slot.objects.get(assignment=before).state == "counted"
    assert_places_reconcile()


def test_a_page_with_a_broken_image_takes_its_units_in_the_order_of_all_others() -> None:
    study = small_study(ONE_UNIT | {"candidates_a_page": 2}, judgments_wanted=2)
    leave_open(study, 2)
    plain, with_broken = (draw(study=study, account=making.rater(study)) for _ in range(2))
    first, last = Slot.objects.filter(assignment=with_broken).order_by("unit__order_key")
    fields = making.answers(2) | {f"q{last.position}-broken": ["1"]}
    first_is_taken = Event()

    def take_the_first() -> None:
        with transaction.atomic():
            Unit.objects.select_for_update().get(pk=first.unit_id)
            first_is_taken.set()
            wait_for_waiters(2)

    def send_plain() -> None:
        first_is_taken.wait(10)
        send(plain)

    def send_with_broken() -> None:
        first_is_taken.wait(10)
        wait_for_waiters(1)
        submit(assignment_key=with_broken.key, account=with_broken.account, fields=fields)

    at_once([take_the_first, send_plain, send_with_broken])
    assert_places_reconcile()


def wait_for_waiters(count: int) -> None:
    """Until so many sessions wait for a lock."""
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        waiting = rows("SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'")
        if len(waiting) >= count:
            return
        time.sleep(0.01)
    raise AssertionError("Nobody waits for a lock.")


def two_accounts(study: Study) -> tuple[Account, Account]:
    return making.rater(study), making.rater(study)


@pytest.mark.parametrize("round_", range(3))
def test_linking_two_accounts_while_both_submit_lets_one_judgment_a_unit_count(
    round_: int,
) -> None:
    study = small_study(judgments_wanted=3)
    leave_open(study, 4)
    accounts = two_accounts(study)
    pages = [draw(study=study, account=account) for account in accounts]
    linking = partial(link, account=accounts[0], same_as=accounts[1])
    answers = at_once([partial(send, pages[0]), linking, partial(send, pages[1])])
    assert isinstance(answers[0], Receipt)
    assert isinstance(answers[2], Receipt)
    units = Unit.objects.filter(study=study, excluded=False, gold__isnull=True)
    assert set(units.values_list("held", "counted")) == {(0, 1)}
    assert Judgment.objects.filter(slot__unit__in=units).count() == 8
    assert Slot.objects.filter(unit__in=units, state="same_person").count() == 4
    assert_places_reconcile()


@pytest.mark.parametrize("round_", range(3))
def test_linking_two_accounts_while_both_draw_gives_nobody_a_unit_twice(round_: int) -> None:
    study = small_study(judgments_wanted=3)
    leave_open(study, 4)
    accounts = two_accounts(study)
    at_once(
        [
            partial(draw, study=study, account=accounts[0]),
            partial(link, account=accounts[0], same_as=accounts[1]),
            partial(draw, study=study, account=accounts[1]),
        ]
    )
    for account in Account.objects.filter(pk__in=[each.pk for each in accounts]):
        try:
            draw(study=study, account=account)
        except NothingLeft:
            continue
    assert Person.objects.filter(same_as__isnull=False).count() == 1
    assert Unit.objects.filter(study=study, held__gt=1).count() == 0
    assert_places_reconcile()


@pytest.mark.parametrize("round_", range(5))
def test_consent_given_while_its_account_is_linked_leaves_one_participation(round_: int) -> None:
    first, second = small_study(), small_study()
    one, other = making.rater(first), making.rater(second)
    at_once(
        [
            partial(link, account=one, same_as=other),
            partial(give_consent, study=second, account=one),
            partial(give_consent, study=first, account=other),
        ]
    )
    person = Account.objects.get(pk=one.pk).person_id
    theirs = Participation.objects.filter(person=person).values_list("study", flat=True)
    assert sorted(theirs) == sorted({first.pk, second.pk})


def test_accounts_linked_crosswise_at_once_become_one_person() -> None:
    study = small_study(judgments_wanted=3)
    one, other = two_accounts(study)
    making.work(study, one)
    making.work(study, other)
    at_once(
        [
            partial(link, account=one, same_as=other),
            partial(link, account=other, same_as=one),
        ]
    )
    people = Account.objects.filter(pk__in=[one.pk, other.pk]).values("person").distinct()
    assert people.count() == 1
    assert_places_reconcile()


@pytest.mark.parametrize("round_", range(3))
def test_somebody_asking_in_two_studies_that_exclude_each_other_gets_work_in_one(
    round_: int,
) -> None:
    first, second = small_study(), small_study()
    Exclusion.objects.create(study=first, other=second)
    account = making.rater(first)
    give_consent(study=second, account=account)
    answers = at_once(
        [
            partial(draw, study=study, account=Account.objects.get(pk=account.pk))
            for study in (first, second)
        ]
    )
    assert {type(answer) for answer in answers} == {Assignment, NotAllowed}
    assert_places_reconcile()


def test_a_login_used_for_the_first_time_from_many_windows_has_one_account_and_consent() -> None:
    study = small_study()
    user = making.user()

    def first_steps() -> Account:
        account = account_of(type(user).objects.get(pk=user.pk))
        give_consent(study=study, account=account)
        return account

    accounts = at_once([first_steps] * 6)
    assert len({account.pk for account in accounts}) == 1
    assert Consent.objects.filter(withdrawn_at__isnull=True).count() == 1
    assert Person.objects.count() == 1


def test_an_invitation_for_two_lets_two_of_eight_in() -> None:
    study = small_study()
    invitation = study.invitations.create(created_by=study.corpus.owner, places=2)
    users = [making.user() for _ in range(8)]
    answers = at_once([partial(join, token=invitation.token, user=user) for user in users])
    assert sum(isinstance(answer, Closed) for answer in answers) == 6
    assert study.memberships.filter(role="rater").count() == 2
    invitation.refresh_from_db()
    assert invitation.taken == 2
