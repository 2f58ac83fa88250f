"""Estimate: what publishing would cost, before anything is published."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal

from hits.channels.configured import NoSuchChannel
from hits.channels.configured import channel as channel_named
from hits.channels.contract import Channel, NoAnswer, Requirement
from hits.models import Study
from hits.pipeline.errors import Refused
from hits.pipeline.overview import pace_of

# The time for a page, by what a page takes.
AMPLE = 2


@dataclass(frozen=True, slots=True)
class Estimate:
    pages: int
    reward: Decimal
    fee: Decimal
    page_cost: Decimal
    total: Decimal
    minutes: float | None
    hourly: Decimal | None
    balance: Decimal | None
    warning: str


def estimate(
    *,
    study: Study,
    channel: str,
    reward: Decimal,
    pages: int,
    least_wage: Decimal | None = None,
    duration: timedelta | None = None,
    requirements: Sequence[Requirement] = (),
    is_silent: bool = False,
) -> Estimate:
    """What pages will cost, and what an hour will earn at the pace seen so far; with what is
    given for a page, whether that is enough. A marketplace that was silent a moment ago is not
    asked for the balance."""
    try:
        asked = channel_named(channel)
    except NoSuchChannel as unknown:
        raise Refused(str(unknown)) from None
    cost = asked.cost(pages=pages, reward=reward, requirements=requirements)
    seconds = pace_of(study).median_seconds if study.version is not None else None
    hourly = reward * 3600 / Decimal(str(seconds)) if seconds else None
    balance, warnings = (None, []) if is_silent else _balance_of(asked, cost.total)
    if least_wage is not None and hourly is not None and hourly < least_wage:
        warnings.append(
            f"An hour earns ${hourly:,.2f} at the pace seen so far, less than ${least_wage:,.2f}."
        )
    if too_short := haste_warning(study, seconds, duration):
        warnings.append(too_short)
    return Estimate(
        pages=pages,
        reward=reward,
        fee=cost.fee,
        page_cost=cost.page,
        total=cost.total,
        minutes=seconds / 60 if seconds else None,
        hourly=hourly.quantize(Decimal("0.01")) if hourly is not None else None,
        balance=balance,
        warning=" ".join(warnings),
    )


def haste_warning(study: Study, seconds: float | None, duration: timedelta | None) -> str:
    """Whoever's time runs out loses the HIT with what they did, so it should be ample: by what
    pages took, and before the first by what the researcher expects."""
    expected = study.version.expected_minutes if study.version is not None else 0
    needed = seconds or expected * 60
    if not needed or duration is None or duration.total_seconds() >= AMPLE * needed:
        return ""
    given = round(duration.total_seconds() / 60)
    takes = (
        f"Half of the pages took longer than {seconds / 60:.1f} minutes"
        if seconds
        else f"You expect a page to take {expected:,} minute{'' if expected == 1 else 's'}"
    )
    return (
        f"{takes}, and you give {given:,}: whoever is slower loses the HIT. Give at least twice as "
        "long as a page takes."
    )


def _balance_of(asked: Channel, needed: Decimal) -> tuple[Decimal | None, list[str]]:
    try:
        balance = asked.balance()
    except NoAnswer as silence:
        return None, [f"The marketplace {asked.name} does not answer: {silence}"]
    if balance is None or balance >= needed:
        return balance, []
    missing = f"${needed - balance:,.2f} are missing."
    return balance, [f"The account at {asked.name} has ${balance:,.2f}: {missing}"]
