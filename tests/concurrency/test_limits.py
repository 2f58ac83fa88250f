"""One person with several windows and accounts, at the limit and at the last try."""

from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from django.utils import timezone

from hits.models import Account, Assignment, Participation, Slot, Study
from hits.pipeline.draw import draw, draw_for_ticket
from hits.pipeline.errors import PipelineError
from hits.pipeline.people import link
from hits.pipeline.submit import free_expired, submit
from hits.records import Receipt
from tests import making
from tests.concurrency.racing import at_once
from tests.concurrency.reconciling import assert_places_reconcile

pytestmark = pytest.mark.django_db(transaction=True)

SMALL = {"candidates_a_page": 4, "justification": False}


def study_with(**rules: Any) -> Study:
    return making.study(making.corpus(images=15), settings=SMALL, judgments_wanted=5, **rules)


def accounts_of_one_person(study: Study, count: int) -> list[Account]:
    first, *others = [making.rater(study) for _ in range(count)]
    for other in others:
        link(account=Account.objects.get(pk=first.pk), same_as=other)
    found = list(Account.objects.filter(pk__in=[each.pk for each in (first, *others)]))
    assert len({each.person_id for each in found}) == 1
    return found


def drawing(study: Study, account: Account) -> list[Callable[[], Assignment]]:
    """From the house, and for a HIT that was accepted."""
    until = timezone.now() + timedelta(hours=1)
    ticket = partial(
        draw_for_ticket, study=study, account=account, lease_until=until, may_hold=True
    )
    return [partial(draw, study=study, account=account), ticket]


def units_of(person_id: int) -> int:
    held_or_counted = Slot.objects.filter(person=person_id, state__in=["held", "counted"])
    return held_or_counted.filter(unit__gold__isnull=True).count()


@pytest.mark.parametrize("limit", ["most_units_a_person", "most_units_a_day"])
def test_windows_and_accounts_of_one_person_draw_at_once_and_stay_within_the_limit(
    limit: str,
) -> None:
    study = study_with(**{limit: 10})
    accounts = accounts_of_one_person(study, 3)
    at_once([call for account in accounts for call in drawing(study, account)])
    assert units_of(accounts[0].person_id) == 10
    assert_places_reconcile()


def test_drawing_while_other_pages_of_the_person_are_submitted_stays_within_the_limit() -> None:
    study = study_with(most_units_a_person=12)
    accounts = accounts_of_one_person(study, 4)
    pages = [draw(study=study, account=account) for account in accounts[:2]]
    sending = [
        partial(submit, assignment_key=page.key, account=page.account, fields=making.truthful(page))
        for page in pages
    ]
    others = [call for account in accounts[2:] for call in drawing(study, account)]
    at_once([*sending, *others])
    assert units_of(accounts[0].person_id) == 12
    theirs = Participation.objects.get(study=study, person=accounts[0].person_id)
    assert theirs.units_done == 8
    assert_places_reconcile()


def test_late_pages_submitted_at_once_stay_within_the_limit() -> None:
    study = study_with(most_units_a_person=4)
    account = making.rater(study)
    pages = []
    for _ in range(4):
        pages.append(draw(study=study, account=account))
        Assignment.objects.update(lease_until=timezone.now())
        free_expired()
    receipts = at_once(
        [
            partial(submit, assignment_key=page.key, account=account, fields=making.truthful(page))
            for page in pages
        ]
    )
    assert {type(receipt) for receipt in receipts} == {Receipt}
    assert units_of(account.person_id) == 4
    assert_places_reconcile()


def test_accounts_of_one_person_have_no_more_training_pages_at_once_than_tries() -> None:
    study = study_with(training_units=3, training_attempts=2)
    accounts = accounts_of_one_person(study, 4)
    answers = at_once([partial(draw, study=study, account=account) for account in accounts])
    assert sum(isinstance(answer, PipelineError) for answer in answers) == 2
    assert Assignment.objects.filter(is_training=True).count() == 2
