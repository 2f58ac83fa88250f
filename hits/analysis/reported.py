"""Tables of a study's report, from its judgments: agreement, systems compared, units let through,
scores. A figure that the judgments do not determine says why in its place."""

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import attrgetter
from statistics import fmean
from typing import NamedTuple
from zlib import crc32

import numpy as np

from hits.analysis import agreement, comparisons
from hits.analysis.agreement import Figure, Judgments
from hits.analysis.arrays import Floats, Ints, coded
from hits.analysis.errors import AnalysisError, DegenerateInput
from hits.analysis.likelihood import LEFT
from hits.analysis.likelihood import TIE as NEITHER
from hits.analysis.positives import Conversion
from hits.analysis.resampling import SHARE, Interval, mean_interval
from hits.protocol import Report
from hits.records import Cell, Column, Json, Said, Table, Tallied
from hits.sides import TIE

# Judgments times replicates of one clustering: some seconds for a whole report.
EFFORT = 4_000_000
FEWEST_REPLICATES, MOST_REPLICATES = 50, 1000
LOW, HIGH = "95% from", "95% to"


class _Value(NamedTuple):
    unit: str
    person: int
    value: float


def tables_of(
    reports: Collection[Report],
    said: Sequence[Said],
    asked: Sequence[Tallied],
    *,
    goes_on: Callable[[Sequence[Json]], bool],
    scores_by: str,
) -> list[Table]:
    """Agreement, and what else a protocol reports on."""
    tables = [agreement_table(said, asked, compares=Report.COMPARISONS in reports)]
    if Report.COMPARISONS in reports:
        tables += comparison_tables(said)
    if Report.CONVERSION in reports:
        tables.append(conversion_table(list(_outcomes(said, goes_on))))
    if Report.SCORES in reports:
        number = next(each for each in asked if each.is_number)
        tables += score_tables(said, number, scores_by)
    return tables


def _outcomes(said: Sequence[Said], goes_on: Callable[[Sequence[Json]], bool]) -> Iterator[bool]:
    """Of each unit with all its judgments; those of a unit stand together."""
    for _, group in groupby(said, key=attrgetter("unit")):
        unit = list(group)
        if len(unit) >= unit[0].wanted:
            yield goes_on([each.answer for each in unit])


def replicates_for(judgments: int) -> int:
    """How many an interval is made of; 0 where too many judgments would take too long."""
    affordable = EFFORT // max(judgments, 1)
    return min(affordable, MOST_REPLICATES) if affordable >= FEWEST_REPLICATES else 0


# Agreement

_ALPHA: Mapping[str, Figure] = {
    "nominal": "nominal alpha",
    "ordinal": "ordinal alpha",
    "interval": "interval alpha",
}
_NAMES: Mapping[Figure, str] = {
    "nominal alpha": "Krippendorff’s alpha, nominal",
    "ordinal alpha": "Krippendorff’s alpha, ordinal",
    "interval alpha": "Krippendorff’s alpha, interval",
    "fleiss": "Fleiss’ kappa",
    "percent": "Pairs of judgments alike, percent",
    "one out": "One against the rest, mean correlation",
}
_ESTIMATES: Mapping[Figure, Callable[[Judgments], float]] = {
    "nominal alpha": lambda found: agreement.krippendorff_alpha(found, "nominal"),
    "ordinal alpha": lambda found: agreement.krippendorff_alpha(found, "ordinal"),
    "interval alpha": lambda found: agreement.krippendorff_alpha(found, "interval"),
    "fleiss": agreement.fleiss_kappa,
    "percent": agreement.percent_agreement,
    "one out": lambda found: agreement.leave_one_out(found).mean,
}


def agreement_table(said: Sequence[Said], asked: Sequence[Tallied], *, compares: bool) -> Table:
    """Of each question with one value a judgment, the figures that fit the level of its values."""
    rows = [row for each in asked for row in _agreement_on(each, said, compares)]
    note = (
        "Of units that two people or more judged. Intervals resample people and units. "
        "Alpha allows for units with different numbers of judgments."
    )
    if compares:
        note += (
            " Each pair’s two systems get neutral names, so that chance agrees on half of them;"
            " a system beside itself is left out."
        )
    columns = [
        Column("Question"),
        Column("Figure"),
        Column("Value", "number"),
        Column(LOW, "number"),
        Column(HIGH, "number"),
        Column("Units", "count"),
        Column("Judgments", "count"),
        Column("Remark"),
    ]
    why = "" if rows else "The protocol counts no answer on which people could agree."
    return Table("agreement", "Agreement", note, columns, rows, why)


def _agreement_on(asked: Tallied, said: Sequence[Said], compares: bool) -> Iterator[list[Cell]]:
    figures: list[Figure] = (
        [_ALPHA["interval"], "one out"]
        if asked.is_number
        else [_ALPHA["ordinal" if asked.is_ordered else "nominal"], "fleiss", "percent"]
    )
    try:
        judgments = _judgments(_compared(said) if compares else _values(asked, said))
        paired = judgments.pairable()
    except AnalysisError as error:
        yield [asked.title, _NAMES[figures[0]], *[None] * 5, str(error)]
        return
    units, n = int(paired.units.max()) + 1, len(paired.values)
    for figure in figures:
        yield [asked.title, _NAMES[figure], *_agreement_figure(judgments, figure, units, n)]


def _agreement_figure(judgments: Judgments, figure: Figure, units: int, n: int) -> list[Cell]:
    try:
        estimate = _ESTIMATES[figure](judgments)
    except AnalysisError as error:
        return [None, None, None, units, n, str(error)]
    replicates = replicates_for(n)
    if not replicates:
        return [estimate, None, None, units, n, "Too many judgments for an interval here."]
    try:
        found = agreement.agreement_interval(judgments, figure, by="both", replicates=replicates)
    except AnalysisError as error:
        return [estimate, None, None, units, n, str(error)]
    return [estimate, found.low, found.high, units, n, ""]


def _values(asked: Tallied, said: Iterable[Said]) -> Iterator[_Value]:
    """Numbers as they are, options by their place; an object has a value for each of its things,
    which are then the units."""
    codes = {option.value: place for place, option in enumerate(asked.options)}

    def number(value: Cell) -> float:
        return float(value or 0) if asked.is_number else codes.setdefault(str(value), len(codes))

    for each in said:
        value = each.answer.get(asked.field)
        if isinstance(value, list):
            raise DegenerateInput(
                "Several answers can apply to one judgment, so it has no single value to compare."
            )
        if isinstance(value, dict):
            for name, part in value.items():
                yield _Value(f"{each.unit}/{name}", each.person, number(part))
        elif value is not None:
            yield _Value(each.unit, each.person, number(value))


def _compared(said: Iterable[Said]) -> Iterator[_Value]:
    """Names of systems would be more kinds of answers than anybody can give to a pair, and chance
    would agree too seldom; in the order of names the better system may always come first."""
    for each in said:
        if each.shown is None or each.shown["left"] == each.shown["right"]:
            continue
        if each.answer["chosen"] == TIE:
            yield _Value(each.unit, each.person, 2)
        else:
            is_second = each.answer["chosen"] == max(each.shown["left"], each.shown["right"])
            yield _Value(each.unit, each.person, is_second ^ (crc32(each.unit.encode()) & 1))


def _judgments(values: Iterable[_Value]) -> Judgments:
    listed = list(values)
    if not listed:
        raise DegenerateInput("No judgment that is used answers this.")
    units, people, numbers = zip(*listed, strict=True)
    return Judgments(coded(units)[0], coded(people)[0], np.array(numbers, np.float64))


# Systems compared


def comparison_tables(said: Sequence[Said]) -> list[Table]:
    """Who won against whom, strengths, and whether a side was preferred."""
    try:
        found = comparisons.comparisons_from(_as_shown(said))
    except AnalysisError as error:
        return [Table("strengths", "Bradley–Terry scores", why=str(error))]
    return [_strengths(found), _wins(found), _sides(found)]


def _as_shown(said: Iterable[Said]) -> Iterator[tuple[str, str, str | None, int, str]]:
    for each in said:
        if each.shown is not None:
            chosen = each.answer["chosen"]
            item = repr(sorted(each.about.items()))
            yield (
                each.shown["left"],
                each.shown["right"],
                None if chosen == TIE else chosen,
                each.person,
                item,
            )


def _strengths(found: comparisons.Comparisons) -> Table:
    tallied = comparisons.tally(found)
    wins = comparisons.wins_of(tallied)
    ties = bool(tallied[..., NEITHER].any())
    title = "Bradley–Terry scores"
    try:
        model = comparisons.fit(found, ties=ties)
    except AnalysisError as error:
        return Table("strengths", title, why=str(error))
    ends, remark = _score_intervals(found, ties)
    rows = [
        [name, float(score), *ends.get(name, (None, None)), int(won), int(lost)]
        for name, score, won, lost in zip(
            model.names, model.scores, wins.sum(axis=1), wins.sum(axis=0), strict=True
        )
    ]
    rows.sort(key=lambda row: -float(row[1] or 0))
    columns = [
        Column("System"),
        Column("Score", "number"),
        Column(LOW, "number"),
        Column(HIGH, "number"),
        Column("Preferred", "count"),
        Column("Not preferred", "count"),
    ]
    note = f"Scores sum to 100; their ratio is the odds of being preferred. {remark}"
    if ties:
        note += " Ties are fitted after Davidson."
    return Table("strengths", title, note, columns, rows)


def _score_intervals(
    found: comparisons.Comparisons, ties: bool
) -> tuple[dict[str, tuple[float, float]], str]:
    replicates = replicates_for(len(found.left))
    if not replicates:
        return {}, "There are too many comparisons for intervals here."
    try:
        made = comparisons.intervals(found, by="both", ties=ties, replicates=replicates)
    except AnalysisError as error:
        return {}, f"Without intervals: {error}"
    ends = {name: (each.low, each.high) for name, each in made.scores.items()}
    return ends, "Intervals resample people and items."


def _wins(found: comparisons.Comparisons) -> Table:
    matrix = comparisons.win_matrix(found).astype(int).tolist()
    rows = [
        [name, *(None if i == j else count for j, count in enumerate(line))]
        for i, (name, line) in enumerate(zip(found.names, matrix, strict=True))
    ]
    columns = [Column("Preferred"), *(Column(f"to {name}", "count") for name in found.names)]
    note = "How often the system of the row was preferred to that of the column."
    if found.of_a_system_with_itself:
        note += f" {found.of_a_system_with_itself:,} comparisons of a system with itself left out."
    return Table("wins", "Win matrix", note, columns, rows)


def _sides(found: comparisons.Comparisons) -> Table:
    # Where a system stood beside itself, its name does not tell which side was chosen.
    told = (found.outcome != NEITHER) & (found.left != found.right)
    if not told.any() or found.workers is None:
        return Table("sides", "Side bias", why="No comparison of two systems chose one of them.")
    left = (found.outcome[told] == LEFT).astype(np.float64)
    people = np.unique(found.workers[told], return_inverse=True)[1].astype(np.int64)
    share, ends, remark = _share_with_interval(left, people=people)
    note = f"The share of choices of the left side; 50% without bias. {remark}"
    columns = [
        Column("Comparisons", "count"),
        Column("Left chosen", "count"),
        Column("Share", "share"),
        Column(LOW, "share"),
        Column(HIGH, "share"),
    ]
    return Table("sides", "Side bias", note, columns, [[len(left), int(left.sum()), share, *ends]])


def _share_with_interval(
    values: Floats, *, people: Ints | None = None
) -> tuple[float, tuple[Cell, Cell], str]:
    """Resampling people where they are told, else units."""
    share, replicates = float(values.mean()), replicates_for(len(values))
    if not replicates:
        return share, (None, None), "There are too many for an interval here."
    try:
        found: Interval = mean_interval(
            values,
            by="item" if people is None else "worker",
            workers=people,
            items=np.arange(len(values)) if people is None else None,
            replicates=replicates,
            scale=SHARE,
        )
    except AnalysisError as error:
        return share, (None, None), f"Without an interval: {error}"
    what = "units" if people is None else "people"
    return share, (found.low, found.high), f"The interval resamples {what}."


# Units that people let through


def conversion_table(outcomes: Sequence[bool]) -> Table:
    """Of the units with all their judgments, those that go on (BISON, App. A)."""
    title = "Conversion"
    if not outcomes:
        return Table("conversion", title, why="No unit has all its judgments yet.")
    found = Conversion(len(outcomes), sum(outcomes))
    share, ends, remark = _share_with_interval(np.array(outcomes, np.float64))
    columns = [
        Column("Units judged", "count"),
        Column("Went on", "count"),
        Column("Conversion", "share"),
        Column(LOW, "share"),
        Column(HIGH, "share"),
    ]
    note = f"Of the units that have all their judgments. {remark}"
    return Table("conversion", title, note, columns, [[found.entered, found.left, share, *ends]])


# Scores

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
    return Table(slug, title, note, columns, rows)
