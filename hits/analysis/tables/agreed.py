"""Agreement, as tables."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from hits.analysis import agreement
from hits.analysis.agreement import Figure, Judgments, Retest
from hits.analysis.arrays import coded
from hits.analysis.errors import AnalysisError, DegenerateInput
from hits.analysis.heeding import Heed, go_on
from hits.analysis.tables.intervals import HIGH, LOW, replicates_for
from hits.analysis.values import neutral_choice, reader_of
from hits.records import Cell, Column, Said, Table, Tallied

NOTE = (
    "Of units that two people or more judged. Intervals resample people and units. "
    "Alpha allows for units with different numbers of judgments."
)


class _Value(NamedTuple):
    unit: str
    person: int
    value: float


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


def agreement_table(
    said: Sequence[Said], asked: Sequence[Tallied], *, compares: bool, heed: Heed = go_on
) -> Table:
    """Of each question with one value a judgment, the figures that fit the level of its values."""
    rows = [row for each in asked for row in _agreement_on(each, said, compares, heed)]
    note = NOTE
    if compares:
        note += (
            " Each pair’s two systems are 0 and 1 in the order of their names, turned where the"
            " CRC-32 of the unit’s key is odd, so that chance agrees on about half of them; a"
            " system beside itself is left out."
        )
    why = "" if rows else "The protocol counts no answer on which people could agree."
    return Table("agreement", "Agreement", note, _COLUMNS, rows, why)


_COLUMNS = (
    Column("Question"),
    Column("Figure"),
    Column("Value", "number"),
    Column(LOW, "number"),
    Column(HIGH, "number"),
    Column("Units", "count"),
    Column("Judgments", "count"),
    Column("Remark"),
)


def agreement_in_rows(
    question: str, judgments: Judgments, figures: Sequence[Figure], heed: Heed = go_on
) -> Table:
    rows = list(_rows_of(question, judgments, figures, heed))
    return Table("agreement", "Agreement", NOTE, _COLUMNS, rows)


def figures_for(*, is_number: bool, is_ordered: bool) -> list[Figure]:
    """Those that fit the level of the values."""
    if is_number:
        return ["interval alpha", "one out"]
    return ["ordinal alpha" if is_ordered else "nominal alpha", "fleiss", "percent"]


def _agreement_on(
    asked: Tallied, said: Sequence[Said], compares: bool, heed: Heed
) -> Iterator[list[Cell]]:
    figures = figures_for(is_number=asked.is_number, is_ordered=asked.is_ordered)
    try:
        judgments = _judgments(_compared(said) if compares else _values(asked, said))
        yield from _rows_of(asked.title, judgments, figures, heed)
    except AnalysisError as error:
        yield [asked.title, _NAMES[figures[0]], *[None] * 5, str(error)]


def _rows_of(
    question: str, judgments: Judgments, figures: Sequence[Figure], heed: Heed
) -> Iterator[list[Cell]]:
    paired = judgments.pairable()
    units, n = int(paired.units.max()) + 1, len(paired.values)
    for figure in figures:
        heed()
        yield [question, _NAMES[figure], *_agreement_figure(judgments, figure, units, n)]


def _agreement_figure(judgments: Judgments, figure: Figure, units: int, n: int) -> list[Cell]:
    try:
        estimate = _ESTIMATES[figure](judgments)
    except AnalysisError as error:
        return [None, None, None, units, n, str(error)]
    try:
        found = agreement.agreement_interval(
            judgments, figure, by="both", replicates=replicates_for(n)
        )
    except AnalysisError as error:
        return [estimate, None, None, units, n, str(error)]
    return [estimate, found.low, found.high, units, n, ""]


def _values(asked: Tallied, said: Iterable[Said]) -> Iterator[_Value]:
    """Where an answer has a value for each of several things, these are the units."""
    read = reader_of(asked)
    for each in said:
        for name, value in read(each.answer):
            unit = f"{each.unit}/{name}" if name else each.unit
            yield _Value(unit, each.person, value)


def _compared(said: Iterable[Said]) -> Iterator[_Value]:
    for each in said:
        value = neutral_choice(each.unit, each.answer, each.shown)
        if value is not None:
            yield _Value(each.unit, each.person, value)


def _judgments(values: Iterable[_Value]) -> Judgments:
    listed = list(values)
    if not listed:
        raise DegenerateInput("No judgment that is used answers this.")
    units, people, numbers = zip(*listed, strict=True)
    return Judgments(coded(units)[0], coded(people)[0], np.array(numbers, np.float64))


def retest_table(found: Retest) -> Table:
    ends: tuple[Cell, Cell] = (None, None)
    remark = "The interval resamples pairs."
    try:
        interval = found.interval()
        ends = (interval.low, interval.high)
    except AnalysisError as error:
        remark = f"Without an interval: {error}"
    columns = [
        Column("Pairs", "count"),
        Column("Mean difference, absolute", "number"),
        Column(LOW, "number"),
        Column(HIGH, "number"),
        Column("Mean difference", "number"),
        Column("Pearson’s r", "number"),
        Column("Spearman’s ρ", "number"),
    ]
    row: list[Cell] = [
        found.pairs,
        found.mean_absolute_difference,
        *ends,
        found.mean_difference,
        found.pearson,
        found.spearman,
    ]
    note = f"Pairs that were rated both ways round. {remark}"
    return Table("retest", "Test and retest", note, columns, [row])
