from datetime import timedelta
from importlib import import_module
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from hits.models import Account, Assignment, Participation, Slot, Study, Unit
from hits.pipeline.draw import draw, draw_for_ticket
from hits.pipeline.errors import NothingLeft
from hits.pipeline.limits import ENOUGH, OPEN_ELSEWHERE, LimitReached
from hits.pipeline.people import link
from hits.pipeline.submit import free_expired, give_back, submit
from hits.pipeline.versions import change_version
from tests import making
from tests.concurrency.reconciling import assert_places_reconcile

pytestmark = pytest.mark.django_db

SMALL = {"candidates_a_page": 4, "justification": False}


def limited(**limits: Any) -> Study:
    return making.study(making.corpus(images=12), settings=SMALL, judgments_wanted=3, **limits)


def units_on(page: Assignment) -> int:
    return Slot.objects.filter(assignment=page, unit__gold__isnull=True).count()


def yesterday(account: Account) -> None:
    """As if all that the person did had been done the day before."""
    Participation.objects.filter(person=account.person_id).update(
        day=timezone.localdate() - timedelta(days=1)
    )


def test_nobody_is_given_more_units_of_a_study_than_one_person_may_judge() -> None:
    study = limited(most_units_a_person=8)
    account = making.rater(study)
    pages = [making.work(study, account) for _ in range(2)]
    assert [units_on(page) for page in pages] == [4, 4]
    with pytest.raises(LimitReached) as refusal:
        draw(study=study, account=account)
    assert refusal.value.message == ENOUGH


def test_golds_do_not_count_and_the_last_page_has_as_many_units_as_are_left() -> None:
    study = limited(most_units_a_person=6)
    account = making.rater(study)
    making.work(study, account)
    last = making.work(study, account)
    assert units_on(last) == 2
    assert last.slots.count() == 4
    assert Participation.objects.get(person=account.person).units_done == 6


def test_units_that_fill_a_page_count_too() -> None:
    study = limited(most_units_a_person=3)
    candidates = Unit.objects.filter(study=study, pool="candidate").order_by("order_key")
    kept = list(candidates.values_list("pk", flat=True)[:1])
    candidates.exclude(pk__in=kept).update(excluded=True)
    Unit.objects.filter(study=study, gold__isnull=False).update(excluded=True)
    page = draw(study=study, account=making.rater(study))
    assert sorted(page.slots.values_list("unit__pool", flat=True)) == ["candidate", "fill", "fill"]


def test_a_day_has_its_own_limit_and_the_next_day_one_can_go_on() -> None:
    study = limited(most_units_a_day=4)
    account = making.rater(study)
    making.work(study, account)
    with pytest.raises(LimitReached) as refusal:
        draw(study=study, account=account)
    tomorrow = timezone.localdate() + timedelta(days=1)
    assert f"from 00:00 UTC on {tomorrow:%A} {tomorrow.day} {tomorrow:%B}" in refusal.value.message
    yesterday(account)
    making.work(study, account)
    assert Participation.objects.get(person=account.person).units_that_day == 4


def test_a_page_given_back_costs_nothing_of_the_limit() -> None:
    study = limited(most_units_a_person=4)
    account = making.rater(study)
    page = draw(study=study, account=account)
    give_back(assignment_key=page.key, account=account)
    making.work(study, account)


def test_a_limit_set_later_counts_what_was_judged_before() -> None:
    study = limited()
    account = making.rater(study)
    making.work(study, account)
    change_version(study=study, by=study.corpus.owner, most_units_a_person=4)
    with pytest.raises(LimitReached):
        draw(study=study, account=account)


def test_the_migration_counts_units_as_submitting_does() -> None:
    study = limited()
    account = making.rater(study)
    for _ in range(2):
        making.work(study, account)
    draw(study=study, account=account)
    theirs = Participation.objects.filter(person=account.person_id)
    counted = list(theirs.values("units_done", "units_that_day"))
    theirs.update(units_done=0, units_that_day=0)
    with connection.cursor() as cursor:
        cursor.execute(import_module("hits.migrations.0008_training").COUNT_UNITS)
    assert list(theirs.values("units_done", "units_that_day")) == counted
    assert counted == [{"units_done": 8, "units_that_day": 8}]


def test_a_page_that_another_account_of_the_person_has_open_counts() -> None:
    study = limited(most_units_a_person=4)
    one, other = making.rater(study), making.rater(study)
    link(account=one, same_as=other)
    one.refresh_from_db()
    other.refresh_from_db()
    draw(study=study, account=one)
    with pytest.raises(LimitReached) as refusal:
        draw(study=study, account=other)
    assert refusal.value.message == OPEN_ELSEWHERE


def test_what_two_accounts_of_one_person_did_on_a_day_is_counted_together() -> None:
    study = limited(most_units_a_day=8)
    one, other = making.rater(study), making.rater(study)
    making.work(study, one)
    making.work(study, other)
    link(account=one, same_as=other)
    one.refresh_from_db()
    theirs = Participation.objects.get(study=study, person=one.person)
    assert (theirs.units_done, theirs.units_that_day) == (8, 8)
    with pytest.raises(LimitReached):
        draw(study=study, account=one)


def test_a_late_page_counts_no_more_once_its_person_has_all_they_may_have() -> None:
    study = limited(most_units_a_person=4)
    account = making.rater(study)
    late = draw(study=study, account=account)
    Assignment.objects.update(lease_until=timezone.now())
    free_expired()
    making.work(study, account)
    submit(assignment_key=late.key, account=account, fields=making.truthful(late))
    states = Slot.objects.filter(assignment=late).values_list("state", flat=True)
    assert set(states) == {"surplus"}
    assert_places_reconcile()


def test_a_late_page_within_the_limit_counts() -> None:
    study = limited(most_units_a_person=8)
    account = making.rater(study)
    late = draw(study=study, account=account)
    Assignment.objects.update(lease_until=timezone.now())
    free_expired()
    making.work(study, account)
    submit(assignment_key=late.key, account=account, fields=making.truthful(late))
    assert set(Slot.objects.values_list("state", flat=True)) == {"counted"}
    assert_places_reconcile()


def test_whoever_accepted_a_hit_gets_a_page_of_golds_past_the_limit() -> None:
    study = limited(most_units_a_person=4)
    account = making.rater(study)
    making.work(study, account)
    owed = draw_for_ticket(
        study=study,
        account=account,
        lease_until=timezone.now() + timedelta(hours=1),
        may_hold=True,
    )
    assert owed.slots.count() == 6
    assert units_on(owed) == 0
    assert not owed.is_training


def test_without_a_limit_one_person_may_judge_all_there_is() -> None:
    study = limited()
    account = making.rater(study)
    units = Unit.objects.filter(study=study, pool="candidate").count()
    for _ in range(-(-units // 4)):
        making.work(study, account)
    with pytest.raises(NothingLeft) as refusal:
        draw(study=study, account=account)
    assert not isinstance(refusal.value, LimitReached)
