"""Rejudge: chosen units are asked again, and samples of units are asked of more people."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import F, QuerySet, Value
from django.db.models.functions import MD5, Concat, Greatest

from hits.models import Curation, Slot, Study, Unit, User
from hits.pipeline.errors import Closed, Refused
from hits.pipeline.remove import with_reason
from hits.pipeline.rules import judged_pool

MOST_WANTED = 100
MOST_AT_ONCE = 20_000
KEYS_KEPT = 1_000


@dataclass(frozen=True, slots=True)
class Again:
    """How many units are asked again, and how many judgments were set aside for it."""

    units: int
    set_aside: int = 0


@transaction.atomic
def rejudge(
    *,
    study: Study,
    keys: Sequence[str],
    reason: str,
    by: User | None,
    more: int = 0,
    set_aside: bool = False,
) -> Again:
    """Ask for `more` judgments of these units, or anew for those they have, which are set aside
    and stay on record; or both. Nobody is asked a second time."""
    reason = with_reason(reason)
    _may_ask(study)
    if not 0 <= more <= MOST_WANTED or not (more or set_aside):
        raise Refused("Say how many more judgments you want, or that earlier ones are set aside.")
    units = _locked(_chosen(study, keys))
    aside = _set_aside(units) if set_aside else {}
    for unit in units:
        unit.wanted = min(unit.wanted + more, MOST_WANTED)
        unit.counted -= aside.get(unit.pk, 0)
    Unit.objects.bulk_update(units, ["wanted", "counted"], batch_size=1000)
    again = Again(len(units), sum(aside.values()))
    details = {
        "more": more,
        "judgments_set_aside": again.set_aside,
        "units": [unit.key for unit in units[:KEYS_KEPT]],
    }
    _record(study, "rejudge", len(units), details, reason, by)
    return again


@transaction.atomic
def overlap(
    *, study: Study, units: int, judgments: int, seed: int, reason: str, by: User | None
) -> Again:
    """So many units, drawn by the seed, want so many judgments: agreement can be measured on them.
    Drawn again by the same seed they are the same."""
    reason = with_reason(reason)
    _may_ask(study)
    if units < 1 or not 2 <= judgments <= MOST_WANTED:
        raise Refused(f"An overlap sample has units with 2 to {MOST_WANTED} judgments each.")
    pool = Unit.objects.filter(
        study=study, pool=judged_pool(study), gold__isnull=True, excluded=False
    )
    by_chance = MD5(Concat(Value(f"{seed}/"), F("key")))
    drawn = pool.alias(place=by_chance).order_by("place").values_list("pk", flat=True)
    chosen = list(drawn[: min(units, MOST_AT_ONCE)])
    if not chosen:
        raise Refused("The study has no units that could be drawn.")
    _locked(Unit.objects.filter(pk__in=chosen))
    Unit.objects.filter(pk__in=chosen).update(wanted=Greatest(F("wanted"), judgments))
    details = {"units": len(chosen), "judgments": judgments, "seed": seed}
    _record(study, "overlap", len(chosen), details, reason, by)
    return Again(len(chosen))


def _may_ask(study: Study) -> None:
    if study.state == Study.State.DRAFT:
        raise Closed("Open the study first.")
    if study.state == Study.State.CLOSED:
        raise Closed("This study is closed: reopen it to ask for more judgments.")


def _chosen(study: Study, keys: Sequence[str]) -> QuerySet[Unit]:
    wanted = list(dict.fromkeys(key.strip() for key in keys if key.strip()))
    if not wanted:
        raise Refused("Name the units, by their keys.")
    if len(wanted) > MOST_AT_ONCE:
        raise Refused(f"At most {MOST_AT_ONCE:,} units at once.")
    units = Unit.objects.filter(study=study, key__in=wanted, gold__isnull=True)
    known = set(units.values_list("key", flat=True))
    unknown = [key for key in wanted if key not in known]
    if unknown:
        raise Refused(f"The study asks about no unit {', '.join(unknown[:5])[:200]}.")
    gone = list(units.filter(excluded=True).values_list("key", flat=True)[:5])
    if gone:
        raise Refused(f"Restore first what was removed from the study: {', '.join(gone)[:200]}.")
    return units


def _locked(units: QuerySet[Unit]) -> list[Unit]:
    """In the order in which units are locked everywhere."""
    return list(units.order_by("order_key").select_for_update(no_key=True))


def _set_aside(units: Sequence[Unit]) -> dict[int, int]:
    """What counted counts no more; how many that were, by unit."""
    slots = Slot.objects.filter(unit__in=units, state=Slot.State.COUNTED)
    counts: dict[int, int] = {}
    for unit in slots.values_list("unit_id", flat=True):
        counts[unit] = counts.get(unit, 0) + 1
    slots.update(state=Slot.State.SET_ASIDE)
    return counts


def _record(
    study: Study, kind: str, units: int, details: dict[str, Any], reason: str, by: User | None
) -> None:
    Curation.objects.create(
        study=study, kind=kind, units=units, details=details, reason=reason, by=by
    )
