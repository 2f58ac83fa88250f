"""Tables of a study's report, from its judgments: agreement, systems compared, units let through,
scores. A figure that the judgments do not determine says why in its place."""

from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import groupby
from operator import attrgetter

import numpy as np

from hits.analysis.positives import Conversion
from hits.analysis.tables.agreed import agreement_table
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


def conversion_table(outcomes: Sequence[bool]) -> Table:
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
    ]
    note = f"Of the units that have all their judgments. {remark}"
    return Table("conversion", title, note, columns, [[found.entered, found.left, share, *ends]])
