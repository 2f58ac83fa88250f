"""Tally: what the used judgments of a study say so far. Reads only, and keeps what was dear."""

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic, TypeVar

from django.core.cache import cache
from django.db import connection
from django.db.models import QuerySet
from django.utils import timezone

from hits.models import Decision, Judgment, Study
from hits.protocol import protocol
from hits.records import Option

KEPT_SECONDS = 60
CHEAP_SECONDS = 0.05

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Share:
    label: str
    count: int
    of: int

    @property
    def part(self) -> float | None:
        return self.count / self.of if self.of else None


@dataclass(frozen=True, slots=True)
class MachineRow:
    machine: str
    rank: int | None
    n: int
    shares: list[Share]


@dataclass(frozen=True, slots=True)
class GoldRow:
    kind: str
    expected: str
    answered: int
    passed: int

    @property
    def part(self) -> float:
        return self.passed / self.answered


@dataclass(frozen=True, slots=True)
class Results:
    """What the used judgments say so far, at one moment."""

    at: datetime
    n: int
    justified: int
    wrong: int
    choices: list[Share]
    machines: list[MachineRow]
    reasons: list[Share]
    errors: list[Share]
    golds: list[GoldRow]
    problems: int


def results_of(study: Study) -> Results:
    """Counted anew after a decision where that is cheap, and at least every minute."""
    decided = Decision.objects.filter(assignment__study=study).order_by("-pk")
    last = decided.values_list("pk", flat=True).first() or 0
    return kept(f"results/{study.pk}", f"{study.version_id}/{last}", lambda: _results(study))


@dataclass(frozen=True, slots=True)
class Kept(Generic[T]):
    value: T
    mark: str
    at: float
    cost: float

    def is_good(self, mark: str) -> bool:
        """The same mark holds for a minute; without it, what is dear is kept ten times as long
        as it took, so that looking at a large and busy study never costs more than a tenth."""
        age = time.time() - self.at
        if mark and mark == self.mark:
            return age < KEPT_SECONDS
        return self.cost > CHEAP_SECONDS and age < min(10 * self.cost, KEPT_SECONDS)


def kept(key: str, mark: str, compute: Callable[[], T]) -> T:
    found: Kept[T] | None = cache.get(key)
    if found is None or not found.is_good(mark):
        started = time.time()
        value = compute()
        found = Kept(value, mark, time.time(), time.time() - started)
        cache.set(key, found, KEPT_SECONDS)
    return found.value


_USED = """
    SELECT s.unit_id, j.answer
    FROM hits_unit u
    JOIN hits_slot s ON s.unit_id = u.id AND s.state = 'counted'
    JOIN hits_assignment a ON a.id = s.assignment_id AND a.use = 'used'
    JOIN hits_judgment j ON j.slot_id = s.id
    WHERE u.study_id = %(study)s AND u.gold IS NULL AND NOT u.excluded AND j.answer IS NOT NULL
"""
_TALLY = f"""
    WITH used AS MATERIALIZED ({_USED})
    SELECT 'choice', NULL, NULL, answer ->> 'choice', count(*) FROM used GROUP BY 4
    UNION ALL
    SELECT 'machine', m.name || ' ' || m.version, us.rank, answer ->> 'choice', count(*)
    FROM used
    JOIN hits_unitsource us ON us.unit_id = used.unit_id AND us.rank <= %(depth)s
    JOIN hits_proposal p ON p.id = us.proposal_id
    JOIN hits_machine m ON m.id = p.machine_id
    GROUP BY 2, 3, 4
    UNION ALL
    SELECT 'justified', NULL, NULL, NULL, count(*) FROM used WHERE answer ? 'reasons'
    UNION ALL
    SELECT 'wrong', NULL, NULL, NULL, count(*) FROM used WHERE answer ? 'errors'
    UNION ALL
    SELECT 'reason', NULL, NULL, value, count(*)
    FROM used, jsonb_array_elements_text(answer -> 'reasons') GROUP BY 4
    UNION ALL
    SELECT 'error', NULL, NULL, value, count(*)
    FROM used, jsonb_array_elements_text(answer -> 'errors') GROUP BY 4
"""
_GOLDS = """
    SELECT u.pool, u.gold, j.answer, count(*)
    FROM hits_unit u
    JOIN hits_slot s ON s.unit_id = u.id
    JOIN hits_judgment j ON j.slot_id = s.id
    WHERE u.study_id = %(study)s AND u.gold IS NOT NULL AND j.answer IS NOT NULL
    GROUP BY 1, 2, 3 ORDER BY 1
"""

Tally = dict[str, dict[str, int]]


def _results(study: Study) -> Results:
    assert study.version is not None
    kind = protocol(study.protocol)
    settings = kind.settings_model.model_validate(study.version.settings)
    wording = kind.wording_model.model_validate(study.version.wording)
    form = kind.form(settings, wording)
    tally: Tally = {}
    by_machine: dict[tuple[str, int], dict[str, int]] = {}
    depth = getattr(settings, "judged_depth", 5)
    for part, machine, rank, value, count in rows(_TALLY, {"study": study.pk, "depth": depth}):
        if part == "machine":
            by_machine.setdefault((machine, rank), {})[value] = count
        else:
            tally.setdefault(part, {})[value or ""] = count
    choices = tally.get("choice", {})
    n = sum(choices.values())
    justified = tally.get("justified", {}).get("", 0)
    wrong = tally.get("wrong", {}).get("", 0)
    return Results(
        at=timezone.now(),
        n=n,
        justified=justified,
        wrong=wrong,
        choices=_shares(form.get("choices", []), choices, n),
        machines=_machine_rows(form.get("choices", []), by_machine),
        reasons=_shares(form.get("reasons", []), tally.get("reason", {}), justified),
        errors=_shares(form.get("errors", []), tally.get("error", {}), wrong),
        golds=_gold_rows(study),
        problems=problems_of(study).count(),
    )


def _shares(options: Sequence[Option], counts: Mapping[str, int], of: int) -> list[Share]:
    return [Share(option.label, counts.get(option.value, 0), of) for option in options]


def _machine_rows(
    options: Sequence[Option], counted: Mapping[tuple[str, int], Mapping[str, int]]
) -> list[MachineRow]:
    """Each machine over all its ranks, then rank by rank."""
    found = []
    for machine in sorted({machine for machine, _ in counted}):
        ranks = {rank: counts for (name, rank), counts in counted.items() if name == machine}
        together: dict[str, int] = {}
        for counts in ranks.values():
            for value, count in counts.items():
                together[value] = together.get(value, 0) + count
        for rank, counts in [(None, together), *sorted(ranks.items())]:
            n = sum(counts.values())
            found.append(MachineRow(machine, rank, n, _shares(options, counts, n)))
    return found


def _gold_rows(study: Study) -> list[GoldRow]:
    assert study.version is not None
    kind = protocol(study.protocol)
    wording = kind.wording_model.model_validate(study.version.wording)
    counted: dict[tuple[str, str], list[int]] = {}
    for pool, gold, answer, count in rows(_GOLDS, {"study": study.pk}):
        expected = json.loads(gold)
        row = counted.setdefault((pool, kind.describe(expected, wording)), [0, 0])
        row[0] += count
        row[1] += count * kind.check(json.loads(answer), expected)
    return [
        GoldRow(pool.replace("_", " "), expected, answered, passed)
        for (pool, expected), (answered, passed) in counted.items()
    ]


def problems_of(study: Study) -> QuerySet[Judgment]:
    """What people reported on questions, the newest first."""
    return (
        Judgment.objects.filter(slot__assignment__study=study)
        .exclude(problem="")
        .select_related("slot__assignment", "slot__unit")
        .order_by("-pk")
    )


def rows(statement: str, values: Mapping[str, Any]) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return list(cursor.fetchall())


def one_row(statement: str, values: Mapping[str, Any]) -> tuple[Any, ...]:
    return rows(statement, values)[0]
