"""Outcomes: what became of every judgment that was submitted. Nothing is left out."""

from collections import Counter
from dataclasses import asdict, dataclass
from typing import Any

from hits.models import Slot, Study
from hits.pipeline.statements import rows
from hits.pipeline.tally import kept

# The reason of a page that is not used is that of its last decision on use.
_OUTCOMES = """
    SELECT s.state, a.use, u.excluded, coalesce(d.reason, ''), count(*)
    FROM hits_assignment a
    JOIN hits_slot s ON s.assignment_id = a.id
    JOIN hits_judgment j ON j.slot_id = s.id
    JOIN hits_unit u ON u.id = s.unit_id AND u.gold IS NULL
    LEFT JOIN LATERAL (
        SELECT reason FROM hits_decision
        WHERE assignment_id = a.id AND kind = 'use' AND a.use = 'not_used'
        ORDER BY id DESC LIMIT 1) d ON true
    WHERE a.study_id = %(study)s AND a.state = 'submitted' AND NOT a.is_training
    GROUP BY 1, 2, 3, 4
"""
WITHOUT_REASON = "Not used."
REMOVED = "Removed from the study"


@dataclass(frozen=True, slots=True)
class Outcomes:
    """Judgments, golds and training left out: `submitted` is the sum of all the others."""

    submitted: int
    used: int
    pending: int
    not_used: dict[str, int]

    @property
    def set_aside(self) -> int:
        return sum(self.not_used.values())

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def outcomes_so_far(study: Study) -> Outcomes:
    """As they were a moment ago where counting them is dear."""
    return kept(f"outcomes/{study.pk}", "", lambda: outcomes_of(study))


def outcomes_of(study: Study) -> Outcomes:
    counts: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    for state, use, is_removed, reason, count in rows(_OUTCOMES, {"study": study.pk}):
        counts["submitted"] += count
        if is_removed:
            reasons[REMOVED] += count
        elif state == Slot.State.COUNTED and use != "not_used":
            counts[use] += count
        elif use == "not_used":
            reasons[reason or WITHOUT_REASON] += count
        else:
            reasons[Slot.State(state).label.capitalize()] += count
    return Outcomes(
        submitted=counts["submitted"],
        used=counts["used"],
        pending=counts["pending"],
        not_used=dict(reasons.most_common()),
    )
