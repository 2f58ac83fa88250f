"""Coverage: how often 95% intervals hold the truth where workers and items differ."""

import argparse
from typing import Any

import numpy as np

from bench import report
from hits.analysis.arrays import Floats
from hits.analysis.comparisons import Comparisons, fit_wins, intervals

STRENGTHS = np.array([1.6, 0.6, 0.0, -0.7, -1.5])
NAMES = tuple("ABCDE")
ITEMS, WORKERS, PEOPLE = 40, 40, 8
SPREAD = 0.6
SIMULATIONS, REPLICATES = 400, 200
KINDS = {
    "single answers": ("worker", "answer"),
    "workers": ("worker", "worker"),
    "items": ("item", "worker"),
    "workers and items": ("both", "worker"),
}


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--simulations", type=int, default=SIMULATIONS)


def run(options: argparse.Namespace) -> dict[str, Any]:
    truth = _truth()
    held = {kind: np.zeros(len(NAMES)) for kind in KINDS}
    widths = {kind: np.zeros(len(NAMES)) for kind in KINDS}
    for simulation in range(options.simulations):
        answers = _study(np.random.default_rng(simulation))
        for kind, (by, unit) in KINDS.items():
            given = answers if unit == "worker" else _each_its_own_worker(answers)
            found = intervals(given, by=by, replicates=REPLICATES, seed=simulation)  # type: ignore[arg-type]
            low, high = (
                np.array([getattr(found.strengths[name], end) for name in NAMES])
                for end in ("low", "high")
            )
            held[kind] += (low <= truth) & (truth <= high)
            widths[kind] += high - low
    return _tell(held, widths, options.simulations)


def _tell(held: dict[str, Floats], widths: dict[str, Floats], simulations: int) -> dict[str, Any]:
    shares = {kind: counts / simulations for kind, counts in held.items()}
    rows = [
        [
            kind,
            f"{each.mean():.1%}",
            *(f"{share:.1%}" for share in each),
            f"{(widths[kind] / simulations).mean():.2f}",
        ]
        for kind, each in shares.items()
    ]
    report.table(
        f"95% intervals of log strengths that hold the truth, {simulations} studies",
        ["resampled", "all", *NAMES, "mean width"],
        rows,
    )
    report.note(
        f"{ITEMS} items, ten pairs each, {PEOPLE} answers a pair by {WORKERS} workers; workers and "
        f"items each move every system's log strength with a standard deviation of {SPREAD}."
    )
    return {kind: [round(float(share), 4) for share in each] for kind, each in shares.items()}


def _study(rng: np.random.Generator) -> Comparisons:
    """A worker answers the ten pairs of an item in one go, as pages are drawn."""
    of_worker = rng.normal(scale=SPREAD, size=(WORKERS, len(NAMES)))
    of_item = rng.normal(scale=SPREAD, size=(ITEMS, len(NAMES)))
    pairs = np.array([(i, j) for i in range(len(NAMES)) for j in range(i)])
    items = np.repeat(np.arange(ITEMS), PEOPLE)
    people = np.concatenate([rng.choice(WORKERS, PEOPLE, replace=False) for _ in range(ITEMS)])
    item, worker = np.repeat(items, len(pairs)), np.repeat(people, len(pairs))
    shown = np.tile(pairs, (len(items), 1))
    turned = rng.random(len(shown)) < 0.5
    left, right = np.where(turned[:, None], shown[:, ::-1], shown).T
    strength = STRENGTHS + of_worker[worker] + of_item[item]
    rows = np.arange(len(left))
    wins = rng.random(len(left)) < _expit(strength[rows, left] - strength[rows, right])
    return Comparisons(NAMES, left, right, (~wins).astype(np.int64), worker, item)


def _each_its_own_worker(given: Comparisons) -> Comparisons:
    return Comparisons(
        given.names, given.left, given.right, given.outcome, np.arange(len(given.left))
    )


def _truth() -> Floats:
    """The strengths that a study of endless workers and items would find: the fit to
    E[expit(d + e)], with e normal of variance 2 (SPREAD² + SPREAD²), by Gauss and Hermite."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(61)
    difference = STRENGTHS[:, None] - STRENGTHS[None, :]
    moved = difference[..., None] + nodes * np.sqrt(4) * SPREAD
    expected = (_expit(moved) * weights).sum(axis=-1) / weights.sum()
    return fit_wins(NAMES, expected).strengths


def _expit(value: Floats) -> Floats:
    share: Floats = 1 / (1 + np.exp(-value))
    return share
