"""Systems compared in pairs, as tables."""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from hits.analysis import comparisons
from hits.analysis.errors import AnalysisError
from hits.analysis.heeding import Heed, go_on
from hits.analysis.likelihood import LEFT
from hits.analysis.likelihood import TIE as NEITHER
from hits.analysis.resampling import By
from hits.analysis.tables.intervals import HIGH, LOW, replicates_for, share_with_interval
from hits.records import Cell, Chart, Column, Said, Table
from hits.sides import TIE


def comparison_tables(said: Sequence[Said], heed: Heed = go_on) -> list[Table]:
    """Who won against whom, strengths, and whether a side was preferred."""
    try:
        found = comparisons.comparisons_from(_as_shown(said))
    except AnalysisError as error:
        return [Table("strengths", "Bradley–Terry scores", why=str(error))]
    return [strength_table(found, heed=heed), win_table(found), side_table(found)]


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


def strength_table(
    found: comparisons.Comparisons, *, side: bool = False, heed: Heed = go_on
) -> Table:
    tallied = comparisons.tally(found)
    wins = comparisons.wins_of(tallied)
    ties = bool(tallied[..., NEITHER].any())
    title = "Bradley–Terry scores"
    try:
        model = comparisons.fit(found, ties=ties, side=side)
    except AnalysisError as error:
        return Table("strengths", title, why=str(error))
    ends, remark = _score_intervals(found, ties=ties, side=side, heed=heed)
    rows: list[list[Cell]] = [
        [name, float(score), *ends.get(name, (None, None)), int(won), int(lost)]
        for name, score, won, lost in zip(
            model.names, model.scores, wins.sum(axis=1), wins.sum(axis=0), strict=True
        )
    ]
    rows.sort(key=lambda row: -float(row[1] or 0))
    note = f"Scores sum to 100; their ratio is the odds of being preferred. {remark}"
    if ties:
        note += " Ties are fitted after Davidson."
    if model.side is not None:
        note += f" The left side multiplies the odds by {np.exp(model.side):.3f}."
    return strengths_in_rows(title, note, rows)


def strengths_in_rows(title: str, note: str, rows: Sequence[Sequence[Cell]]) -> Table:
    """Rows of a system, its score with both ends, and how often it was preferred and was not."""
    columns = [
        Column("System"),
        Column("Score", "number"),
        Column(LOW, "number"),
        Column(HIGH, "number"),
        Column("Preferred", "count"),
        Column("Not preferred", "count"),
    ]
    compared = sum(int(row[4] or 0) for row in rows)
    chart = Chart(
        "points", (0,), (1,), "System", "Score", f"{compared:,} comparisons with a choice", (2, 3)
    )
    return Table("strengths", title, note, columns, rows, chart=chart)


def _score_intervals(
    found: comparisons.Comparisons, *, ties: bool, side: bool, heed: Heed
) -> tuple[dict[str, tuple[float, float]], str]:
    by = _resampled(found)
    if by is None:
        return {}, "Without intervals: neither workers nor items are told."
    replicates = replicates_for(len(found.left))
    try:
        made = comparisons.intervals(
            found, by=by, ties=ties, side=side, replicates=replicates, heed=heed
        )
    except AnalysisError as error:
        return {}, f"Without intervals: {error}"
    ends = {name: (each.low, each.high) for name, each in made.scores.items()}
    what = {"both": "people and items", "worker": "people", "item": "items"}[by]
    return ends, f"Intervals resample {what}."


def _resampled(found: comparisons.Comparisons) -> By | None:
    if found.workers is None:
        return None if found.items is None else "item"
    return "worker" if found.items is None else "both"


def win_table(found: comparisons.Comparisons) -> Table:
    note = "How often the system of the row was preferred to that of the column."
    if found.of_a_system_with_itself:
        note += f" {found.of_a_system_with_itself:,} comparisons of a system with itself left out."
    return wins_in_rows(found.names, comparisons.win_matrix(found).astype(int).tolist(), note)


def wins_in_rows(names: Sequence[str], matrix: Sequence[Sequence[float]], note: str) -> Table:
    rows: list[list[Cell]] = [
        [name, *(None if i == j else count for j, count in enumerate(line))]
        for i, (name, line) in enumerate(zip(names, matrix, strict=True))
    ]
    columns = [Column("Preferred"), *(Column(f"to {name}", "count") for name in names)]
    return Table("wins", "Win matrix", note, columns, rows)


def side_table(found: comparisons.Comparisons) -> Table:
    # Where a system stood beside itself, its name does not tell which side was chosen.
    told = (found.outcome != NEITHER) & (found.left != found.right)
    if not told.any():
        return Table("sides", "Side bias", why="No comparison of two systems chose one of them.")
    left = (found.outcome[told] == LEFT).astype(np.float64)
    share, remark = float(left.mean()), "No interval: workers are not told."
    ends: tuple[Cell, Cell] = (None, None)
    if found.workers is not None:
        people = np.unique(found.workers[told], return_inverse=True)[1].astype(np.int64)
        share, ends, remark = share_with_interval(left, people=people)
    note = f"The share of choices of the left side; 50% without bias. {remark}"
    columns = [
        Column("Comparisons", "count"),
        Column("Left chosen", "count"),
        Column("Share", "share"),
        Column(LOW, "share"),
        Column(HIGH, "share"),
    ]
    return Table("sides", "Side bias", note, columns, [[len(left), int(left.sum()), share, *ends]])
