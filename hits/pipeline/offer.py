"""Offer: what a researcher asks of workers becomes terms."""

from collections.abc import Sequence
from datetime import timedelta
from decimal import Decimal

from hits.channels.contract import Requirement, Terms

# A country, or a state of one: US, US-CA.
COUNTRY = r"^[A-Z]{2}(-[A-Z0-9]{1,3})?$"


def terms_of(
    *,
    title: str,
    description: str,
    keywords: str,
    reward: Decimal,
    minutes: int,
    days: int,
    approval_days: int,
    approved_hits: int | None,
    approval_rate: int | None,
    countries: Sequence[str],
) -> Terms:
    requirements = []
    if approved_hits is not None:
        requirements.append(_at_least(Requirement.APPROVED_HITS, approved_hits))
    if approval_rate is not None:
        requirements.append(_at_least(Requirement.APPROVAL_RATE, approval_rate))
    if countries:
        requirements.append(Requirement(Requirement.LOCALE, "In", tuple(countries)))
    return Terms(
        title=title,
        description=description,
        keywords=keywords,
        reward=reward,
        duration=timedelta(minutes=minutes),
        lifetime=timedelta(days=days),
        auto_approval=timedelta(days=approval_days),
        requirements=tuple(requirements),
    )


def _at_least(qualification: str, value: int) -> Requirement:
    return Requirement(qualification, "GreaterThanOrEqualTo", (value,))
