"""What a worker sees on offer: searched, sorted, and in words why something cannot be accepted."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter

from hits.marketplace.eligibility import (
    ADULT,
    APPROVED_HITS,
    LOCALE,
    MASTERS,
    PERCENT_APPROVED,
    Requirement,
    Standing,
)
from hits.marketplace.models import QualificationType
from hits.marketplace.work import Offer

SORTS = {
    "newest": "Newest first",
    "reward": "Highest reward first",
    "time": "Shortest time first",
    "most": "Most HITs first",
}
_ORDERS = {
    "reward": (attrgetter("hit_type.reward"), True),
    "time": (attrgetter("hit_type.assignment_seconds"), False),
    "most": (attrgetter("hits"), True),
}
SYSTEM_NAMES = {
    APPROVED_HITS: "HITs approved",
    PERCENT_APPROVED: "Approval rate in percent",
    LOCALE: "Location",
    ADULT: "Adult content",
    **dict.fromkeys(MASTERS, "Masters"),
}
COMPARATORS = {
    "LessThan": "less than",
    "LessThanOrEqualTo": "at most",
    "GreaterThan": "more than",
    "GreaterThanOrEqualTo": "at least",
    "EqualTo": "exactly",
    "NotEqualTo": "not",
    "In": "one of",
    "NotIn": "none of",
}


@dataclass(frozen=True)
class Unmet:
    """Why a HIT cannot be accepted; `kind` is the qualification a worker could ask for."""

    words: str
    kind: QualificationType | None


def found(offers: Iterable[Offer], *, words: str, sort: str, qualified: bool) -> list[Offer]:
    """`offers` come newest first, and stay so where the order leaves them equal."""
    wanted = words.casefold().split()
    matching = [
        offer
        for offer in offers
        if (offer.may_accept or not qualified) and all(word in _text(offer) for word in wanted)
    ]
    if sort in _ORDERS:
        key, reverse = _ORDERS[sort]
        matching.sort(key=key, reverse=reverse)
    return matching


def _text(offer: Offer) -> str:
    kind = offer.hit_type
    parts = (kind.title, kind.description, kind.keywords, kind.requester.name)
    return " ".join(parts).casefold()


def reasons(offers: Sequence[Offer], standing: Standing) -> dict[int, list[Unmet]]:
    """By HIT type, all with the same number of queries."""
    wanted = {item["QualificationTypeId"] for offer in offers for item in offer.unmet}
    kinds = {
        kind.qualification_type_id: kind
        for kind in QualificationType.objects.filter(
            qualification_type_id__in=wanted - SYSTEM_NAMES.keys(), deleted_at__isnull=True
        ).select_related("requester")
    }
    return {offer.hit_type.pk: _reasons(offer, standing, kinds) for offer in offers}


def _reasons(
    offer: Offer, standing: Standing, kinds: Mapping[str, QualificationType]
) -> list[Unmet]:
    unmet = [_unmet(item, standing, kinds) for item in offer.unmet]
    if offer.hit_type.requester_id in standing.blocked_by:
        unmet.append(Unmet("This requester does not take work from you", None))
    return unmet


def _unmet(item: Requirement, standing: Standing, kinds: Mapping[str, QualificationType]) -> Unmet:
    type_id = item["QualificationTypeId"]
    kind = kinds.get(type_id)
    name = SYSTEM_NAMES.get(type_id) or (kind.name if kind else "A qualification that is gone")
    comparator = item["Comparator"]
    if comparator == "DoesNotExist":
        return Unmet(f"{name}: only for workers without it", None)
    if comparator == "Exists":
        return Unmet(f"{name}: needed", kind)
    score = standing.scores.get(type_id)
    yours = " ".join(standing.locale).strip() if type_id == LOCALE else score
    needed = f"{name}: {COMPARATORS[comparator]} {', '.join(_values(item))}"
    return Unmet(f"{needed}; you have {'none' if yours is None else yours}", kind)


def _values(item: Requirement) -> list[str]:
    places = [
        "-".join(filter(None, (place["Country"], place.get("Subdivision"))))
        for place in item.get("LocaleValues", [])
    ]
    return places or [str(value) for value in item.get("IntegerValues", [])]
