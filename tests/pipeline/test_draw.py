from datetime import timedelta
from typing import Any

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from hits.models import Account, Assignment, Exclusion, Participation, Slot, Study, Unit
from hits.pipeline.draw import draw
from hits.pipeline.errors import Closed, NotAllowed, NothingLeft
from hits.pipeline.open import set_state
from hits.pipeline.people import account_of, give_consent, link, withdraw
from hits.pipeline.submit import free_expired, give_back
from hits.pipeline.versions import change_version
from tests import making
from tests.concurrency.reconciling import assert_places_reconcile

pytestmark = pytest.mark.django_db

SMALL = {"candidates_a_page": 4, "justification": False}


@pytest.fixture
def study() -> Study:
    return making.study(making.corpus(images=12), settings=SMALL)


def pools(page: Assignment) -> list[str]:
    return sorted(Slot.objects.filter(assignment=page).values_list("unit__pool", flat=True))


def units(*pages: Assignment) -> set[int]:
    return set(Slot.objects.filter(assignment__in=pages).values_list("unit", flat=True))


def leave_open(study: Study, **counts: int) -> None:
    """So many units of each pool stay open; of the pools that are not named, all."""
    for pool, count in counts.items():
        inside = Unit.objects.filter(study=study, pool=pool).order_by("order_key")
        kept = list(inside.values_list("pk", flat=True)[:count])
        inside.exclude(pk__in=kept).update(excluded=True)


def test_asking_again_gives_the_page_that_is_open(study: Study) -> None:
    account = making.rater(study)
    assert draw(study=study, account=account) == draw(study=study, account=account)


def test_the_order_of_a_page_is_by_chance(study: Study) -> None:
    orders = set()
    for _ in range(12):
        page = draw(study=study, account=making.rater(study))
        slots = Slot.objects.filter(assignment=page).order_by("position")
        orders.add(tuple(slots.values_list("unit__pool", flat=True)))
    assert len(orders) > 1


def test_people_are_given_the_same_units_first_so_that_units_get_complete_early() -> None:
    study = making.study(making.corpus(images=12), settings=SMALL, judgments_wanted=3)
    for _ in range(3):
        draw(study=study, account=making.rater(study))
    assert Unit.objects.filter(study=study, held=3).count() == 4
    assert Unit.objects.filter(study=study, held__gt=0).count() == 4


@pytest.mark.parametrize("ending", ["submitted", "returned", "expired"])
def test_nobody_is_given_a_unit_a_second_time(study: Study, ending: str) -> None:
    account = making.rater(study)
    first = draw(study=study, account=account)
    if ending == "submitted":
        making.work(study, account)
    elif ending == "returned":
        give_back(assignment_key=first.key, account=account)
    else:
        Assignment.objects.update(lease_until=timezone.now())
        free_expired()
    second = draw(study=study, account=account)
    assert first != second
    assert not units(first) & units(second)
    assert_places_reconcile()


def test_a_page_whose_lease_ran_out_but_was_not_swept_yet_is_not_given_again(
    study: Study,
) -> None:
    account = making.rater(study)
    first = draw(study=study, account=account)
    Assignment.objects.update(lease_until=timezone.now() - timedelta(hours=1))
    second = draw(study=study, account=account)
    assert not units(first) & units(second)


def test_what_one_gave_back_goes_to_another(study: Study) -> None:
    account = making.rater(study)
    page = draw(study=study, account=account)
    give_back(assignment_key=page.key, account=account)
    given = Unit.objects.filter(pk__in=units(page), gold__isnull=True)
    other = draw(study=study, account=making.rater(study))
    assert set(given.values_list("pk", flat=True)) <= units(other)


def test_the_last_page_is_filled_from_the_next_ranks_and_says_so(study: Study) -> None:
    leave_open(study, candidate=1)
    page = draw(study=study, account=making.rater(study))
    assert pools(page) == ["candidate", "fill", "fill", "fill", "true_negative", "true_positive"]
    assert_places_reconcile()


def test_the_last_page_is_filled_with_golds_when_no_fill_is_left(study: Study) -> None:
    leave_open(study, candidate=1, fill=0)
    page = draw(study=study, account=making.rater(study))
    assert pools(page) == ["candidate", "true_negative"] + ["true_positive"] * 4
    assert len(units(page)) == 6


def test_a_page_is_never_filled_with_a_unit_that_has_its_judgments(study: Study) -> None:
    leave_open(study, candidate=1, fill=0, true_positive=1, true_negative=1)
    making.work(study, making.rater(study))
    with pytest.raises(NothingLeft):
        draw(study=study, account=making.rater(study))
    assert_places_reconcile()


def test_no_page_is_of_fill_and_golds_alone(study: Study) -> None:
    leave_open(study, candidate=0)
    with pytest.raises(NothingLeft):
        draw(study=study, account=making.rater(study))
    assert not Assignment.objects.exists()


def test_every_unit_gets_exactly_its_judgments_and_then_nothing_is_left() -> None:
    study = making.study(making.corpus(images=6), settings=SMALL, judgments_wanted=2)
    for _ in range(3):
        account = making.rater(study)
        try:
            while True:
                making.work(study, account)
        except NothingLeft:
            continue
    judged = Unit.objects.filter(study=study, pool="candidate")
    assert set(judged.values_list("held", "counted")) == {(0, 2)}
    assert_places_reconcile()


def test_golds_start_elsewhere_for_everybody(study: Study) -> None:
    first = {
        Slot.objects.get(assignment=page, unit__pool="true_negative").unit_id
        for page in (draw(study=study, account=making.rater(study)) for _ in range(8))
    }
    assert len(first) > 1


def test_the_next_page_costs_as_many_statements_on_the_last_day_as_on_the_first() -> None:
    study = making.study(making.corpus(images=20), settings=SMALL)

    # One person twice: whoever begins near the end of a ring needs a statement more than others.
    account = making.rater(study)

    def statements() -> int:
        with transaction.atomic():
            with CaptureQueriesContext(connection) as captured:
                draw(study=study, account=account)
            transaction.set_rollback(True)
        return len(captured)

    first = statements()
    everything = Unit.objects.filter(study=study, pool="candidate").order_by("order_key")
    done = list(everything.values_list("pk", flat=True)[: everything.count() - 8])
    Unit.objects.filter(pk__in=done).update(counted=1, held=0)
    assert statements() <= first


def refusal(study: Study, account: Account) -> Any:
    study = Study.objects.select_related("version").get(pk=study.pk)
    with pytest.raises((NotAllowed, Closed)) as refused:
        draw(study=study, account=account)
    assert not Assignment.objects.exists()
    return refused.type


def test_nobody_works_who_has_not_agreed(study: Study) -> None:
    account = making.rater(study)
    withdraw(study=study, account=account)
    assert refusal(study, account) is NotAllowed


def test_nobody_works_who_was_never_asked_to_agree(study: Study) -> None:
    assert refusal(study, account_of(making.user())) is NotAllowed


def test_new_information_wants_a_new_consent(study: Study) -> None:
    account = making.rater(study)
    change_version(study=study, by=study.corpus.owner, information="Something else.")
    assert refusal(study, account) is NotAllowed
    give_consent(study=study, account=account)
    assert draw(study=study, account=account).version == study.version


def test_new_settings_alone_want_no_new_consent(study: Study) -> None:
    account = making.rater(study)
    change_version(study=study, by=study.corpus.owner, lease_minutes=5)
    assert draw(study=study, account=account).version.lease_minutes == 5


def test_nobody_works_who_was_excluded(study: Study) -> None:
    account = making.rater(study)
    Participation.objects.update(excluded_reason="Too fast.")
    assert refusal(study, account) is NotAllowed


@pytest.mark.parametrize("state", ["paused", "closed"])
def test_a_study_that_is_not_open_gives_no_page(study: Study, state: str) -> None:
    account = making.rater(study)
    set_state(study=study, state=state)
    assert refusal(study, account) is Closed


@pytest.mark.parametrize("way", ["first excludes second", "second excludes first"])
def test_whoever_worked_in_a_study_never_works_in_one_it_excludes(study: Study, way: str) -> None:
    other = making.study(study.corpus, settings=SMALL)
    pair = (study, other) if way == "first excludes second" else (other, study)
    Exclusion.objects.create(study=pair[0], other=pair[1])
    account = making.rater(study)
    give_consent(study=other, account=account)
    making.work(study, account)
    with pytest.raises(NotAllowed):
        draw(study=other, account=account)
    assert making.work(study, account)


def test_two_accounts_of_one_person_have_pages_of_their_own_without_a_shared_unit(
    study: Study,
) -> None:
    one, other = making.rater(study), making.rater(study)
    link(account=one, same_as=other)
    pages = [
        draw(study=study, account=account)
        for account in Account.objects.filter(pk__in=[one.pk, other.pk]).order_by("pk")
    ]
    assert [page.account for page in pages] == [one, other]
    assert not units(pages[0]) & units(pages[1])


def test_somebody_whose_account_has_just_been_joined_is_told_to_try_again(study: Study) -> None:
    one, other = making.rater(study), making.rater(study)
    link(account=one, same_as=Account.objects.get(pk=other.pk))
    with pytest.raises(Closed, match="joined"):
        draw(study=study, account=other)
