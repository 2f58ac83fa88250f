"""Scores that people gave to units, as tables."""

import math
from collections.abc import Mapping, Sequence
from statistics import fmean

import numpy as np

from hits.records import Cell, Chart, Column, Said, Table, Tallied

PARTS = 10
TOGETHER = "all"


def score_tables(said: Sequence[Said], asked: Tallied, by: str) -> list[Table]:
    """How the units' mean scores are spread, by what units have under `by`, and how far the people
    of a unit are apart (CxC, Fig. 2 and 3)."""
    scores: dict[str, list[float]] = {}
    groups: dict[str, str] = {}
    for each in said:
        if asked.field in each.answer:
            scores.setdefault(each.unit, []).append(float(each.answer[asked.field]))
            groups[each.unit] = str(each.about.get(by, ""))
    if not scores:
        return [Table("scores", "Scores", why="No judgment that is used has a score.")]
    names = sorted(set(groups.values()))
    members = {name: [scores[unit] for unit in groups if groups[unit] == name] for name in names}
    if len(names) > 1:
        members[TOGETHER] = list(scores.values())
    return [
        _score_summary(members, by),
        _score_spread(members, asked),
        _deviations(members, asked),
    ]


def _deviation(values: Sequence[float]) -> float:
    """With n - 1; statistics.stdev adds fractions, which takes seconds for 40,000 units."""
    mean = fmean(values)
    return math.sqrt(sum((value - mean) ** 2 for value in values) / (len(values) - 1))


def _score_summary(members: Mapping[str, Sequence[Sequence[float]]], by: str) -> Table:
    rows: list[list[Cell]] = []
    for name, units in members.items():
        means = [fmean(unit) for unit in units]
        apart = [_deviation(unit) for unit in units if len(unit) > 1]
        rows.append(
            [
                name,
                len(units),
                sum(map(len, units)),
                fmean(means),
                _deviation(means) if len(means) > 1 else None,
                fmean(apart) if apart else None,
            ]
        )
    columns = [
        Column(by.replace("_", " ").capitalize()),
        Column("Units", "count"),
        Column("Judgments", "count"),
        Column("Mean", "number"),
        Column("SD of means", "number"),
        Column("Mean SD in a unit", "number"),
    ]
    note = "A unit’s score is the mean of its judgments. SD: standard deviation (n - 1)."
    return Table("scores", "Scores", note, columns, rows)


def _score_spread(members: Mapping[str, Sequence[Sequence[float]]], asked: Tallied) -> Table:
    values = {name: [fmean(unit) for unit in units] for name, units in members.items()}
    note = "Units by the mean of their judgments; a range holds its lower end."
    return _spread("score-spread", "Distribution of scores", note, values, asked.low, asked.high)


def _deviations(members: Mapping[str, Sequence[Sequence[float]]], asked: Tallied) -> Table:
    title = "Standard deviation in a unit"
    values = {
        name: [_deviation(unit) for unit in units if len(unit) > 1]
        for name, units in members.items()
    }
    if not any(values.values()):
        return Table("deviations", title, why="Every unit has one judgment.")
    # Of two people at the two ends; more people are never further apart.
    highest = (asked.high - asked.low) / math.sqrt(2)
    note = "Units with two judgments or more; a range holds its lower end."
    return _spread("deviations", title, note, values, 0, highest)


def _spread(
    slug: str,
    title: str,
    note: str,
    values: Mapping[str, Sequence[float]],
    low: float,
    high: float,
) -> Table:
    edges = np.linspace(low, high, PARTS + 1)
    counts = [np.histogram(np.clip(each, low, high), edges)[0].tolist() for each in values.values()]
    rows = [
        [f"{edges[part]:.2f} to {edges[part + 1]:.2f}", *(each[part] for each in counts)]
        for part in range(PARTS)
    ]
    columns = [Column("Range"), *(Column(name or "Units", "count") for name in values)]
    of = f"{max(map(len, values.values())):,} units"
    drawn = tuple(range(1, 1 + len(values) - (TOGETHER in values)))
    chart = Chart("bars", (0,), drawn, title, "Units", of)
    return Table(slug, title, note, columns, rows, chart=chart)
