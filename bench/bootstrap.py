"""Bootstrap: CxC's sampled Spearman correlation of 44,722 pairs, against a loop over scipy."""

import argparse
import random
from typing import Any

import numpy as np
from scipy.stats import spearmanr

from bench import report, timing
from bench.cluster import BenchError
from hits.analysis.arrays import Floats, Ints
from hits.analysis.correlation import spearman_bootstrap

PAIRS, QUERIES, SAMPLES, IN_LOOP = 44_722, 25_000, 1000, 40


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--in-loop", type=int, default=IN_LOOP, help="samples of the plain loop")


def run(options: argparse.Namespace) -> dict[str, Any]:
    queries, human, model = _ratings()
    ours, our_time = timing.best_of(
        3, lambda: spearman_bootstrap(queries, human, model, samples=SAMPLES)
    )
    plain, part_time = timing.timed(lambda: _plain(queries, human, model, options.in_loop))
    scaled = {unit: taken * SAMPLES / options.in_loop for unit, taken in part_time.items()}
    error = ours.deviation * np.sqrt(1 / SAMPLES + 1 / options.in_loop)
    apart = abs(ours.mean - float(np.mean(plain))) / error
    if apart > 4:
        raise BenchError(f"The means are {apart:.1f} standard errors apart.")
    rows = [
        timing.row("ours", our_time, our_time),
        timing.row(f"plain loop, {options.in_loop} samples, scaled", scaled, our_time),
    ]
    report.table(
        f"Spearman bootstrap, {PAIRS:,} pairs of {QUERIES:,} queries, {SAMPLES} samples",
        timing.COLUMNS,
        rows,
    )
    report.note(
        f"Means {ours.mean:.4f} and {np.mean(plain):.4f}, {apart:.1f} standard errors apart. The "
        f"loop ran {options.in_loop} of {SAMPLES} samples; its times are multiplied accordingly."
    )
    return {"ours": our_time, "plain_scaled": scaled, "standard_errors_apart": round(apart, 2)}


def _ratings() -> tuple[Ints, Floats, Floats]:
    """As many pairs and queries as CxC's validation split for SITS has."""
    rng = np.random.default_rng(0)
    more = rng.integers(0, QUERIES, PAIRS - QUERIES)
    queries = rng.permutation(np.concatenate([np.arange(QUERIES), more]))
    human = rng.integers(0, 501, PAIRS) / 100
    return queries, human, human + rng.normal(size=PAIRS)


def _plain(queries: Ints, human: Floats, model: Floats, samples: int) -> list[float]:
    """What one writes first: the pairs of each query in lists, one chosen for each, then scipy."""
    draw = random.Random(0)
    pairs: dict[int, list[int]] = {}
    for row, query in enumerate(queries.tolist()):
        pairs.setdefault(query, []).append(row)
    known = list(pairs)
    found = []
    for _ in range(samples):
        rows = [draw.choice(pairs[query]) for query in draw.sample(known, len(known) // 2)]
        scores = [human[row] for row in rows], [model[row] for row in rows]
        found.append(float(spearmanr(*scores).statistic))
    return found
