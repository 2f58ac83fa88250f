from decimal import Decimal

import pytest
from django.db import DatabaseError, IntegrityError, transaction

from hits.marketplace import deciding, money, work
from hits.marketplace.errors import RequestError
from hits.marketplace.models import Payment, Requester
from tests.marketplace import world

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("reward", "assignments", "fee"),
    [
        ("0.65", 1, "0.13"),
        ("0.65", 9, "0.13"),
        ("0.65", 10, "0.26"),
        ("1.40", 1, "0.28"),
        ("0.01", 1, "0.01"),
        ("0.01", 10, "0.01"),
        ("0.05", 1, "0.01"),
        ("0.07", 1, "0.01"),
        ("0.08", 1, "0.02"),
        ("0.03", 10, "0.01"),
        ("0.04", 10, "0.02"),
        ("0.00", 1, "0.01"),
        ("100.00", 9, "20.00"),
        ("100.00", 10, "40.00"),
    ],
)
def test_the_fee_of_an_assignment(reward: str, assignments: int, fee: str) -> None:
    assert money.fee(Decimal(reward), assignments=assignments) == Decimal(fee)
    hit = world.hit(
        world.hit_type(world.requester(balance="5000.00"), reward=reward), assignments=assignments
    )
    assert money.cost(hit) == Decimal(reward) + Decimal(fee)


def test_sixty_five_cents_cost_seventy_eight() -> None:
    owner, worker = world.requester(balance="1.00"), world.worker()
    assignment = work.accept(worker=worker, hit=world.hit(world.hit_type(owner, reward="0.65")))
    submitted = work.submit(assignment=assignment, answers=[])
    deciding.approve(submitted, feedback="")
    owner.refresh_from_db()
    assert (owner.balance, owner.held) == (Decimal("0.22"), Decimal(0))
    ledger = {row.kind: row.amount for row in owner.payments.all()}
    assert ledger == {
        "deposit": Decimal("1.00"),
        "reward": Decimal("0.65"),
        "fee": Decimal("0.13"),
    }


def test_a_hit_that_cannot_be_paid_is_not_made() -> None:
    owner = world.requester(balance="7.80")
    kind = world.hit_type(owner)
    with pytest.raises(RequestError, match="insufficient funds"):
        world.hit(kind, assignments=11)
    world.hit(kind, assignments=8)
    with pytest.raises(RequestError, match="insufficient funds"):
        world.hit(kind, assignments=3)


def test_the_database_refuses_to_hold_more_than_there_is() -> None:
    owner = world.requester(balance="1.00")
    with pytest.raises(IntegrityError, match="requester_can_pay"), transaction.atomic():
        Requester.objects.filter(pk=owner.pk).update(held=Decimal("1.01"))


def test_the_ledger_is_only_added_to() -> None:
    world.requester()
    with pytest.raises(DatabaseError, match="only ever added"), transaction.atomic():
        Payment.objects.update(amount=1)
    with pytest.raises(DatabaseError, match="only ever added"), transaction.atomic():
        Payment.objects.all().delete()
