"""Rank correlations: tables of tau-b and of Spearman's ρ, and CxC's bootstrap of ρ."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy import stats

from hits.analysis.arrays import Floats, Ints, finite, same_length
from hits.analysis.errors import DegenerateInput
from hits.analysis.heeding import Heed, go_on

Kind = Literal["tau-b", "spearman"]
SAMPLES = 1000


def kendall_tau_b(first: Floats, second: Floats) -> float:
    """τ_b = (P - Q) / √((P + Q + T)(P + Q + U)) (Kendall 1945): P pairs in the same order, Q in
    opposite order, T tied only in the first list, U only in the second."""
    _require_order(first, second)
    return float(stats.kendalltau(first, second, variant="b").statistic)


def spearman(first: Floats, second: Floats) -> float:
    """Pearson's r of mid-ranks (Spearman 1904)."""
    _require_order(first, second)
    return float(stats.spearmanr(first, second).statistic)


def _require_order(first: Floats, second: Floats) -> None:
    same_length(first=finite(first, "values"), second=finite(second, "values"))
    if len(first) < 2:
        raise DegenerateInput("A rank correlation needs at least two values.")
    if np.ptp(first) == 0 or np.ptp(second) == 0:
        raise DegenerateInput("A list whose values are all equal has no rank correlation.")


def correlation_table(
    columns: Mapping[str, Sequence[float]], kind: Kind = "tau-b"
) -> dict[tuple[str, str], float]:
    """Of each two columns, over the same rows: the models of a table, for one."""
    if len(columns) < 2:
        raise DegenerateInput("A table of correlations needs at least two columns.")
    correlate = kendall_tau_b if kind == "tau-b" else spearman
    names = list(columns)
    values = {name: np.asarray(column, np.float64) for name, column in columns.items()}
    for name, column in values.items():
        if column.size and np.ptp(column) == 0:
            raise DegenerateInput(f"{name[:40]}: its values are all equal, so they have no order.")
    return {
        (one, two): correlate(values[one], values[two])
        for place, one in enumerate(names)
        for two in names[place + 1 :]
    }


@dataclass(frozen=True)
class SampledCorrelation:
    """The mean over samples, their standard deviation, and the samples."""

    mean: float
    deviation: float
    samples: Floats


def spearman_bootstrap(
    queries: Ints,
    human: Floats,
    model: Floats,
    *,
    samples: int = SAMPLES,
    seed: int = 0,
    heed: Heed = go_on,
) -> SampledCorrelation:
    """CxC's sampled bootstrap (Parekh et al. 2021, §4).

    Each sample takes half of the queries, without replacement, and one of the rated pairs of each;
    its value is Spearman's ρ between people's and the model's scores. Ranks within a sample come
    from counting the values that occur in it, not from sorting it.
    """
    same_length(queries=queries, human=finite(human, "ratings"), model=finite(model, "scores"))
    order = np.argsort(queries, kind="stable")
    starts = np.flatnonzero(np.diff(queries[order], prepend=queries[order][0] - 1))
    sizes = np.diff(starts, append=len(order))
    half = len(starts) // 2
    if half < 2:
        raise DegenerateInput("The bootstrap needs at least four queries, of which it takes half.")
    codes = [np.unique(scores, return_inverse=True)[1][order] for scores in (human, model)]
    rng = np.random.default_rng(seed)
    found = np.empty(samples)
    for sample in range(samples):
        heed()
        chosen = rng.choice(len(starts), half, replace=False, shuffle=False)
        offsets = (rng.random(half) * sizes[chosen]).astype(np.int64)
        rows = starts[chosen] + offsets
        found[sample] = _rank_correlation(codes[0][rows], codes[1][rows])
    return SampledCorrelation(float(found.mean()), float(found.std(ddof=1)), found)


def _rank_correlation(first: Ints, second: Ints) -> float:
    one, two = _centred_ranks(first), _centred_ranks(second)
    spread = float(np.sqrt((one * one).sum() * (two * two).sum()))
    if spread == 0:
        raise DegenerateInput("In a sample all scores are equal, so it has no rank correlation.")
    return float((one * two).sum()) / spread


def _centred_ranks(codes: Ints) -> Floats:
    """Mid-ranks less their mean, doubled, so that they are whole numbers until the end."""
    counts = np.bincount(codes)
    ranks = 2 * np.cumsum(counts)[codes] - counts[codes] - len(codes)
    return ranks.astype(np.float64)
