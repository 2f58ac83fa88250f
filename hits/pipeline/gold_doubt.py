"""Gold doubt: golds that good people fail are put before a person, who keeps or retires them."""

import json
from dataclasses import dataclass

from django.db import transaction
from django.db.models import QuerySet

from hits.analysis.signals.golds import GoldRecord
from hits.boxes import Marked
from hits.models import Assignment, GoldDecision, Slot, Study, Unit, User
from hits.pipeline.check import check_again
from hits.pipeline.doubt import note
from hits.pipeline.errors import Closed, Refused
from hits.pipeline.evidence import SEPARATOR, Side, parts_of
from hits.pipeline.gold_failures import keep_found, last_kept, records_of
from hits.pipeline.golds import retire
from hits.pipeline.review import record, refuse_reason
from hits.pipeline.rules import quality_of
from hits.pipeline.show import items_of
from hits.pipeline.statements import rows
from hits.protocol import protocol
from hits.records import ImageShown

LOOK_AGAIN = "A gold that it failed was retired, and it failed no other: it waits for another look."


@dataclass(frozen=True, slots=True)
class GoldInDoubt:
    """A gold, what it shows and expects, what people chose, and how it fared."""

    unit: Unit
    record: GoldRecord
    images: list[ImageShown]
    texts: list[str]
    sides: list[Side]
    marks: list[Marked]
    expected: str
    given: list[tuple[str, int]]
    kept: GoldDecision | None
    why_not_doubted: str


def described(study: Study, records: list[GoldRecord]) -> list[GoldInDoubt]:
    """The study comes with its version."""
    assert study.version is not None
    kind = protocol(study.protocol)
    wording = kind.wording_model.model_validate(study.version.wording)
    units = Unit.objects.in_bulk([each.gold for each in records])
    items = items_of(kind, [unit.payload for unit in units.values()])
    given = _given(list(units))
    kept = last_kept(list(units))
    quality = quality_of(study)
    limits = quality.gold_doubt, quality.level
    arranged = dict(
        Slot.objects.filter(unit__in=units)
        .order_by("unit", "pk")
        .distinct("unit")
        .values_list("unit", "shown")
    )
    found = []
    for each in records:
        unit = units[each.gold]
        assert unit.gold is not None
        order = arranged.get(unit.pk)
        shown = parts_of(kind.show(unit.payload, order, items))
        answers: dict[str, int] = {}
        for answer, count in given.get(unit.pk, []):
            named = kind.named(answer, unit.payload, order)
            words = kind.describe(named, wording).partition(SEPARATOR)[0]
            answers[words] = answers.get(words, 0) + count
        found.append(
            GoldInDoubt(
                unit=unit,
                record=each,
                images=shown.images,
                texts=shown.texts,
                sides=shown.sides,
                marks=shown.marks,
                expected=kind.describe(kind.named(unit.gold, unit.payload, order), wording),
                given=sorted(answers.items(), key=lambda pair: -pair[1]),
                kept=kept.get(unit.pk),
                why_not_doubted="" if each.is_doubtful(*limits) else each.why_not_doubted(),
            )
        )
    return found


_GIVEN = """
    SELECT s.unit_id, j.answer, count(*)
    FROM hits_slot s JOIN hits_judgment j ON j.slot_id = s.id AND j.answer IS NOT NULL
    JOIN hits_assignment a ON a.id = s.assignment_id AND NOT a.is_training
    WHERE s.unit_id = ANY (%(units)s) GROUP BY 1, 2
"""


def _given(units: list[int]) -> dict[int, list[tuple[dict[str, object], int]]]:
    found: dict[int, list[tuple[dict[str, object], int]]] = {}
    for unit, answer, count in rows(_GIVEN, {"units": units}):
        found.setdefault(unit, []).append((json.loads(answer), count))
    return found


def decide(*, study: Study, unit: Unit, value: str, reason: str, by: User) -> GoldDecision:
    """Keep a gold, or retire it: nobody is asked it any more, and a job checks the pages that
    failed it again without it. The study comes with its version."""
    refuse_reason(reason)
    if value not in GoldDecision.Value.values:
        raise Refused("A gold is kept or retired.")
    records = {each.gold: each for each in records_of(study)}
    with transaction.atomic():
        locked = Unit.objects.select_for_update(no_key=True).get(pk=unit.pk)
        if locked.gold is None:
            raise Refused("This unit is no gold.")
        if locked.excluded:
            raise Closed("This gold is retired already.")
        now = records.get(locked.pk)
        made = GoldDecision.objects.create(
            unit=locked,
            value=value,
            answered=now.good_answered if now else 0,
            failed=now.good_failed if now else 0,
            reason=reason.strip(),
            by=by,
        )
        if value == GoldDecision.Value.RETIRED:
            retire(study=study, key=locked.key, reason=reason, by=by)
        keep_found(study)
    return made


def recheck(*, unit: Unit, by: User | None) -> dict[str, int]:
    """Check the pages again that failed a gold which is retired since; each by itself, so that a
    job that was killed goes on with the rest."""
    pages = _that_failed_some(unit)
    cleared = sum(_check_again(pk, by) for pk in pages)
    note([unit.study_id])
    return {"checked": len(pages), "cleared": cleared}


def _that_failed_some(unit: Unit) -> list[int]:
    """Pages that had this gold and failed one, in the order in which pages are locked."""
    pages = Assignment.objects.filter(
        slots__unit=unit, state="submitted", golds_failed__gt=0, is_training=False
    )
    return list(pages.order_by("pk").values_list("pk", flat=True))


@transaction.atomic
def _check_again(pk: int, by: User | None) -> bool:
    """Without the gold. A page that waited and fails no other is used by rule; one that was set
    aside for it waits for another look."""
    page = (
        Assignment.objects.select_for_update(no_key=True, of=("self",))
        .select_related("study", "version")
        .get(pk=pk)
    )
    failed = check_again(page)
    if failed:
        return False
    if page.use == Assignment.Use.NOT_USED:
        record(page, use="pending", payment=page.payment, reason=LOOK_AGAIN, by=by)
    return True


def decisions_on_golds(study: Study) -> QuerySet[GoldDecision]:
    made = GoldDecision.objects.filter(unit__study=study)
    return made.select_related("unit", "by").order_by("-pk")
