"""What MTurk's pricing takes for a page or a bonus, to the cent."""

from decimal import ROUND_HALF_UP, Decimal

CENT = Decimal("0.01")
SHARE = Decimal("0.20")
SHARE_OF_MANY = Decimal("0.20")
SHARE_OF_MASTERS = Decimal("0.05")
MANY = 10


def fee(reward: Decimal, *, assignments: int = 1, masters: bool = False) -> Decimal:
    """Of one assignment: 20% of the reward, 20% more where a HIT has ten or more assignments,
    5% more for Masters, and never less than a cent."""
    share = SHARE
    if assignments >= MANY:
        share += SHARE_OF_MANY
    if masters:
        share += SHARE_OF_MASTERS
    return max(CENT, to_the_cent(reward * share))


def bonus_fee(amount: Decimal) -> Decimal:
    return max(CENT, to_the_cent(amount * SHARE))


def to_the_cent(amount: Decimal) -> Decimal:
    return amount.quantize(CENT, ROUND_HALF_UP)
