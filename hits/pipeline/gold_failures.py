"""Gold failures: how a study's golds fared with people, and which of them are in doubt."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from hits.analysis.signals.golds import GoldRecord, gold_records
from hits.models import GoldDecision, Reading, Study
from hits.pipeline.aggregate import in_batches
from hits.pipeline.rules import gold_check, quality_of
from hits.protocol import protocol

_ANSWERS = """
    SELECT s.unit_id, s.person_id, j.answer::text, u.gold::text
    FROM hits_unit u
    JOIN hits_slot s ON s.unit_id = u.id
    JOIN hits_assignment a ON a.id = s.assignment_id AND NOT a.is_training
    JOIN hits_judgment j ON j.slot_id = s.id AND j.answer IS NOT NULL
    WHERE u.study_id = %(study)s AND u.gold IS NOT NULL AND NOT u.excluded
    ORDER BY s.id
"""


@dataclass(frozen=True, slots=True)
class GoldFailures:
    """Golds that people who are good on the others fail, and that nobody has kept since; and
    others that are failed often, by too few such people so far or by others."""

    in_doubt: list[GoldRecord]
    often: list[GoldRecord]


def gold_failures(study: Study) -> GoldFailures:
    """The study comes with its version."""
    quality = quality_of(study)
    failed = [each for each in records_of(study) if each.failed]
    kept = last_kept([each.gold for each in failed])
    left = [each for each in failed if not _was_kept(each, kept.get(each.gold))]
    doubted = [each for each in left if each.is_doubtful(quality.gold_doubt, quality.level)]
    known = {each.gold for each in doubted}
    often = [
        each for each in left if each.gold not in known and each.is_failed_often(quality.gold_doubt)
    ]
    often.sort(key=lambda each: (-each.failed / each.answered, -each.answered, each.gold))
    return GoldFailures(doubted, often)


def in_doubt(study: Study) -> list[GoldRecord]:
    return gold_failures(study).in_doubt


def found_in_doubt(study: Study) -> list[int]:
    """As the last reading of the study's signals, or a decision on a gold since, has found."""
    kept = Reading.objects.filter(pk=study.pk).values_list("golds_in_doubt", flat=True).first()
    return kept or []


def found_by_study(studies: Sequence[Study]) -> dict[int, int]:
    """How many golds are in doubt in each of these studies, in one statement."""
    kept = Reading.objects.filter(pk__in=[study.pk for study in studies])
    return {pk: len(golds) for pk, golds in kept.values_list("pk", "golds_in_doubt") if golds}


def keep_found(study: Study) -> None:
    """Which golds are in doubt is told wherever somebody looks at the study, and computed once."""
    found = [each.gold for each in in_doubt(study)]
    Reading.objects.filter(pk=study.pk).update(golds_in_doubt=found)


def records_of(study: Study) -> list[GoldRecord]:
    tolerated = quality_of(study).tolerated_failures
    return gold_records(_answers(study), tolerated=tolerated)


def _was_kept(record: GoldRecord, decision: GoldDecision | None) -> bool:
    """It comes up again once as many good people have failed it since as had before."""
    return decision is not None and record.good_failed < 2 * max(decision.failed, 1)


def last_kept(units: list[int]) -> dict[int, GoldDecision]:
    kept = GoldDecision.objects.filter(unit__in=units, value=GoldDecision.Value.KEPT)
    return {each.unit_id: each for each in kept.order_by("pk")}


def _answers(study: Study) -> Iterator[tuple[int, int, bool]]:
    passed = gold_check(protocol(study.protocol))
    for batch in in_batches(_ANSWERS, {"study": study.pk}):
        for unit, person, answer, gold in batch:
            yield unit, person, passed(answer, gold)
