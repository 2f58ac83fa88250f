"""Tally: what the used judgments of a study say so far. Reads only, and keeps what was dear."""

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Generic, TypeVar

from django.core.cache import cache
from django.db import connection
from django.db.models import QuerySet
from django.utils import timezone

from hits.models import Decision, Judgment, Study
from hits.pipeline.rules import rules_of
from hits.protocol import protocol
from hits.records import Option, Tallied

KEPT_SECONDS = 60
CHEAP_SECONDS = 0.05
BINS = 10

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
class Numbers:
    """Answers that are numbers: where they lie, and how many in each of equal parts."""

    mean: float
    deviation: float
    median: float
    low: float
    high: float
    bins: list[int]

    @property
    def shares(self) -> list[Share]:
        width = (self.high - self.low) / len(self.bins)
        of = sum(self.bins)
        return [
            Share(f"{self.low + i * width:g} to {self.low + (i + 1) * width:g}", count, of)
            for i, count in enumerate(self.bins)
        ]


@dataclass(frozen=True, slots=True)
class Tally:
    """One field of the answers: of the n that have it, the share of each option, or numbers."""

    field: str
    title: str
    n: int
    several: bool
    shares: list[Share]
    numbers: Numbers | None


@dataclass(frozen=True, slots=True)
class Results:
    """What the used judgments say so far, at one moment."""

    at: datetime
    n: int
    tallies: list[Tally]
    machines: list[MachineRow]
    golds: list[GoldRow]
    problems: int


def results_of(study: Study) -> Results:
    """Counted anew after a decision where that is cheap, and at least every minute."""
    decided = Decision.objects.filter(assignment__study=study).order_by("-pk")
    last = decided.values_list("pk", flat=True).first() or 0
    return kept(f"results/{study.pk}", f"{study.version_id}/{last}", lambda: fresh_results(study))


@dataclass(frozen=True, slots=True)
class Kept(Generic[T]):
    value: T
    mark: str
    at: float
    cost: float

    def is_good(self, mark: str, seconds: int = KEPT_SECONDS) -> bool:
        """The same mark holds for so long; without it, what is dear is kept ten times as long
        as it took, so that looking at a large and busy study never costs more than a tenth."""
        age = time.time() - self.at
        if mark and mark == self.mark:
            return age < seconds
        return self.cost > CHEAP_SECONDS and age < min(10 * self.cost, KEPT_SECONDS)


def kept(key: str, mark: str, compute: Callable[[], T], seconds: int = KEPT_SECONDS) -> T:
    found: Kept[T] | None = cache.get(key)
    if found is None or not found.is_good(mark, seconds):
        found = keep(key, mark, compute, seconds)
    return found.value


def keep(key: str, mark: str, compute: Callable[[], T], seconds: int) -> Kept[T]:
    started = time.time()
    value = compute()
    made = Kept(value, mark, time.time(), time.time() - started)
    cache.set(key, made, seconds)
    return made


_USED = """
    SELECT s.unit_id, j.answer
    FROM hits_unit u
    JOIN hits_slot s ON s.unit_id = u.id AND s.state = 'counted'
    JOIN hits_assignment a ON a.id = s.assignment_id AND a.use = 'used'
    JOIN hits_judgment j ON j.slot_id = s.id
    WHERE u.study_id = %(study)s AND u.gold IS NULL AND NOT u.excluded AND j.answer IS NOT NULL
"""
# Of each field: how many answers have it, how often each value was given, and whether a value is
# one of several in an answer.
_TALLY = f"""
    WITH used AS MATERIALIZED ({_USED}),
    field AS (SELECT name FROM unnest(%(fields)s::text[]) name),
    said AS (
        SELECT used.unit_id, field.name, answer -> field.name AS value
        FROM used JOIN field ON answer ? field.name)
    SELECT 'n', NULL, NULL::int, NULL, false, count(*) FROM used
    UNION ALL
    SELECT 'has', name, NULL, NULL, bool_or(jsonb_typeof(value) = 'array'), count(*)
    FROM said GROUP BY name
    UNION ALL
    SELECT 'value', name, NULL, given, false, count(*)
    FROM said, LATERAL (
        SELECT jsonb_array_elements_text(value) AS given WHERE jsonb_typeof(value) = 'array'
        UNION ALL SELECT (jsonb_each_text(value)).value WHERE jsonb_typeof(value) = 'object'
        UNION ALL SELECT value #>> '{{}}' WHERE jsonb_typeof(value) NOT IN ('array', 'object')) each
    WHERE NOT name = ANY (%(numbers)s) GROUP BY name, given
    UNION ALL
    SELECT 'machine', m.name || ' ' || m.version, us.rank::int, value #>> '{{}}', false, count(*)
    FROM said
    JOIN hits_unitsource us ON us.unit_id = said.unit_id AND us.rank <= %(depth)s
    JOIN hits_proposal p ON p.id = us.proposal_id
    JOIN hits_machine m ON m.id = p.machine_id
    WHERE said.name = %(first)s GROUP BY 2, 3, 4
"""
_NUMBERS = f"""
    WITH used AS ({_USED}),
    said AS (SELECT (answer ->> %(field)s)::float8 AS value FROM used WHERE answer ? %(field)s),
    bin AS (
        SELECT least(width_bucket(value, %(low)s, %(high)s, %(bins)s), %(bins)s) AS number,
               count(*) AS n FROM said GROUP BY 1)
    SELECT avg(value), coalesce(stddev_samp(value), 0),
           percentile_cont(0.5) WITHIN GROUP (ORDER BY value),
           (SELECT jsonb_object_agg(number, n) FROM bin)
    FROM said
"""
_GOLDS = """
    SELECT given.pool, given.gold, example.payload, given.answer, given.count
    FROM (
        SELECT u.pool, u.gold, j.answer, count(*) AS count, min(u.id) AS example
        FROM hits_unit u
        JOIN hits_slot s ON s.unit_id = u.id
        JOIN hits_assignment a ON a.id = s.assignment_id AND NOT a.is_training
        JOIN hits_judgment j ON j.slot_id = s.id
        WHERE u.study_id = %(study)s AND u.gold IS NOT NULL AND j.answer IS NOT NULL
        GROUP BY 1, 2, 3
    ) given
    JOIN hits_unit example ON example.id = given.example
    ORDER BY 1
"""


def fresh_results(study: Study) -> Results:
    assert study.version is not None
    kind, settings = rules_of(study)
    wording = kind.wording_model.model_validate(study.version.wording)
    asked = kind.tallies(settings, wording)
    counted = _counted(study, asked, getattr(settings, "judged_depth", 5))
    return Results(
        at=timezone.now(),
        n=counted.n,
        tallies=[_tally(study, each, counted) for each in asked],
        machines=_machine_rows(asked[0].options if asked else [], counted.by_machine),
        golds=_gold_rows(study),
        problems=problems_of(study).count(),
    )


@dataclass(slots=True)
class _Counted:
    n: int = 0
    has: dict[str, tuple[int, bool]] = field(default_factory=dict)
    values: dict[str, dict[str, int]] = field(default_factory=dict)
    by_machine: dict[tuple[str, int], dict[str, int]] = field(default_factory=dict)


def _counted(study: Study, asked: Sequence[Tallied], depth: int) -> _Counted:
    values = {
        "study": study.pk,
        "fields": [each.field for each in asked],
        "numbers": [each.field for each in asked if each.is_number],
        "first": asked[0].field if asked and asked[0].options else "",
        "depth": depth,
    }
    found = _Counted()
    for part, name, rank, value, several, count in rows(_TALLY, values):
        if part == "n":
            found.n = count
        elif part == "has":
            found.has[name] = (count, several)
        elif part == "value":
            found.values.setdefault(name, {})[value] = count
        else:
            found.by_machine.setdefault((name, rank), {})[value] = count
    return found


def _tally(study: Study, asked: Tallied, counted: _Counted) -> Tally:
    n, several = counted.has.get(asked.field, (0, False))
    counts = counted.values.get(asked.field, {})
    found = [] if asked.is_number else [Option(value, value, "") for value in sorted(counts)]
    return Tally(
        field=asked.field,
        title=asked.title,
        n=n,
        several=several,
        shares=_shares(asked.options or found, counts, n if several else sum(counts.values())),
        numbers=_numbers(study, asked) if n and asked.is_number else None,
    )


def _numbers(study: Study, asked: Tallied) -> Numbers:
    values = {"field": asked.field, "low": asked.low, "high": asked.high, "bins": BINS}
    mean, deviation, median, found = one_row(_NUMBERS, {"study": study.pk, **values})
    bins = json.loads(found)
    return Numbers(
        mean,
        deviation,
        median,
        asked.low,
        asked.high,
        [bins.get(str(number), 0) for number in range(1, BINS + 1)],
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
    for pool, gold, payload, answer, count in rows(_GOLDS, {"study": study.pk}):
        expected = json.loads(gold)
        words = kind.describe(kind.named(expected, json.loads(payload), None), wording)
        row = counted.setdefault((pool, words), [0, 0])
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
