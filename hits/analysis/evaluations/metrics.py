"""Metrics over models, and a model's scores over pairs that people rated."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from hits.analysis.arrays import coded
from hits.analysis.correlation import correlation_table, spearman_bootstrap
from hits.analysis.errors import DegenerateInput
from hits.analysis.evaluations.contract import Given, number_of, text_of
from hits.analysis.evaluations.people import ends_of
from hits.records import Cell, Chart, Column, Table

MOST_METRICS = 200


def evaluate_correlation(given: Given) -> list[Table]:
    lines = given.lines("metrics")
    if not lines[0]:
        raise DegenerateInput("The first line names neither models nor metrics.")
    model, *metrics = lines[0]
    if len(metrics) > MOST_METRICS:
        raise DegenerateInput(f"{len(metrics):,} metrics are more than {MOST_METRICS}.")
    for place, line in enumerate(lines, 1):
        if missing := [name for name in (model, *metrics) if name not in line]:
            raise DegenerateInput(f"Line {place} has no {missing[0]}.")
    columns = {
        name: [number_of(line[name], f"{line[model]}, {name}") for line in lines]
        for name in metrics
    }
    kind = given.settings["correlation"]
    found = correlation_table(columns, kind)
    rows: list[list[Cell]] = [
        [one, *(found.get((two, one)) if i < place else None for i, two in enumerate(metrics[:-1]))]
        for place, one in enumerate(metrics)
        if place
    ]
    named = "Kendall’s tau-b" if kind == "tau-b" else "Spearman’s ρ"
    heads = [Column("Metric"), *(Column(name, "number") for name in metrics[:-1])]
    note = f"{named} of each two metrics over {len(lines):,} models."
    return [Table("correlations", "Rank correlations", note, heads, rows)]


def evaluate_bootstrap(given: Given) -> list[Table]:
    lines = given.lines("rated", "agg_score")
    ends = ends_of(lines, "agg_score")
    scores = _scores(given, ends)
    pairs = [_pair(line, ends, place) for place, line in enumerate(given.lines("rated", *ends), 1)]
    missing = [pair for pair in pairs if pair not in scores]
    if missing:
        raise DegenerateInput(
            f"{len(missing):,} rated pairs have no score, such as {', '.join(missing[0])[:200]}."
        )
    queries, known = coded([query for query, _ in pairs])
    found = spearman_bootstrap(
        queries,
        given.numbers("rated", "agg_score"),
        np.array([scores[pair] for pair in pairs]),
        samples=int(given.settings["samples"]),
        seed=int(given.settings["seed"]),
        heed=given.heed,
    )
    columns = [
        Column("Mean ρ", "number"),
        Column("Standard deviation", "number"),
        Column("Samples", "count"),
        Column("Queries", "count"),
        Column("Rated pairs", "count"),
    ]
    row: list[Cell] = [found.mean, found.deviation, len(found.samples), len(known), len(pairs)]
    note = (
        f"Spearman’s ρ between people and the model; each sample takes half of the values of "
        f"{ends[0]} and one rated pair of each. Seed {given.settings['seed']}."
    )
    counts, edges = np.histogram(found.samples, bins=20)
    spread: list[list[Cell]] = [
        [f"{low:.3f}", int(count)] for low, count in zip(edges[:-1], counts, strict=True)
    ]
    chart = Chart("bars", (0,), (1,), "ρ from", "Samples", f"{len(found.samples):,} samples")
    return [
        Table("bootstrap", "Spearman bootstrap", note, columns, [row]),
        Table(
            "samples",
            "Samples",
            "Samples by their ρ; a range holds its lower end.",
            [Column("ρ from"), Column("Samples", "count")],
            spread,
            chart=chart,
        ),
    ]


def _pair(line: Mapping[str, Any], ends: tuple[str, str], place: int) -> tuple[str, str]:
    one, two = (text_of(line[end], f"Entry {place}, {end}") for end in ends)
    return one, two


def _scores(given: Given, ends: tuple[str, str]) -> dict[tuple[str, str], float]:
    found: dict[tuple[str, str], float] = {}
    for place, line in enumerate(given.lines("scores", *ends, "score"), 1):
        pair = _pair(line, ends, place)
        if pair in found:
            raise DegenerateInput(f"Entry {place} of the scores has a pair that was there before.")
        found[pair] = number_of(line["score"], f"Entry {place}, score")
    return found
