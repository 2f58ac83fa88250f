from datetime import timedelta
from xml.etree import ElementTree

import pytest
from django.db.models import F
from django.utils import timezone

from hits.marketplace import work
from hits.marketplace.errors import Refused
from hits.marketplace.models import HIT, Assignment
from tests.marketplace import world

pytestmark = pytest.mark.django_db


def past_its_time(assignment: Assignment) -> None:
    Assignment.objects.filter(pk=assignment.pk).update(deadline=timezone.now())


def over(hit: HIT) -> None:
    HIT.objects.filter(pk=hit.pk).update(expires_at=timezone.now())


def test_a_hit_with_one_place_is_with_one_worker() -> None:
    hit = world.hit(world.hit_type(world.requester()))
    mine = work.accept(worker=world.worker(), hit=hit)
    assert mine.status == Assignment.Status.ACCEPTED
    with pytest.raises(Refused, match="not available"):
        work.accept(worker=world.worker(), hit=hit)
    hit.refresh_from_db()
    assert (hit.status, hit.pending, hit.free) == (HIT.Status.UNASSIGNABLE, 1, 0)


def test_whoever_has_a_hit_gets_the_same_assignment_again() -> None:
    hit = world.hit(world.hit_type(world.requester()), assignments=2)
    worker = world.worker()
    assert work.accept(worker=worker, hit=hit) == work.accept(worker=worker, hit=hit)
    hit.refresh_from_db()
    assert hit.pending == 1


def test_a_returned_assignment_passes_its_id_to_the_next_worker() -> None:
    hit = world.hit(world.hit_type(world.requester()))
    first = work.accept(worker=world.worker(), hit=hit)
    work.give_back(assignment=first)
    second = work.accept(worker=world.worker(), hit=hit)
    assert second.assignment_id == first.assignment_id
    assert second.worker != first.worker
    with pytest.raises(Refused, match="not with you"):
        work.submit(assignment=first, answers=[])


def test_an_abandoned_hit_is_offered_again_while_it_lives() -> None:
    hit = world.hit(world.hit_type(world.requester()))
    late = work.accept(worker=world.worker(), hit=hit)
    past_its_time(late)
    with pytest.raises(Refused, match="time for this HIT is over"):
        work.submit(assignment=late, answers=[])
    offers = work.available(world.worker())
    assert [offer.hit for offer in offers] == [hit]
    late.refresh_from_db()
    assert late.status == Assignment.Status.ABANDONED


def test_an_expired_hit_is_neither_offered_nor_accepted_and_its_money_is_free_again() -> None:
    owner = world.requester(balance="10.00")
    hit = world.hit(world.hit_type(owner))
    owner.refresh_from_db()
    assert str(owner.available) == "9.22"
    over(hit)
    worker = world.worker()
    with pytest.raises(Refused):
        work.accept(worker=worker, hit=hit)
    assert work.available(worker) == []
    hit.refresh_from_db()
    owner.refresh_from_db()
    assert hit.status == HIT.Status.REVIEWABLE
    assert str(owner.available) == "10.00"


def test_work_in_hand_when_a_hit_expires_can_be_submitted() -> None:
    hit = world.hit(world.hit_type(world.requester()))
    mine = work.accept(worker=world.worker(), hit=hit)
    over(hit)
    work.settle_due()
    hit.refresh_from_db()
    assert (hit.status, hit.reserved) == (HIT.Status.UNASSIGNABLE, 1)
    work.submit(assignment=mine, answers=[("q", "a")])
    hit.refresh_from_db()
    assert hit.status == HIT.Status.REVIEWABLE


def test_a_submission_counts_once() -> None:
    hit = world.hit(world.hit_type(world.requester()))
    mine = work.accept(worker=world.worker(), hit=hit)
    work.submit(assignment=mine, answers=[("q", "first")])
    with pytest.raises(Refused, match="submitted already"):
        work.submit(assignment=mine, answers=[("q", "second")])
    mine.refresh_from_db()
    assert "first" in mine.answer


def test_work_that_nobody_decides_on_is_paid_after_its_delay() -> None:
    owner = world.requester(balance="10.00")
    hit = world.hit(world.hit_type(owner, auto_approval_seconds=0))
    worker = world.worker()
    work.submit(assignment=work.accept(worker=worker, hit=hit), answers=[])
    work.settle_due()
    owner.refresh_from_db()
    assert (str(owner.balance), str(owner.held)) == ("9.22", "0.00")
    assert [str(paid.amount) for paid in worker.payments.all()] == ["0.65"]


def test_an_old_hit_is_disposed_of() -> None:
    hit = world.hit(world.hit_type(world.requester()))
    over(hit)
    HIT.objects.filter(pk=hit.pk).update(dispose_at=F("expires_at"))
    work.settle_due()
    hit.refresh_from_db()
    assert hit.status == HIT.Status.DISPOSED


def test_a_blocked_worker_cannot_accept() -> None:
    owner, worker = world.requester(), world.worker()
    hit = world.hit(world.hit_type(owner))
    owner.blocks.create(worker=worker, reason="careless")
    with pytest.raises(Refused, match="does not take work"):
        work.accept(worker=worker, hit=hit)


def test_answers_come_back_as_xml_whatever_was_typed() -> None:
    hit = world.hit(world.hit_type(world.requester()))
    mine = work.accept(worker=world.worker(), hit=hit)
    done = work.submit(assignment=mine, answers=[("a&b", "<tag>\x00 \ud800 é")])
    root = ElementTree.fromstring(done.answer)
    assert [part.text for part in root[0]] == ["a&b", "<tag>\ufffd \ufffd é"]


def test_the_frame_keeps_the_requesters_own_address() -> None:
    hit = world.hit(world.hit_type(world.requester()))
    shown = work.frame_address(hit=hit, assignment=None, submit_to="https://market.example")
    assert shown == (
        "https://example.org/work?hit=1&assignmentId=ASSIGNMENT_ID_NOT_AVAILABLE"
        f"&hitId={hit.hit_id}"
    )
    mine = work.accept(worker=world.worker(), hit=hit)
    shown = work.frame_address(hit=hit, assignment=mine, submit_to="https://market.example")
    assert shown.endswith(
        f"&turkSubmitTo=https%3A%2F%2Fmarket.example&workerId={mine.worker.worker_id}"
    )


@pytest.mark.parametrize(
    ("requirement", "accepts"),
    [
        (
            {
                "QualificationTypeId": "00000000000000000040",
                "Comparator": "GreaterThan",
                "IntegerValues": [499],
            },
            True,
        ),
        (
            {
                "QualificationTypeId": "00000000000000000040",
                "Comparator": "GreaterThan",
                "IntegerValues": [500],
            },
            False,
        ),
        (
            {
                "QualificationTypeId": "000000000000000000L0",
                "Comparator": "GreaterThan",
                "IntegerValues": [97],
            },
            True,
        ),
        (
            {
                "QualificationTypeId": "00000000000000000071",
                "Comparator": "In",
                "LocaleValues": [{"Country": "GB"}, {"Country": "US"}],
            },
            True,
        ),
        (
            {
                "QualificationTypeId": "00000000000000000071",
                "Comparator": "EqualTo",
                "LocaleValues": [{"Country": "US", "Subdivision": "NY"}],
            },
            False,
        ),
        (
            {
                "QualificationTypeId": "00000000000000000071",
                "Comparator": "NotIn",
                "LocaleValues": [{"Country": "US"}],
            },
            False,
        ),
        ({"QualificationTypeId": "3UNKNOWN", "Comparator": "Exists"}, False),
        ({"QualificationTypeId": "3UNKNOWN", "Comparator": "DoesNotExist"}, True),
        (
            {"QualificationTypeId": "3UNKNOWN", "Comparator": "NotEqualTo", "IntegerValues": [1]},
            False,
        ),
    ],
)
def test_a_requirement_decides_who_may_accept(
    requirement: dict[str, object], accepts: bool
) -> None:
    worker = world.worker(country="US", subdivision="CA", approved_before=500)
    kind = world.hit_type(world.requester(), requirements=[requirement])
    world.hit(kind)
    [offer] = work.available(worker)
    assert offer.may_accept == accepts
    assert offer.may_preview


def test_a_guarded_hit_cannot_even_be_found() -> None:
    guarded = {
        "QualificationTypeId": "3UNKNOWN",
        "Comparator": "Exists",
        "ActionsGuarded": "DiscoverPreviewAndAccept",
    }
    hit = world.hit(world.hit_type(world.requester(), requirements=[guarded]))
    worker = world.worker()
    assert work.available(worker) == []
    with pytest.raises(Refused, match="qualifications"):
        work.preview(worker=worker, hit=hit)


def test_a_hit_done_is_not_offered_to_whoever_did_it() -> None:
    hit = world.hit(world.hit_type(world.requester()), assignments=3, lives=timedelta(hours=1))
    worker = world.worker()
    work.submit(assignment=work.accept(worker=worker, hit=hit), answers=[])
    assert work.available(worker) == []
    with pytest.raises(Refused, match="done this HIT already"):
        work.accept(worker=worker, hit=hit)
    assert len(work.available(world.worker())) == 1
