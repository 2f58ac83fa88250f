"""The requester's API, spoken over HTTP to the marketplace."""

import socket
import threading
from collections.abc import Iterator
from datetime import timedelta
from decimal import Decimal
from typing import Any
from uuid import uuid4
from xml.etree import ElementTree

import pytest

from hits.channels.configured import channel as channel_named
from hits.channels.contract import (
    Approve,
    Block,
    Bonus,
    Call,
    Delete,
    End,
    MakeQualification,
    NoAnswer,
    Notify,
    Order,
    Outcome,
    Publish,
    Qualify,
    Refusal,
    Reject,
    Requirement,
    Result,
    Ticket,
    Unblock,
)
from hits.channels.mturk import MTurk, receipt_in
from hits.channels.mturk.orders import QUESTION, external_question
from hits.marketplace.models import HIT, Assignment, Fault, Message, Requester
from hits.marketplace.models import Bonus as TheirBonus
from hits.marketplace.models import Qualification as TheirQualification
from tests import selling
from tests.marketplace import world
from tests.marketplace.asking import done as work_done


@pytest.fixture
def channel(requester: Requester) -> MTurk:
    opened = channel_named("local")
    assert isinstance(opened, MTurk)
    return opened


def call_for(channel: MTurk, order: Order, token: str = "") -> Call:
    return Call(order.action, token or uuid4().hex, channel.write(order))


def make(channel: MTurk, order: Order, token: str = "") -> Outcome:
    return channel.make(call_for(channel, order, token))


def ticket(channel: MTurk, key: str = "a-key") -> Ticket:
    made = make(channel, Publish(selling.terms()))
    return Ticket(made.answer["id"], key, "https://example.org/hit/x/", 1, selling.terms())


def handed_over(channel: MTurk) -> tuple[str, str, str]:
    """The ids of a HIT, of the assignment handed over for it, and of its worker."""
    hit_id = make(channel, ticket(channel, uuid4().hex)).answer["id"]
    ref, worker = work_done(hit_id)
    return hit_id, ref, worker


def fail(kind: str, operation: str, **values: Any) -> None:
    Fault.objects.create(kind=kind, operation=operation, **(values or {"remaining": 1}))


def test_the_question_is_an_address_in_the_namespace_of_external_questions() -> None:
    question = ElementTree.fromstring(external_question("https://example.org/?a=1&b=<2>"))
    assert question.tag == f"{{{QUESTION}}}ExternalQuestion"
    assert [each.tag.split("}")[1] for each in question] == ["ExternalURL", "FrameHeight"]
    assert [each.text for each in question] == ["https://example.org/?a=1&b=<2>", "0"]


def test_an_address_that_makes_the_question_too_long_is_refused() -> None:
    with pytest.raises(Refusal, match="too long"):
        external_question("https://example.org/" + "a" * 65_535)


def test_a_ticket_is_a_hit_for_one_worker_that_carries_our_key(channel: MTurk) -> None:
    made = make(channel, ticket(channel, "our-key"))
    assert made.result is Result.DONE
    hit = channel.client.get_hit(HITId=made.answer["id"])["HIT"]
    assert (hit["MaxAssignments"], hit["RequesterAnnotation"]) == (1, "our-key")
    assert (hit["Reward"], hit["AssignmentDurationInSeconds"]) == ("0.65", 3600)
    assert "https://example.org/hit/x/" in hit["Question"]


def test_requirements_of_workers_are_kept_as_meant(channel: MTurk) -> None:
    own = make(channel, MakeQualification("ours", "of the tests")).answer["id"]
    requirements = (
        Requirement(Requirement.APPROVED_HITS, "GreaterThanOrEqualTo", (500,)),
        Requirement(Requirement.APPROVAL_RATE, "GreaterThan", (95,), hides=False),
        Requirement(Requirement.LOCALE, "In", ("US-CA", "GB")),
        Requirement(own, "DoesNotExist"),
    )
    terms = selling.terms(requirements=requirements)
    hit_type = make(channel, Publish(terms)).answer["id"]
    hit_id = make(channel, Ticket(hit_type, "k", "https://example.org/", 1, terms)).answer["id"]
    kept = channel.client.get_hit(HITId=hit_id)["HIT"]["QualificationRequirements"]
    found = {each["QualificationTypeId"]: each for each in kept}
    assert found["00000000000000000040"]["IntegerValues"] == [500]
    assert found["000000000000000000L0"]["ActionsGuarded"] == "Accept"
    assert found["00000000000000000071"]["LocaleValues"] == [
        {"Country": "US", "Subdivision": "CA"},
        {"Country": "GB"},
    ]
    assert found[own]["Comparator"] == "DoesNotExist"
    assert found[own]["ActionsGuarded"] == "DiscoverPreviewAndAccept"


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"requirements": (Requirement("X", "Exists"),) * 11}, "At most 10"),
        ({"requirements": (Requirement("X", "Exists", (1,)),)}, "does not go"),
        ({"requirements": (Requirement("X", "Likes"),)}, "compares nothing"),
        ({"requirements": (Requirement(Requirement.MASTERS, "Exists"),)}, "Masters"),
        ({"title": " "}, "title is missing"),
        ({"title": "t" * 129}, "longer than 128"),
        ({"reward": Decimal("0.655")}, "whole cents"),
        ({"duration": timedelta(seconds=29)}, "30 seconds"),
        ({"lifetime": timedelta(days=366)}, "365 days"),
        ({"auto_approval": timedelta(days=31)}, "30 days"),
    ],
)
def test_terms_that_no_marketplace_takes_are_refused_in_words(
    changes: dict[str, Any], why: str
) -> None:
    values = {"url": "http://x", "submit": "http://x", "region": "r"}
    channel = MTurk("local", {**values, "access_key": "a", "secret_key": "s"})
    with pytest.raises(Refusal, match=why):
        channel.write(Publish(selling.terms(**changes)))


def test_a_ticket_made_again_with_its_token_is_the_ticket_that_is_there(channel: MTurk) -> None:
    order = ticket(channel)
    first = make(channel, order, "token")
    again = make(channel, order, "token")
    assert again.result is Result.ALREADY_DONE
    assert again.answer["id"] == first.answer["id"]
    assert HIT.objects.count() == 1


def test_a_throttled_call_is_to_be_retried(channel: MTurk) -> None:
    order = ticket(channel)
    fail("throttle", "CreateHITWithHITType")
    assert make(channel, order).result is Result.RETRY
    assert HIT.objects.count() == 0


def test_a_call_that_failed_after_it_was_done_is_found_done_when_made_again(
    channel: MTurk,
) -> None:
    order = ticket(channel)
    fail("fail_after", "CreateHITWithHITType")
    assert make(channel, order, "token").result is Result.RETRY
    assert HIT.objects.count() == 1
    assert make(channel, order, "token").result is Result.ALREADY_DONE
    assert HIT.objects.count() == 1


def test_a_ticket_is_looked_up_by_our_key_among_more_than_a_page_of_hits(channel: MTurk) -> None:
    order = ticket(channel, "the-one")
    made = make(channel, order)
    kind = HIT.objects.get().hit_type
    for _ in range(120):
        world.hit(kind)
    assert channel.look_up(call_for(channel, order)).answer["id"] == made.answer["id"]
    other = call_for(channel, ticket(channel, "never-made"))
    assert channel.look_up(other).result is Result.RETRY


@pytest.fixture
def _read_once(channel: MTurk, monkeypatch: pytest.MonkeyPatch) -> None:
    """To wait for the last try of many would take long."""
    monkeypatch.setattr(channel, "reading", channel.client)


@pytest.mark.usefixtures("_read_once")
def test_what_cannot_be_looked_up_now_stays_unknown(channel: MTurk) -> None:
    call = call_for(channel, ticket(channel))
    fail("throttle", "ListHITs")
    assert channel.look_up(call).result is Result.UNKNOWN


def test_a_request_that_makes_no_sense_there_is_refused_with_its_message(channel: MTurk) -> None:
    order = Ticket("NOSUCHTYPE", "k", "https://example.org/", 1, selling.terms())
    outcome = make(channel, order)
    assert outcome.result is Result.REFUSED
    assert "NOSUCHTYPE" in outcome.message


def test_what_the_account_cannot_pay_is_refused(channel: MTurk, requester: Requester) -> None:
    order = ticket(channel)
    Requester.objects.filter(pk=requester.pk).update(balance=Decimal("0.77"))
    outcome = make(channel, order)
    assert outcome.result is Result.REFUSED
    assert "insufficient funds" in outcome.message


def test_a_wrong_key_is_refused_and_no_balance_is_told(market: str, requester: Requester) -> None:
    values = selling.channel_values(market, requester, secret_key="not the secret")
    stranger = MTurk("local", values)
    assert make(stranger, Publish(selling.terms())).result is Result.REFUSED
    with pytest.raises(NoAnswer):
        stranger.balance()


@pytest.mark.parametrize(("order", "status"), [(Approve, "Approved"), (Reject, "Rejected")])
def test_a_decision_is_made_once_and_found_made(
    channel: MTurk, order: type[Approve] | type[Reject], status: str
) -> None:
    _, ref, _ = handed_over(channel)
    decision = order(ref, "Because.")
    assert channel.look_up(call_for(channel, decision)).result is Result.RETRY
    assert make(channel, decision).result is Result.DONE
    assert make(channel, decision).result is Result.ALREADY_DONE
    assert channel.look_up(call_for(channel, decision)).result is Result.DONE
    assert Assignment.objects.get().get_status_display().lower() == status.lower()


def test_what_was_approved_cannot_be_rejected(channel: MTurk) -> None:
    _, ref, _ = handed_over(channel)
    make(channel, Approve(ref))
    assert make(channel, Reject(ref, "Too late.")).result is Result.REFUSED


def test_a_rejection_can_be_overturned(channel: MTurk) -> None:
    _, ref, _ = handed_over(channel)
    make(channel, Reject(ref, "A mistake."))
    assert make(channel, Approve(ref, overturns=True)).result is Result.DONE


def test_a_bonus_is_paid_once_a_token_and_found_in_the_list(channel: MTurk) -> None:
    _, ref, worker = handed_over(channel)
    order = Bonus(ref, worker, Decimal("0.50"), "Very good work.")
    assert channel.look_up(call_for(channel, order)).result is Result.RETRY
    fail("fail_after", "SendBonus")
    assert make(channel, order, "token").result is Result.RETRY
    assert make(channel, order, "token").result is Result.ALREADY_DONE
    assert channel.look_up(call_for(channel, order)).result is Result.DONE
    assert TheirBonus.objects.count() == 1


def test_a_qualification_is_known_by_its_name(channel: MTurk) -> None:
    order = MakeQualification("Took part", "in a study")
    made = make(channel, order)
    again = make(channel, order)
    assert (made.result, again.result) == (Result.DONE, Result.ALREADY_DONE)
    assert made.answer == again.answer


def test_a_worker_qualifies_without_asking(channel: MTurk) -> None:
    worker = world.worker()
    own = make(channel, MakeQualification("Took part", "in a study")).answer["id"]
    order = Qualify(own, worker.worker_id)
    assert channel.look_up(call_for(channel, order)).result is Result.RETRY
    assert make(channel, order).result is Result.DONE
    assert make(channel, order).succeeded
    assert channel.look_up(call_for(channel, order)).result is Result.DONE
    assert TheirQualification.objects.filter(worker=worker).count() == 1
    assert not Message.objects.exists()


def test_a_worker_may_be_told_of_a_qualification_before_any_of_their_work_was_reviewed(
    channel: MTurk,
) -> None:
    worker = world.worker()
    own = make(channel, MakeQualification("Compensation", "Look for “Pairs”.")).answer["id"]
    assert make(channel, Qualify(own, worker.worker_id, tells=True)).result is Result.DONE
    told = Message.objects.get(worker=worker)
    assert (told.subject, "Look for “Pairs”." in told.text) == ("Compensation", True)


def test_a_ticket_that_was_ended_is_offered_no_longer_and_can_be_deleted(channel: MTurk) -> None:
    hit_id = make(channel, ticket(channel)).answer["id"]
    assert make(channel, End(hit_id)).succeeded
    assert channel.look_up(call_for(channel, End(hit_id))).result is Result.DONE
    assert make(channel, Delete(hit_id)).result is Result.DONE
    assert make(channel, Delete(hit_id)).result is Result.ALREADY_DONE
    assert make(channel, End(hit_id)).succeeded


def test_a_worker_is_blocked_with_a_reason_and_unblocked(channel: MTurk) -> None:
    worker = world.worker().worker_id
    assert make(channel, Block(worker, "Random answers.")).result is Result.DONE
    blocked = channel.client.list_worker_blocks()["WorkerBlocks"]
    assert blocked == [{"WorkerId": worker, "Reason": "Random answers."}]
    assert make(channel, Unblock(worker, "A mistake.")).result is Result.DONE
    assert channel.client.list_worker_blocks()["WorkerBlocks"] == []


def test_a_message_says_whom_it_did_not_reach(channel: MTurk) -> None:
    _, ref, known = handed_over(channel)
    make(channel, Approve(ref))
    outcome = make(channel, Notify((known, "A2STRANGER"), "Hello", "There is more work."))
    assert list(outcome.answer["failures"]) == ["A2STRANGER"]


def test_submissions_are_listed_with_their_receipt(channel: MTurk) -> None:
    hit_id, ref, worker = handed_over(channel)
    (listed,) = channel.list_submissions("", [hit_id])
    assert (listed.hit_id, listed.ref, listed.worker) == (hit_id, ref, worker)
    assert listed.state == "submitted"
    assert listed.auto_approval_at is not None
    assert listed.auto_approval_at > listed.submitted_at


def test_of_many_tickets_only_those_are_asked_about_that_can_have_submissions(
    channel: MTurk,
) -> None:
    hit_id, ref, _ = handed_over(channel)
    kind = HIT.objects.get(hit_id=hit_id).hit_type
    others = [world.hit(kind).hit_id for _ in range(30)]
    asked: list[str] = []
    event = "provide-client-params.mturk.ListAssignmentsForHIT"
    channel.reading.meta.events.register(event, lambda params, **_: asked.append(params["HITId"]))
    listed = channel.list_submissions(kind.hit_type_id, [hit_id, *others])
    assert [each.ref for each in listed] == [ref]
    assert asked == [hit_id]


def test_to_read_is_tried_again(channel: MTurk) -> None:
    hit_id, ref, _ = handed_over(channel)
    fail("throttle", "ListAssignmentsForHIT")
    assert [each.ref for each in channel.list_submissions("", [hit_id])] == [ref]


@pytest.mark.usefixtures("_read_once")
def test_a_list_that_is_not_answered_says_so(channel: MTurk) -> None:
    hit_id, _, _ = handed_over(channel)
    fail("throttle", "ListAssignmentsForHIT")
    with pytest.raises(NoAnswer, match="Rate exceeded"):
        list(channel.list_submissions("", [hit_id]))


def test_the_balance_is_what_can_be_spent(channel: MTurk) -> None:
    assert channel.balance() == Decimal("1000.00")
    make(channel, ticket(channel))
    assert channel.balance() == Decimal("999.22")


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "not xml",
        "<a/>",
        '<!DOCTYPE a [<!ENTITY b "c">]><QuestionFormAnswers/>',
        "<QuestionFormAnswers><Answer><QuestionIdentifier>other</QuestionIdentifier>"
        "<FreeText>x</FreeText></Answer></QuestionFormAnswers>",
    ],
)
def test_an_answer_without_our_receipt_has_none(answer: str) -> None:
    assert receipt_in(answer) == ""


@pytest.fixture
def deaf_server() -> Iterator[str]:
    """Takes what is sent and hangs up."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def hang_up() -> None:
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                with connection:
                    connection.recv(65536)

        thread = threading.Thread(target=hang_up, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}"


def test_a_connection_that_is_lost_leaves_the_end_unknown(deaf_server: str) -> None:
    channel = elsewhere(deaf_server)
    assert make(channel, Publish(selling.terms())).result is Result.UNKNOWN


def test_a_marketplace_that_is_not_there_is_tried_again() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    assert make(elsewhere(f"http://127.0.0.1:{port}"), Publish(selling.terms())).result is (
        Result.RETRY
    )


def elsewhere(url: str) -> MTurk:
    values = {"url": url, "submit": url, "region": "us-east-1"}
    return MTurk("local", {**values, "access_key": "a", "secret_key": "s"})
