"""Paired comparisons, or a win matrix, from a file."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from hits.analysis import comparisons
from hits.analysis.arrays import Floats, coded
from hits.analysis.comparisons import BradleyTerry
from hits.analysis.errors import AnalysisError, DegenerateInput
from hits.analysis.evaluations.contract import Given, number_of, text_of
from hits.analysis.likelihood import LEFT
from hits.analysis.likelihood import TIE as NEITHER
from hits.analysis.tables.compared import (
    side_table,
    strength_table,
    strengths_in_rows,
    win_table,
    wins_in_rows,
)
from hits.records import Column, Table
from hits.sides import TIE

MOST_SYSTEMS = 200
MOST_WINS = 10**15
MATRIX = "preferred"
ITEMS = ("item", "caption_id", "image_id")


def evaluate(given: Given) -> list[Table]:
    lines = given.lines("comparisons")
    if MATRIX in lines[0]:
        return _of_matrix(lines)
    found = _comparisons(given.lines("comparisons", "left", "right", "chosen"))
    side = bool(given.settings["side"])
    strengths = strength_table(found, side=side, heed=given.heed)
    tables = [strengths, win_table(found)]
    if strengths.rows:
        tallied = comparisons.tally(found)
        model = comparisons.fit(found, side=side, ties=bool(tallied[..., NEITHER].any()))
        tables += [_probabilities(model), _fit(model, tallied)]
    return [*tables, side_table(found)]


def _comparisons(lines: Sequence[Mapping[str, Any]]) -> comparisons.Comparisons:
    """Worker and item are told where every line tells them."""
    item = next((name for name in ITEMS if all(name in line for line in lines)), None)
    has_workers = all("worker" in line for line in lines)
    rows = (
        (
            text_of(line["left"], f"entry {place}"),
            text_of(line["right"], f"entry {place}"),
            _chosen(line, place),
            text_of(line["worker"], f"entry {place}") if has_workers else "",
            text_of(line[item], f"entry {place}") if item else "",
        )
        for place, line in enumerate(lines, 1)
    )
    found = comparisons.comparisons_from(rows)
    _require_few(found.names)
    return comparisons.Comparisons(
        found.names,
        found.left,
        found.right,
        found.outcome,
        found.workers if has_workers else None,
        found.items if item else None,
    )


def _chosen(line: Mapping[str, Any], place: int) -> str | None:
    chosen = text_of(line["chosen"], f"entry {place}")
    return None if chosen == TIE else chosen


def _require_few(names: Sequence[str]) -> None:
    if len(names) > MOST_SYSTEMS:
        raise DegenerateInput(f"{len(names):,} systems are more than {MOST_SYSTEMS:,}.")


def _of_matrix(lines: Sequence[Mapping[str, Any]]) -> list[Table]:
    _, known = coded([text_of(line.get(MATRIX, ""), "preferred") for line in lines])
    names = [str(name) for name in known]
    _require_few(names)
    if len(names) < len(lines):
        raise DegenerateInput("The win matrix names a system twice.")
    wins = np.array(
        [
            [number_of(line.get(name, 0), f"Row {line[MATRIX]}, {name}") for name in names]
            for line in lines
        ]
    )
    if any(set(line) - {MATRIX} - set(names) for line in lines):
        raise DegenerateInput("The win matrix has a column that is no row.")
    if wins.sum() > MOST_WINS:
        raise DegenerateInput(f"The win matrix has more wins than {MOST_WINS:,}.")
    model = comparisons.fit_wins(names, wins)
    np.fill_diagonal(wins, 0)
    title, note = "Bradley–Terry scores", "Scores sum to 100. A win matrix allows no intervals."
    strengths = sorted(
        (
            [name, float(score), None, None, _as_given(won), _as_given(lost)]
            for name, score, won, lost in zip(
                names, model.scores, wins.sum(axis=1), wins.sum(axis=0), strict=True
            )
        ),
        key=lambda row: -float(str(row[1])),
    )
    tallied = np.zeros((len(names), len(names), 3))
    tallied[..., LEFT] = wins
    told = "How often the system of the row was preferred to that of the column."
    return [
        strengths_in_rows(title, note, strengths),
        wins_in_rows(names, [list(map(_as_given, line)) for line in wins], told),
        _probabilities(model),
        _fit(model, tallied),
    ]


def _as_given(wins: float) -> float:
    """Some count a tie as half a win of each."""
    return int(wins) if wins == int(wins) else float(wins)


def _probabilities(model: BradleyTerry) -> Table:
    columns = [Column("System"), *(Column(f"beats {name}", "share") for name in model.names)]
    rows = [
        [one, *(None if one == two else model.probability(one, two) for two in model.names)]
        for one in model.names
    ]
    note = "The probability that the system of the row is preferred, as the model has it."
    return Table("probabilities", "Who beats whom", note, columns, rows)


def _fit(model: BradleyTerry, tallied: Floats) -> Table:
    title = "Goodness of fit"
    try:
        found = comparisons.goodness_of_fit(model, tallied)
    except AnalysisError as error:
        return Table("fit", title, why=str(error))
    columns = [
        Column("G²", "number"),
        Column("Pearson’s X²", "number"),
        Column("Degrees of freedom", "count"),
        Column("p", "number"),
    ]
    row = [found.likelihood_ratio, found.pearson, found.degrees_of_freedom, found.p_value]
    note = "Against free shares of each pair. p takes comparisons as independent: with few people "
    return Table("fit", title, f"{note}it is too small.", columns, [row])
