"""Golds: units whose answer people gave together become golds; and golds are retired.

A promoted gold is a unit of its own, so that what people said of the unit it comes from stays data.
Whoever judged that is never asked the gold."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from hits.models import Curation, Slot, Study, Unit, User
from hits.pipeline import jobs
from hits.pipeline.draw import ring_position
from hits.pipeline.errors import Closed, Refused
from hits.pipeline.remove import with_reason
from hits.pipeline.rules import rules_of
from hits.protocol import Protocol, protocol
from hits.records import Json

RECHECK = "recheck"
MOST_AT_ONCE = 2_000
BATCH = 1_000


@dataclass(frozen=True, slots=True)
class Promising:
    """A unit that people agree on, and the gold it would make."""

    unit: Unit
    pool: str
    gold: Json
    judgments: int
    agreement: float


def promising(
    *, study: Study, agreement: float = 1.0, judgments: int = 2, most: int = 50
) -> list[Promising]:
    """Units with so many used judgments of which so large a share would pass the gold that they
    make; those that most people judged first. What is a gold already is left out."""
    if judgments < 1 or not 1 <= most <= MOST_AT_ONCE:
        raise Refused("Ask for some judgments, and for some units.")
    units = Unit.objects.filter(study=study, counted__gte=judgments)
    found = _agreed_on(study, units, judgments, agreement)
    found.sort(key=lambda each: (-each.judgments, -each.agreement, each.unit.order_key))
    return found[:most]


def _agreed_on(
    study: Study, units: QuerySet[Unit], judgments: int, agreement: float
) -> list[Promising]:
    if not 0.5 < agreement <= 1:
        raise Refused("Ask for more than half of the judgments.")
    kind, _ = rules_of(study)
    fit = units.filter(gold__isnull=True, excluded=False, promoted__isnull=True)
    return [
        each
        for unit, answers in _judged(fit, judgments)
        if (each := _promise(kind, unit, answers)) is not None and each.agreement >= agreement
    ]


@transaction.atomic
def promote(
    *, study: Study, keys: Sequence[str], agreement: float, reason: str, by: User | None
) -> list[Unit]:
    """Make golds of these units, if people agree on each of them that much."""
    reason = with_reason(reason)
    if study.state == Study.State.DRAFT:
        raise Closed("Open the study first: golds are promoted from judged units.")
    # One after the other, as wherever units are made.
    Study.objects.select_for_update(no_key=True).get(pk=study.pk)
    wanted = list(dict.fromkeys(keys))
    if not 1 <= len(wanted) <= MOST_AT_ONCE:
        raise Refused(f"Name 1 to {MOST_AT_ONCE:,} units.")
    units = Unit.objects.filter(study=study, key__in=wanted, gold__isnull=True)
    ready = {each.unit.key: each for each in _agreed_on(study, units, 1, agreement)}
    _refuse_unfit(units, [key for key in wanted if key not in ready])
    made = Unit.objects.bulk_create(_gold(study, ready[key]) for key in wanted)
    Curation.objects.bulk_create(
        Curation(
            study=study,
            kind="gold",
            unit=unit,
            units=1,
            details={
                "from": key,
                "judgments": ready[key].judgments,
                "agreement": ready[key].agreement,
            },
            reason=reason,
            by=by,
        )
        for key, unit in zip(wanted, made, strict=True)
    )
    return made


def _refuse_unfit(units: QuerySet[Unit], unfit: Sequence[str]) -> None:
    """By the first reason that some of them have."""
    known = set(units.values_list("key", flat=True))
    are_golds = set(units.filter(promoted__isnull=False).values_list("key", flat=True))
    gone = set(units.filter(excluded=True).values_list("key", flat=True))
    for why, keys in [
        ("The study asks about no unit", [key for key in unfit if key not in known]),
        ("A gold was made already of", [key for key in unfit if key in are_golds]),
        ("Restore first what was removed from the study:", [key for key in unfit if key in gone]),
        ("People do not agree that much on", unfit),
    ]:
        if keys:
            raise Refused(f"{why} {', '.join(keys[:5])[:200]}.")


@transaction.atomic
def retire(*, study: Study, key: str, reason: str, by: User | None) -> Unit:
    """No page has this gold any more; what was answered to it stays on record, and a job checks the
    pages that failed it again without it."""
    reason = with_reason(reason)
    gold = (
        Unit.objects.select_for_update(no_key=True)
        .filter(study=study, key=key, gold__isnull=False)
        .first()
    )
    if gold is None:
        raise Refused(f"The study has no gold {key[:100]}.")
    if not gold.excluded:
        Curation.objects.create(
            study=study, kind="retire", unit=gold, units=1, reason=reason, by=by
        )
        Unit.objects.filter(pk=gold.pk).update(excluded=True)
        gold.excluded = True
        again = {"unit": gold.pk, "by": None if by is None else by.pk}
        jobs.ask(kind=RECHECK, arguments=again, by=by, study=study)
    return gold


def _judged(chosen: QuerySet[Unit], judgments: int) -> Iterator[tuple[Unit, list[Json]]]:
    units = chosen.order_by("order_key")
    used = Slot.objects.filter(
        state=Slot.State.COUNTED, assignment__use="used", judgment__answer__isnull=False
    )
    for first in range(0, units.count(), BATCH):
        some = {unit.pk: unit for unit in units[first : first + BATCH]}
        answers: dict[int, list[Json]] = {pk: [] for pk in some}
        for unit, answer in used.filter(unit__in=some).values_list("unit_id", "judgment__answer"):
            answers[unit].append(answer or {})
        yield from ((some[pk], said) for pk, said in answers.items() if len(said) >= judgments)


def _promise(kind: Protocol[Any, Any], unit: Unit, answers: list[Json]) -> Promising | None:
    found = kind.gold_of(answers)
    if found is None:
        return None
    pool, gold = found
    passed = sum(kind.check(answer, gold) for answer in answers)
    return Promising(unit, pool, gold, len(answers), passed / len(answers))


def _gold(study: Study, each: Promising) -> Unit:
    key = f"gold/{each.unit.key}"
    if len(key) > 100:
        raise Refused(f"The unit {each.unit.key} has too long a name to become a gold.")
    return Unit(
        study=study,
        key=key,
        pool=each.pool,
        payload=each.unit.payload,
        gold=each.gold,
        order_key=ring_position(study.seed, key),
        wanted=each.unit.wanted,
        promoted_from=each.unit,
    )


def promotes(study: Study) -> bool:
    """Whether answers of this protocol can make a gold."""
    kind = protocol(study.protocol)
    return type(kind).gold_of is not Protocol.gold_of
