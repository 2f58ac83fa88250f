"""Rewards, fees and bonuses. A HIT holds what its assignments may cost from the start; the hold
becomes a payment on approval and is let go on rejection, expiry and disposal. Callers hold the
HIT's row; a requester's row is always the last one locked."""

from decimal import ROUND_HALF_UP, Decimal

from django.db.models import F, QuerySet

from hits.marketplace.errors import insufficient_funds
from hits.marketplace.models import HIT, Assignment, Bonus, Payment, Requester

CENT = Decimal("0.01")
FEE = Decimal("0.20")
FEE_OF_MANY = Decimal("0.40")
MANY = 10


def fee(amount: Decimal, *, assignments: int = 1) -> Decimal:
    """20% of a reward or a bonus, 40% of a reward from ten assignments a HIT on; never less than
    one cent."""
    rate = FEE_OF_MANY if assignments >= MANY else FEE
    return max(CENT, (amount * rate).quantize(CENT, ROUND_HALF_UP))


def cost(hit: HIT) -> Decimal:
    reward = hit.hit_type.reward
    return reward + fee(reward, assignments=hit.max_assignments)


def deposit(*, requester: Requester, amount: Decimal) -> None:
    Requester.objects.filter(pk=requester.pk).update(balance=F("balance") + amount)
    Payment.objects.create(requester=requester, kind=Payment.Kind.DEPOSIT, amount=amount)


def reserve(hit: HIT, assignments: int) -> None:
    hold = cost(hit) * assignments
    if not _with_funds(hit.requester_id, hold).update(held=F("held") + hold):
        raise insufficient_funds()
    hit.reserved += assignments
    hit.save(update_fields=["reserved"])


def release(hit: HIT, assignments: int) -> None:
    if assignments:
        _let_go(hit, assignments)


def pay_reserved(assignment: Assignment) -> None:
    """The reward and the fee of an assignment whose place holds them."""
    _let_go(assignment.hit, 1)
    _pay_reward(assignment)


def pay_anew(assignment: Assignment) -> None:
    """The same after a rejection had let go what was held."""
    _pay_reward(assignment)


def pay_bonus(bonus: Bonus) -> None:
    requester_id = bonus.assignment.hit.requester_id
    charge = fee(bonus.amount)
    _spend(requester_id, bonus.amount + charge)
    _enter(
        Payment(kind=Payment.Kind.BONUS, amount=bonus.amount, worker=bonus.worker),
        Payment(kind=Payment.Kind.FEE, amount=charge),
        requester_id=requester_id,
        assignment=bonus.assignment,
        bonus=bonus,
    )


def _pay_reward(assignment: Assignment) -> None:
    hit = assignment.hit
    reward = hit.hit_type.reward
    charge = cost(hit) - reward
    _spend(hit.requester_id, reward + charge)
    rows = [Payment(kind=Payment.Kind.FEE, amount=charge)]
    if reward:
        rows.append(Payment(kind=Payment.Kind.REWARD, amount=reward, worker=assignment.worker))
    _enter(*rows, requester_id=hit.requester_id, assignment=assignment, bonus=None)


def _let_go(hit: HIT, assignments: int) -> None:
    Requester.objects.filter(pk=hit.requester_id).update(held=F("held") - cost(hit) * assignments)
    hit.reserved -= assignments
    hit.save(update_fields=["reserved"])


def _spend(requester_id: int, amount: Decimal) -> None:
    if not _with_funds(requester_id, amount).update(balance=F("balance") - amount):
        raise insufficient_funds()


def _with_funds(requester_id: int, amount: Decimal) -> QuerySet[Requester]:
    return Requester.objects.filter(pk=requester_id, balance__gte=F("held") + amount)


def _enter(*rows: Payment, requester_id: int, assignment: Assignment, bonus: Bonus | None) -> None:
    for row in rows:
        row.requester_id = requester_id
        row.assignment = assignment
        row.bonus = bonus
    Payment.objects.bulk_create(rows)
