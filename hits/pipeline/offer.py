"""Offer: what a researcher asks of workers becomes terms."""

import re
from collections.abc import Iterable, Sequence
from datetime import timedelta
from decimal import Decimal

from hits.channels.contract import Requirement, Terms
from hits.pipeline.countries import CODES

# A country, or a state of one: US, US-CA.
COUNTRY = r"^[A-Z]{2}(-[A-Z0-9]{1,3})?$"
_NOT_IN_LINES = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ufffe\uffff]")
_NOT_IN_A_LINE = re.compile(r"[\x00-\x1f\x7f-\x9f\ufffe\uffff]")


# A qualification of the marketplace by its id: to have, not to have, or with a score; or masters.
_QUALIFICATION = re.compile(
    r"(?P<no>!)?\s*(?P<id>[A-Za-z0-9]{1,64})(?:\s*(?P<how>[<>]=?|=)\s*(?P<score>\d{1,9}))?"
)
_COMPARATORS = {
    ">=": "GreaterThanOrEqualTo", ">": "GreaterThan", "=": "EqualTo", "<": "LessThan",
    "<=": "LessThanOrEqualTo",
}  # fmt: skip


def requirement_of(text: str) -> Requirement | None:
    """A qualification as a researcher writes it: 3ABC, !3ABC, 3ABC >= 80; None if it is not one."""
    found = _QUALIFICATION.fullmatch(text.strip())
    if found is None or (found["no"] and found["how"]):
        return None
    named = Requirement.MASTERS if found["id"].lower() == Requirement.MASTERS else found["id"]
    if found["how"]:
        return Requirement(named, _COMPARATORS[found["how"]], (int(found["score"]),))
    return Requirement(named, "DoesNotExist" if found["no"] else "Exists")


def unknown_countries(codes: Iterable[str]) -> list[str]:
    """Those that are written well and do not exist."""
    return [code for code in codes if code.partition("-")[0] not in CODES]


def what_cannot_be_shown(text: str, *, in_lines: bool = False) -> str:
    """Why a marketplace cannot show this text; empty where it can."""
    found = (_NOT_IN_LINES if in_lines else _NOT_IN_A_LINE).search(text)
    if found is None:
        return ""
    return (
        f"Character {found.start() + 1} is a control character (U+{ord(found[0]):04X}). Delete it."
    )


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
    qualifications: Sequence[str] = (),
) -> Terms:
    requirements = []
    if approved_hits is not None:
        requirements.append(_at_least(Requirement.APPROVED_HITS, approved_hits))
    if approval_rate is not None:
        requirements.append(_at_least(Requirement.APPROVAL_RATE, approval_rate))
    if countries:
        requirements.append(Requirement(Requirement.LOCALE, "In", tuple(countries)))
    requirements += [each for text in qualifications if (each := requirement_of(text))]
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
