"""Who may see, preview and accept what: qualification requirements and blocks."""

import operator
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Q

from hits.marketplace.models import Assignment, Block, HITType, Qualification, Worker

APPROVED_HITS = "00000000000000000040"
PERCENT_APPROVED = "000000000000000000L0"
LOCALE = "00000000000000000071"
ADULT = "00000000000000000060"
# In production and in the sandbox; the marketplace has no masters.
MASTERS = ("2F1QJWKUDD8XADTFD2Q0G6UTO95ALH", "2ARFPLSP75KLA8M8DH1HTEQVJT3SY6")
SYSTEM = {APPROVED_HITS, PERCENT_APPROVED, LOCALE, ADULT, *MASTERS}
# A rate says nothing before this many decisions, so it is 100% until then.
DECISIONS_FOR_A_RATE = 100

COMPARISONS: Mapping[str, Callable[[int, int], bool]] = {
    "LessThan": operator.lt,
    "LessThanOrEqualTo": operator.le,
    "GreaterThan": operator.gt,
    "GreaterThanOrEqualTo": operator.ge,
    "EqualTo": operator.eq,
    "NotEqualTo": operator.ne,
}

Requirement = Mapping[str, Any]
Locale = tuple[str, str]


@dataclass(frozen=True)
class Standing:
    """What a worker brings to a requirement."""

    scores: Mapping[str, int]
    locale: Locale
    blocked_by: frozenset[int]

    @classmethod
    def of(cls, worker: Worker) -> "Standing":
        own = Qualification.objects.filter(
            worker=worker, is_granted=True, kind__deleted_at__isnull=True
        ).values_list("kind__qualification_type_id", "value")
        return cls(
            scores=dict(own) | system_scores(worker),
            locale=(worker.country, worker.subdivision),
            blocked_by=frozenset(
                Block.objects.filter(worker=worker).values_list("requester_id", flat=True)
            ),
        )

    def meets(self, requirement: Requirement) -> bool:
        kind, comparator = requirement["QualificationTypeId"], requirement["Comparator"]
        if kind == LOCALE:
            return self._is_from(comparator, requirement.get("LocaleValues", []))
        return _compares(self.scores.get(kind), comparator, requirement.get("IntegerValues", []))

    def unmet(self, hit_type: HITType, actions: Iterable[str] | None = None) -> list[Requirement]:
        """The requirements not met, of those that guard one of these actions."""
        return [
            requirement
            for requirement in hit_type.requirements
            if (actions is None or guarded(requirement) in actions) and not self.meets(requirement)
        ]

    def may_accept(self, hit_type: HITType) -> bool:
        return hit_type.requester_id not in self.blocked_by and not self.unmet(hit_type)

    def may_preview(self, hit_type: HITType) -> bool:
        return not self.unmet(hit_type, ("PreviewAndAccept", "DiscoverPreviewAndAccept"))

    def may_discover(self, hit_type: HITType) -> bool:
        return not self.unmet(hit_type, ("DiscoverPreviewAndAccept",))

    def _is_from(self, comparator: str, places: Iterable[Mapping[str, str]]) -> bool:
        if comparator in {"Exists", "DoesNotExist"}:
            return comparator == "Exists"
        country, subdivision = self.locale
        here = any(
            place["Country"] == country and place.get("Subdivision", subdivision) == subdivision
            for place in places
        )
        return here == (comparator in {"EqualTo", "In"})


def guarded(requirement: Requirement) -> str:
    """Which actions need the requirement: by its own word, or by the older RequiredToPreview."""
    older = "PreviewAndAccept" if requirement.get("RequiredToPreview") else "Accept"
    action: str = requirement.get("ActionsGuarded", older)
    return action


def system_scores(worker: Worker) -> dict[str, int]:
    decided = Assignment.objects.filter(worker=worker).aggregate(
        approved=Count("id", filter=Q(status=Assignment.Status.APPROVED)),
        rejected=Count("id", filter=Q(status=Assignment.Status.REJECTED)),
    )
    approved = worker.approved_before + decided["approved"]
    decisions = approved + worker.rejected_before + decided["rejected"]
    rate = 100 if decisions < DECISIONS_FOR_A_RATE else approved * 100 // decisions
    return {APPROVED_HITS: approved, PERCENT_APPROVED: rate, ADULT: 1}


def _compares(score: int | None, comparator: str, values: list[int]) -> bool:
    if comparator in {"Exists", "DoesNotExist"}:
        return (score is not None) == (comparator == "Exists")
    if score is None:
        return False
    if comparator in {"In", "NotIn"}:
        return (score in values) == (comparator == "In")
    return COMPARISONS[comparator](score, values[0])
