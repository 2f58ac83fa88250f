"""Tables of a study's report, from its judgments: agreement, systems compared, units let through,
scores. A figure that the judgments do not determine says why in its place."""

from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import groupby
from operator import attrgetter
from statistics import fmean

import numpy as np

from hits.analysis.agreement import rated_both_ways
from hits.analysis.arrays import coded
from hits.analysis.errors import AnalysisError
from hits.analysis.heeding import Heed, go_on
from hits.analysis.positives import Conversion
from hits.analysis.tables.agreed import agreement_table, retest_table
from hits.analysis.tables.compared import comparison_tables
from hits.analysis.tables.intervals import HIGH, LOW, share_with_interval
from hits.analysis.tables.scored import score_tables
from hits.protocol import Report
from hits.records import Column, Json, Said, Table, Tallied


def tables_of(
    reports: Collection[Report],
    said: Sequence[Said],
    asked: Sequence[Tallied],
    *,
    goes_on: Callable[[Sequence[Json]], bool],
    scores_by: str,
    ordered_ends: tuple[str, str] | None = None,
    heed: Heed = go_on,
) -> list[Table]:
    """Agreement, and what else a protocol reports on."""
    tables = [agreement_table(said, asked, compares=Report.COMPARISONS in reports, heed=heed)]
    if Report.COMPARISONS in reports:
        tables += comparison_tables(said, heed)
    if Report.CONVERSION in reports:
        people = len({each.person for each in said})
        tables.append(conversion_table(list(_outcomes(said, goes_on)), people))
    if Report.SCORES in reports:
        number = next(each for each in asked if each.is_number)
        tables += score_tables(said, number, scores_by)
        if ordered_ends is not None:
            tables.append(_retest(said, number.field, ordered_ends))
    return tables


def _outcomes(said: Sequence[Said], goes_on: Callable[[Sequence[Json]], bool]) -> Iterator[bool]:
    """Of each unit with all its judgments; those of a unit stand together."""
    for _, group in groupby(said, key=attrgetter("unit")):
        unit = list(group)
        if len(unit) >= unit[0].wanted:
            yield goes_on([each.answer for each in unit])


def conversion_table(outcomes: Sequence[bool], people: int) -> Table:
    """Of the units with all their judgments, those that go on (BISON, App. A)."""
    title = "Conversion"
    if not outcomes:
        return Table("conversion", title, why="No unit has all its judgments yet.")
    found = Conversion(len(outcomes), sum(outcomes))
    share, ends, remark = share_with_interval(np.array(outcomes, np.float64))
    columns = [
        Column("Units judged", "count"),
        Column("Went on", "count"),
        Column("Conversion", "share"),
        Column(LOW, "share"),
        Column(HIGH, "share"),
        Column("People", "count"),
    ]
    note = f"Of the units that have all their judgments. {remark}"
    return Table(
        "conversion", title, note, columns, [[found.entered, found.left, share, *ends, people]]
    )


def _retest(said: Sequence[Said], field: str, ends: tuple[str, str]) -> Table:
    """Pairs that were rated both ways round (CxC §2)."""
    scores: dict[tuple[int, int], list[float]] = {}
    for each in said:
        if field in each.answer:
            pair = (each.about[ends[0]], each.about[ends[1]])
            scores.setdefault(pair, []).append(float(each.answer[field]))
    try:
        codes, _ = coded([pair[end] for end in (0, 1) for pair in scores])
        means = np.array([fmean(given) for given in scores.values()])
        found = rated_both_ways(codes[: len(scores)], codes[len(scores) :], means)
    except AnalysisError as error:
        return Table("retest", "Test and retest", why=str(error))
    return retest_table(found)
