"""Claims at the same moment, each on a connection of its own."""

from datetime import timedelta
from functools import partial

import pytest
from django.utils import timezone

from hits.models import Account, Assignment, Claim, Hit, Person, Study, Unit
from hits.pipeline import claim as claims
from hits.pipeline.draw import draw
from hits.pipeline.people import account_at, link
from tests import making
from tests.concurrency.racing import at_once
from tests.concurrency.reconciling import assert_places_reconcile
from tests.framed import entry

pytestmark = pytest.mark.django_db(transaction=True)
SMALL = {"candidates_a_page": 4, "justification": False}


@pytest.fixture
def study() -> Study:
    return making.study(making.corpus(images=15), settings=SMALL)


@pytest.fixture
def hit(study: Study) -> Hit:
    return making.offered(study)


def test_requests_of_one_claim_at_once_make_one_page(hit: Hit) -> None:
    found = at_once([partial(claims.agree, hit=hit, entry=entry(hit))] * 6)
    assert len({claim.assignment_id for claim in found}) == 1
    assert Claim.objects.count() == Assignment.objects.count() == 1
    assert Account.objects.filter(channel="local").count() == 1
    assert Unit.objects.filter(held=1).count() == 4
    assert_places_reconcile()


def test_of_many_claims_at_once_one_has_the_place(hit: Hit) -> None:
    calls = [
        partial(claims.agree, hit=hit, entry=entry(hit, f"WORKER{number}", f"REF{number}"))
        for number in range(6)
    ]
    found = at_once(calls)
    assert len(found) == Claim.objects.count() == 6
    assert Claim.objects.filter(reserves=True).count() == 1
    assert Unit.objects.filter(held=1).count() == 4
    assert_places_reconcile()


def test_no_more_than_twenty_get_in_at_once(hit: Hit) -> None:
    for number in range(17):
        claims.enter(hit=hit, entry=entry(hit, f"INVENTED{number}", f"REF{number}"))
    calls = [
        partial(claims.enter, hit=hit, entry=entry(hit, f"WORKER{number}", f"NEW{number}"))
        for number in range(8)
    ]
    found = at_once(calls)
    assert sum(isinstance(each, claims.TooMany) for each in found) == 5
    assert Claim.objects.count() == 20


def test_one_worker_on_several_hits_at_once_is_one_person_with_a_page_for_each(
    study: Study, hit: Hit
) -> None:
    people = Person.objects.count()
    hits = [making.hit(hit.publication) for _ in range(5)]
    calls = [
        partial(claims.agree, hit=each, entry=entry(each, ref=f"REF{number}"))
        for number, each in enumerate(hits)
    ]
    found = at_once(calls)
    assert len({claim.assignment_id for claim in found}) == 5
    assert Person.objects.count() == people + 1
    assert Unit.objects.filter(held=1).count() == 20
    assert_places_reconcile()


def test_a_submission_and_a_take_over_at_once_leave_the_counts_right(study: Study) -> None:
    for number in range(8):
        hit = making.offered(study)
        first = claims.agree(hit=hit, entry=entry(hit, f"FIRST{number}", "REF"))
        assert first.assignment is not None
        Claim.objects.filter(pk=first.pk).update(seen_at=timezone.now() - timedelta(minutes=11))
        fields = making.truthful(first.assignment)
        second = entry(hit, f"SECOND{number}", "OTHER")
        at_once(
            [
                partial(claims.hand_in, claim=first, fields=fields),
                partial(claims.agree, hit=hit, entry=second),
            ]
        )
        assert Claim.objects.filter(hit=hit, reserves=True).count() == 1
        first.assignment.refresh_from_db()
        assert first.assignment.state == Assignment.State.SUBMITTED
        assert_places_reconcile()


def test_a_rater_and_a_worker_who_are_one_person_never_share_a_unit(study: Study) -> None:
    hit = making.offered(study)
    rater = making.rater(study)
    link(account=account_at(channel="local", external_id="WORKER1"), same_as=rater)
    rater.refresh_from_db()
    page, claim = at_once(
        [
            partial(draw, study=study, account=rater),
            partial(claims.agree, hit=hit, entry=entry(hit)),
        ]
    )
    one = set(page.slots.values_list("unit", flat=True))
    other = set(claim.assignment.slots.values_list("unit", flat=True))
    assert not one & other
    assert_places_reconcile()
