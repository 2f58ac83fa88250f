"""What people said of the same things, from a file."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from hits.analysis import agreement
from hits.analysis.agreement import Judgments
from hits.analysis.arrays import Floats, coded
from hits.analysis.errors import AnalysisError, DegenerateInput
from hits.analysis.evaluations.contract import Given, number_of, text_of
from hits.analysis.tables.agreed import agreement_in_rows, figures_for, retest_table
from hits.analysis.tables.intervals import HIGH, LOW, replicates_for
from hits.records import Cell, Column, Table

QUESTION = "Value"


def evaluate_agreement(given: Given) -> list[Table]:
    lines = given.lines("judgments", "unit", "worker", "value")
    level = given.settings["level"]
    values = _values(lines, level, str(given.settings["order"]))
    units, _ = coded([text_of(line["unit"], "unit") for line in lines])
    workers, names = coded([text_of(line["worker"], "worker") for line in lines])
    _require_once(lines)
    judgments = Judgments(units, workers, np.array(values))
    figures = figures_for(is_number=level == "interval", is_ordered=level == "ordinal")
    rows = agreement_in_rows(QUESTION, judgments, figures, given.heed)
    people = _people(judgments, [str(name) for name in names], are_names=level == "nominal")
    tables = [rows, people]
    return [*tables, _two_people(judgments)] if len(names) == 2 else tables


def _require_once(lines: Sequence[Mapping[str, Any]]) -> None:
    seen: dict[tuple[str, str], int] = {}
    for place, line in enumerate(lines, 1):
        worker, unit = str(line["worker"]), str(line["unit"])
        before = seen.setdefault((worker, unit), place)
        if before < place:
            raise DegenerateInput(
                f"Entries {before} and {place}: {worker[:40]!r} judged {unit[:40]!r} twice."
            )


def _values(lines: Sequence[Mapping[str, Any]], level: str, order: str) -> list[float]:
    if level == "nominal":
        codes, _ = coded([text_of(line["value"], "value") for line in lines])
        return [float(code) for code in codes]
    named = [name.strip() for name in order.split(",") if name.strip()]
    if level == "interval" or not named:
        return [
            number_of(line["value"], f"Entry {place}, value") for place, line in enumerate(lines, 1)
        ]
    places = {name: float(place) for place, name in enumerate(named)}
    unknown = {str(line["value"]) for line in lines} - places.keys()
    if unknown:
        raise DegenerateInput(f"The order does not have {sorted(unknown)[0][:40]!r}.")
    return [places[str(line["value"])] for line in lines]


def _people(judgments: Judgments, names: Sequence[str], *, are_names: bool) -> Table:
    """Each against the rest: the share of pairs alike, and the correlation with their mean."""
    title = "People against the rest"
    paired = judgments.pairable()
    known = np.unique(judgments.workers[np.bincount(judgments.units)[judgments.units] > 1])
    alike = agreement.alike_with_others(paired)
    correlations = [float("nan")] * len(known)
    if not are_names:
        with suppress(DegenerateInput):
            correlations = agreement.leave_one_out(judgments).by_worker.tolist()
    rows: list[list[Cell]] = [
        [names[worker], int(n), float(share), None if np.isnan(r) else r]
        for worker, n, share, r in zip(
            known, np.bincount(paired.workers), alike, correlations, strict=True
        )
    ]
    columns = [
        Column("Worker"),
        Column("Judgments", "count"),
        Column("Alike", "share"),
        Column("Correlation", "number"),
    ]
    note = (
        "Of units that others judged, too: the share of others’ judgments that are alike, and "
        "Pearson’s r with the others’ mean where values are more or less of something."
    )
    return Table("people", title, note, columns, rows)


def _two_people(judgments: Judgments) -> Table:
    title = "Cohen’s kappa"
    paired = judgments.pairable()
    order = np.lexsort((paired.workers, paired.units))
    both = paired.values[order].reshape(-1, 2)
    try:
        kappa = agreement.cohen_kappa(both[:, 0], both[:, 1])
    except AnalysisError as error:
        return Table("cohen", title, why=str(error))
    ends, remark = _cohen_ends(both[:, 0], both[:, 1])
    columns = [
        Column("Kappa", "number"),
        Column(LOW, "number"),
        Column(HIGH, "number"),
        Column("Units", "count"),
    ]
    note = f"Of the two people, over the units that both judged. {remark}"
    return Table("cohen", title, note, columns, [[kappa, *ends, len(both)]])


def _cohen_ends(first: Floats, second: Floats) -> tuple[tuple[Cell, Cell], str]:
    try:
        found = agreement.cohen_interval(first, second, replicates=replicates_for(len(first)))
    except AnalysisError as error:
        return (None, None), f"Without an interval: {error}"
    return (found.low, found.high), "The interval resamples units."


def ends_of(lines: Sequence[Mapping[str, Any]], score: str) -> tuple[str, str]:
    """The two columns of ids of a file of rated pairs: the first two that are not the score."""
    names = [name for name in lines[0] if name not in (score, "sampling_method")][:2]
    if len(names) < 2:
        raise DegenerateInput("Rated pairs need two columns of ids before their score.")
    return names[0], names[1]


def evaluate_retest(given: Given) -> list[Table]:
    lines = given.lines("rated", "agg_score")
    one, two = ends_of(lines, "agg_score")
    given.lines("rated", one, two)
    codes, _ = coded([text_of(line[end], end) for end in (one, two) for line in lines])
    scores = given.numbers("rated", "agg_score")
    found = agreement.rated_both_ways(codes[: len(lines)], codes[len(lines) :], scores)
    return [retest_table(found)]
