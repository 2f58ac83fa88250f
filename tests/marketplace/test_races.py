"""Calls at the same moment: nothing is sold twice, nothing is done twice."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Barrier
from typing import Any

import pytest
from django.db import connection

from hits.marketplace import work
from hits.marketplace.errors import Refused
from hits.marketplace.models import HIT, Assignment, Bonus, HITType, Payment, Requester
from tests.marketplace import world
from tests.marketplace.asking import TYPE, Client, connected, done, hit_id_of, refused

CROWD = 12


def at_once(calls: Sequence[Callable[[], Any]]) -> list[Any]:
    """What each returned, or how it was refused."""
    barrier = Barrier(len(calls))

    def run(call: Callable[[], Any]) -> Any:
        try:
            barrier.wait(timeout=60)
            return call()
        except Refused as refusal:
            return refusal
        finally:
            connection.close()

    with ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(run, calls))


def code_of(client: Client, call: Callable[[], Any]) -> str:
    try:
        call()
    except client.exceptions.RequestError as error:
        return str(error.response["TurkErrorCode"]).removeprefix("AWS.MechanicalTurk.")
    return "done"


def clients(market: str, owner: Requester, count: int) -> list[Client]:
    return [connected(market, owner) for _ in range(count)]


@pytest.mark.django_db(transaction=True)
def test_no_more_workers_get_a_hit_than_it_sells() -> None:
    hit = world.hit(world.hit_type(world.requester()), assignments=3)
    workers = [world.worker() for _ in range(CROWD)]
    outcomes = at_once([partial(work.accept, worker=worker, hit=hit) for worker in workers])
    got = [outcome for outcome in outcomes if isinstance(outcome, Assignment)]
    assert len(got) == 3
    assert len({assignment.assignment_id for assignment in got}) == 3
    hit.refresh_from_db()
    assert (hit.pending, hit.status) == (3, HIT.Status.UNASSIGNABLE)


@pytest.mark.django_db(transaction=True)
def test_a_place_given_back_by_many_passes_to_as_many_with_its_ids() -> None:
    hit = world.hit(world.hit_type(world.requester()), assignments=3)
    first = [work.accept(worker=world.worker(), hit=hit) for _ in range(3)]
    newcomers = [world.worker() for _ in range(CROWD)]
    at_once(
        [partial(work.give_back, assignment=mine) for mine in first]
        + [partial(work.accept, worker=worker, hit=hit) for worker in newcomers]
    )
    live = Assignment.objects.filter(hit=hit, status="Accepted")
    hit.refresh_from_db()
    assert hit.pending == live.count() <= 3
    assert {row.assignment_id for row in live} <= {row.assignment_id for row in first}


@pytest.mark.django_db(transaction=True)
def test_one_worker_who_clicks_twice_has_one_assignment() -> None:
    hit = world.hit(world.hit_type(world.requester()), assignments=9)
    worker = world.worker()
    outcomes = at_once([partial(work.accept, worker=worker, hit=hit)] * 6)
    assert len({outcome.pk for outcome in outcomes}) == 1
    hit.refresh_from_db()
    assert hit.pending == 1


@pytest.mark.django_db(transaction=True)
def test_one_submission_of_many_is_taken() -> None:
    hit = world.hit(world.hit_type(world.requester()))
    mine = work.accept(worker=world.worker(), hit=hit)
    outcomes = at_once(
        [partial(work.submit, assignment=mine, answers=[("n", str(n))]) for n in range(6)]
        + [partial(work.give_back, assignment=mine)]
    )
    assert sum(not isinstance(outcome, Refused) for outcome in outcomes) == 1


def test_a_hit_asked_for_many_times_at_once_is_made_once(market: str, owner: Requester) -> None:
    def make(client: Client) -> str:
        return code_of(client, lambda: hit_id_of(client, UniqueRequestToken="the one"))

    outcomes = at_once([partial(make, client) for client in clients(market, owner, 8)])
    assert sorted(outcomes) == ["HitAlreadyExists"] * 7 + ["done"]
    assert HIT.objects.count() == 1
    owner.refresh_from_db()
    assert str(owner.held) == "0.78"


def test_a_type_registered_many_times_at_once_is_one_type(market: str, owner: Requester) -> None:
    made = at_once(
        [partial(client.create_hit_type, **TYPE) for client in clients(market, owner, 6)]
    )
    assert len({answer["HITTypeId"] for answer in made}) == 1
    assert HITType.objects.count() == 1


def test_a_bonus_sent_many_times_at_once_is_paid_once(
    market: str, owner: Requester, client: Client
) -> None:
    assignment_id, worker_id = done(hit_id_of(client))
    bonus = {
        "AssignmentId": assignment_id,
        "WorkerId": worker_id,
        "BonusAmount": "1.00",
        "Reason": "for care",
        "UniqueRequestToken": "the one",
    }

    def send(sender: Client) -> str:
        return code_of(sender, lambda: sender.send_bonus(**bonus))

    outcomes = at_once([partial(send, sender) for sender in clients(market, owner, 8)])
    assert sorted(outcomes) == ["DuplicateRequest"] * 7 + ["done"]
    assert Bonus.objects.count() == 1
    owner.refresh_from_db()
    assert str(owner.balance) == "998.80"


def test_an_assignment_decided_on_many_times_at_once_is_decided_once(
    market: str, owner: Requester, client: Client
) -> None:
    assignment_id, _ = done(hit_id_of(client))

    def approve(sender: Client) -> str:
        return code_of(sender, lambda: sender.approve_assignment(AssignmentId=assignment_id))

    def reject(sender: Client) -> str:
        return code_of(
            sender,
            lambda: sender.reject_assignment(AssignmentId=assignment_id, RequesterFeedback="no"),
        )

    senders = clients(market, owner, 8)
    calls = [partial(approve, sender) for sender in senders[:5]]
    calls += [partial(reject, sender) for sender in senders[5:]]
    outcomes = at_once(calls)
    assert sorted(outcomes) == ["InvalidAssignmentState"] * 7 + ["done"]
    paid = Payment.objects.filter(kind="reward").count()
    assert paid == Assignment.objects.filter(status="Approved").count()


def test_the_last_money_is_spent_once(market: str) -> None:
    poor = world.requester("Poor", balance="1.00")
    senders = clients(market, poor, 6)
    outcomes = at_once([partial(code_of, sender, partial(hit_id_of, sender)) for sender in senders])
    assert sorted(outcomes) == ["InsufficientFunds"] * 5 + ["done"]


def test_a_token_is_forgotten_after_a_day(client: Client, owner: Requester) -> None:
    hit_id_of(client, UniqueRequestToken="again")
    owner.tokens.update(created_at=HIT.objects.get().created_at.replace(year=2020))
    hit_id_of(client, UniqueRequestToken="again")
    with pytest.raises(client.exceptions.RequestError) as caught:
        hit_id_of(client, UniqueRequestToken="again")
    assert refused(caught) == "HitAlreadyExists"
    assert HIT.objects.count() == 2
