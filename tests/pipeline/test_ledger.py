from collections.abc import Iterator
from datetime import timedelta
from decimal import Decimal
from uuid import uuid4

import pytest
from django.db import connection, transaction
from django.utils import timezone

from hits.channels.configured import channel
from hits.channels.contract import Approve, Bonus, Publish, Ticket
from hits.channels.mturk import MTurk
from hits.marketplace.models import HIT, Fault, RequestToken
from hits.marketplace.models import Bonus as TheirBonus
from hits.models import Claim, Hit, Intent, Publication
from hits.pipeline.errors import Refused
from hits.pipeline.ledger import due, intend, settle, settle_due
from hits.pipeline.pay import bonus
from hits.pipeline.reconcile import reconcile
from tests import selling
from tests.concurrency.racing import at_once

pytestmark = pytest.mark.usefixtures("requester")


@pytest.fixture
def publication() -> Publication:
    return selling.sell(selling.study(), pages=1)


@pytest.fixture
def ticket(publication: Publication) -> Intent:
    """A second ticket, written down and not made."""
    hit = Hit.objects.create(publication=publication)
    terms = selling.terms()
    order = Ticket(publication.hit_type_id, hit.key.hex, "https://example.org/", 2, terms)
    return intend(
        channel="local",
        order=order,
        token=f"ticket-{hit.key.hex}",
        publication=publication,
        hit=hit,
    )


def forget_tokens() -> None:
    """A day later."""
    long_ago = timezone.now() - timedelta(hours=25)
    RequestToken.objects.update(created_at=long_ago)
    Intent.objects.update(meant_at=long_ago)


def fail(kind: str, operation: str, times: int = 1) -> None:
    Fault.objects.create(kind=kind, operation=operation, remaining=times)


def now_due(intent: Intent) -> Intent:
    Intent.objects.filter(pk=intent.pk).update(next_try_at=timezone.now())
    return intent


def test_an_order_is_written_down_before_anything_is_called(ticket: Intent) -> None:
    assert (ticket.state, ticket.attempts, ticket.settled_at) == ("meant", 0, None)
    assert len(ticket.token) <= 64
    assert HIT.objects.count() == 1


def test_the_same_token_is_the_same_intent(ticket: Intent) -> None:
    again = intend(channel="local", order=Publish(selling.terms()), token=ticket.token)
    assert again == ticket
    assert again.action == "ticket"


def test_an_order_that_a_channel_cannot_carry_out_is_not_written_down() -> None:
    with pytest.raises(Refused, match="title"):
        intend(channel="local", order=Publish(selling.terms(title="")), token="x")
    assert not Intent.objects.filter(token="x").exists()


def test_a_settled_call_is_never_made_again(ticket: Intent) -> None:
    assert settle(ticket).state == "done"
    settle(ticket)
    assert ticket.attempts == 1
    assert HIT.objects.count() == 2


def test_a_throttled_call_waits_longer_each_time(ticket: Intent) -> None:
    fail("throttle", "CreateHITWithHITType", 6)
    waits = []
    for _ in range(6):
        before = timezone.now()
        settle(ticket)
        assert ticket.state == "retry"
        assert "Rate exceeded" in ticket.message
        waits.append((ticket.next_try_at - before).total_seconds())
    assert waits[0] < 1
    assert waits[5] > waits[2] > waits[0]
    assert not due().exists()
    assert settle(now_due(ticket)).state == "done"


def test_a_call_that_failed_after_it_was_done_is_settled_as_already_done(ticket: Intent) -> None:
    fail("fail_after", "CreateHITWithHITType")
    assert settle(ticket).state == "retry"
    assert settle(ticket).state == "already"
    assert HIT.objects.count() == 2
    assert ticket.hit is not None
    assert HIT.objects.get(annotation=ticket.hit.key.hex).hit_id == ticket.hit.hit_id


def test_once_its_token_is_forgotten_a_call_is_found_in_the_marketplaces_list(
    ticket: Intent,
) -> None:
    fail("fail_after", "CreateHITWithHITType")
    settle(ticket)
    forget_tokens()
    assert settle(ticket).state == "already"
    assert HIT.objects.count() == 2
    assert ticket.hit is not None
    ticket.hit.refresh_from_db()
    assert ticket.hit.state == "live"


def test_a_call_that_was_never_done_is_made_also_after_its_token_is_forgotten(
    ticket: Intent,
) -> None:
    fail("fail_before", "CreateHITWithHITType")
    settle(ticket)
    forget_tokens()
    assert settle(ticket).state == "done"
    assert HIT.objects.count() == 2


def test_a_call_that_cannot_be_looked_up_is_not_made(
    ticket: Intent, monkeypatch: pytest.MonkeyPatch
) -> None:
    sold_at = channel("local")
    assert isinstance(sold_at, MTurk)
    # To wait for the last try of many would take long.
    monkeypatch.setattr(sold_at, "reading", sold_at.client)
    fail("fail_after", "CreateHITWithHITType")
    settle(ticket)
    forget_tokens()
    fail("throttle", "ListHITs")
    assert settle(ticket).state == "unknown"
    assert HIT.objects.count() == 2
    assert settle(ticket).state == "already"


def test_a_worker_that_died_after_its_call_leaves_a_row_that_says_so(ticket: Intent) -> None:
    class Dies(Exception):
        pass

    def write(*_: object) -> None:
        raise Dies

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("hits.pipeline.ledger._write", write)
        with pytest.raises(Dies):
            settle(ticket)
    ticket.refresh_from_db()
    assert (ticket.state, ticket.attempts, ticket.settled_at) == ("meant", 1, None)
    assert HIT.objects.count() == 2
    assert settle(ticket).state == "already"
    assert HIT.objects.count() == 2


def test_two_workers_never_make_one_call_at_once(ticket: Intent) -> None:
    Fault.objects.create(kind="delay", operation="CreateHITWithHITType", remaining=1, seconds=0.5)
    states = at_once([lambda: settle(Intent.objects.get(pk=ticket.pk)).state] * 4)
    assert "done" in states
    assert "already" not in states
    assert HIT.objects.count() == 2


def test_a_call_whose_row_is_locked_is_left_alone(ticket: Intent) -> None:
    def settle_elsewhere() -> str:
        return str(settle(Intent.objects.get(pk=ticket.pk)).state)

    with transaction.atomic():
        Intent.objects.select_for_update().get(pk=ticket.pk)
        assert at_once([settle_elsewhere]) == ["meant"]
    assert settle(ticket).state == "done"


@pytest.fixture
def confirmed(publication: Publication) -> Iterator[Claim]:
    claim = selling.do_page(selling.live_hit(publication))
    reconcile(publication)
    claim.refresh_from_db()
    yield claim
    connection.close()


def test_a_decision_without_a_token_is_looked_up_before_it_is_made_again(
    confirmed: Claim,
) -> None:
    fail("fail_after", "ApproveAssignment")
    intent = intend(
        channel="local", order=Approve(confirmed.ref), token=uuid4().hex, claim=confirmed
    )
    assert settle(intent).state == "retry"
    assert settle(intent).state == "already"
    confirmed.refresh_from_db()
    assert confirmed.theirs == "approved"


def test_a_bonus_is_paid_once_also_after_its_token_is_forgotten(confirmed: Claim) -> None:
    owner = confirmed.hit.publication.created_by
    fail("fail_after", "SendBonus")
    intent = bonus(claim=confirmed, amount=Decimal("0.25"), reason="Well done.", by=owner)
    settle(intent)
    forget_tokens()
    assert settle(intent).state == "already"
    assert TheirBonus.objects.count() == 1


def test_calls_about_a_page_wait_until_it_is_confirmed(publication: Publication) -> None:
    hit = selling.live_hit(publication)
    theirs = selling.accept(hit)
    claim = selling.claim(hit, theirs)
    order = Bonus(claim.ref, claim.account.external_id, Decimal("0.10"), "Fast.")
    intend(channel="local", order=order, token="early", claim=claim)
    assert settle_due() == {}
    selling.hand_over(theirs)
    reconcile(publication)
    assert settle_due() == {"done": 2}
    assert TheirBonus.objects.count() == 1


def test_the_sweep_leaves_tickets_to_launches(ticket: Intent) -> None:
    assert settle_due() == {}
    assert due().filter(pk=ticket.pk).exists()
