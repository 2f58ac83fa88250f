"""Random lives of HITs: whatever is done in whatever order, counts, states and money agree."""

from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from random import Random
from typing import Any

import pytest
from django.db import transaction
from django.db.models import Q, Sum
from django.utils import timezone

from hits.marketplace import money, work
from hits.marketplace.errors import Refused, RequestError
from hits.marketplace.models import HIT, Assignment, Payment, Requester, Worker
from hits.marketplace.operations import OPERATIONS
from tests.marketplace import world

STEPS = 120


class Walk:
    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.owner = world.requester(balance="40.00")
        self.workers = [world.worker() for _ in range(4)]
        kinds = [world.hit_type(self.owner, reward=reward) for reward in ("0.65", "0.01", "2.00")]
        self.hits = [
            world.hit(kind, assignments=size) for kind, size in zip(kinds, (1, 3, 10), strict=True)
        ]
        self.kinds = kinds
        self.done: Counter[str] = Counter()

    def step(self) -> None:
        action = self.random.choice(ACTIONS)
        try:
            with transaction.atomic():
                action(self)
            self.done[action.__name__] += 1
        except (Refused, RequestError):
            pass

    def hit(self) -> HIT:
        return self.random.choice(self.hits)

    def worker(self) -> Worker:
        return self.random.choice(self.workers)

    def assignment(self, *statuses: str) -> Assignment:
        found = Assignment.objects.filter(status__in=statuses).order_by("id")
        if not found:
            raise Refused("nothing", "there is none")
        return self.random.choice(list(found))

    def call(self, operation: str, **given: Any) -> None:
        OPERATIONS[operation](Requester.objects.get(pk=self.owner.pk), given)


def accepts(walk: Walk) -> None:
    work.accept(worker=walk.worker(), hit=walk.hit())


def returns(walk: Walk) -> None:
    work.give_back(assignment=walk.assignment("Accepted", "Submitted"))


def submits(walk: Walk) -> None:
    work.submit(assignment=walk.assignment("Accepted", "Returned"), answers=[("a", "b")])


def runs_out_of_time(walk: Walk) -> None:
    mine = walk.assignment("Accepted")
    Assignment.objects.filter(pk=mine.pk).update(deadline=timezone.now())
    work.settle_due()


def is_approved_by_time(walk: Walk) -> None:
    mine = walk.assignment("Submitted")
    Assignment.objects.filter(pk=mine.pk).update(auto_approval_at=timezone.now())
    work.settle_due()


def expires(walk: Walk) -> None:
    HIT.objects.filter(pk=walk.hit().pk).update(expires_at=timezone.now())
    work.settle_due()


def is_given_time(walk: Walk) -> None:
    later = timezone.now() + timedelta(minutes=walk.random.choice([-5, 5]))
    walk.call("UpdateExpirationForHIT", HITId=walk.hit().hit_id, ExpireAt=later)


def is_extended(walk: Walk) -> None:
    walk.call(
        "CreateAdditionalAssignmentsForHIT",
        HITId=walk.hit().hit_id,
        NumberOfAdditionalAssignments=walk.random.choice([1, 2, 8]),
    )


def changes_type(walk: Walk) -> None:
    kind = walk.random.choice(walk.kinds)
    walk.call("UpdateHITTypeOfHIT", HITId=walk.hit().hit_id, HITTypeId=kind.hit_type_id)


def is_approved(walk: Walk) -> None:
    mine = walk.assignment("Submitted", "Approved", "Accepted")
    walk.call("ApproveAssignment", AssignmentId=mine.assignment_id)


def is_rejected(walk: Walk) -> None:
    mine = walk.assignment("Submitted", "Approved")
    walk.call("RejectAssignment", AssignmentId=mine.assignment_id, RequesterFeedback="no")


def is_forgiven(walk: Walk) -> None:
    mine = walk.assignment("Rejected")
    walk.call("ApproveAssignment", AssignmentId=mine.assignment_id, OverrideRejection=True)


def is_rewarded(walk: Walk) -> None:
    mine = walk.assignment("Submitted", "Approved")
    walk.call(
        "SendBonus",
        WorkerId=mine.worker.worker_id,
        AssignmentId=mine.assignment_id,
        BonusAmount="0.07",
        Reason="well done",
    )


def is_reviewed(walk: Walk) -> None:
    walk.call("UpdateHITReviewStatus", HITId=walk.hit().hit_id, Revert=walk.random.random() < 0.5)


def is_deleted(walk: Walk) -> None:
    if walk.random.random() < 0.05:
        walk.call("DeleteHIT", HITId=walk.hit().hit_id)


ACTIONS: list[Callable[[Walk], None]] = [
    *[accepts, submits] * 3,
    returns,
    runs_out_of_time,
    is_approved_by_time,
    expires,
    *[is_given_time] * 2,
    is_extended,
    changes_type,
    is_approved,
    is_rejected,
    is_forgiven,
    is_rewarded,
    is_reviewed,
    is_deleted,
]


def assert_agrees(hit: HIT) -> None:
    counts = Counter(hit.assignments.values_list("status", flat=True))
    assert hit.pending == counts["Accepted"]
    assert hit.submitted == counts["Submitted"]
    assert hit.completed == counts["Approved"] + counts["Rejected"]
    is_offered = hit.free > 0 and not hit.has_expired
    if hit.status == HIT.Status.DISPOSED:
        assert hit.reserved == 0
        return
    assert hit.reserved == hit.pending + hit.submitted + (0 if hit.has_expired else hit.free)
    if is_offered:
        assert hit.status == HIT.Status.ASSIGNABLE
    elif hit.pending:
        assert hit.status == HIT.Status.UNASSIGNABLE
    else:
        assert hit.status in {HIT.Status.REVIEWABLE, HIT.Status.REVIEWING}


def assert_money_agrees(owner: Requester) -> None:
    owner.refresh_from_db()
    hits = HIT.objects.filter(requester=owner).select_related("hit_type")
    assert owner.held == sum((money.cost(hit) * hit.reserved for hit in hits), Decimal(0))
    deposited, spent = (
        Payment.objects.filter(is_deposit, requester=owner).aggregate(sum=Sum("amount"))["sum"] or 0
        for is_deposit in (Q(kind="deposit"), ~Q(kind="deposit"))
    )
    assert owner.balance == deposited - spent


@pytest.mark.django_db
@pytest.mark.parametrize(
    "seed", [0, 1, 2, *(pytest.param(seed, marks=pytest.mark.deep) for seed in range(3, 40))]
)
def test_counts_states_and_money_agree_after_every_step(seed: int) -> None:
    walk = Walk(seed)
    for _ in range(STEPS):
        walk.step()
        for hit in HIT.objects.filter(requester=walk.owner):
            assert_agrees(hit)
        assert_money_agrees(walk.owner)
    assert walk.done["accepts"]
    paid = Assignment.objects.filter(status="Approved").count()
    assert Payment.objects.filter(kind="reward").count() == paid
