"""Paired comparisons: win matrix, Bradley–Terry strengths, their fit and their intervals.

R. A. Bradley and M. E. Terry, Rank analysis of incomplete block designs I, Biometrika 39, 1952:
P(i beats j) = p_i / (p_i + p_j). Strengths without ties or sides are fitted by choix's iterative
Luce spectral ranking on the win matrix (Maystre and Grossglauser 2015), which is the maximum
likelihood.
"""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import choix
import numpy as np
from numpy.typing import NDArray
from scipy import sparse, stats
from scipy.sparse.csgraph import connected_components

from hits.analysis.arrays import Floats, Ints, coded, same_length
from hits.analysis.errors import DegenerateInput, DidNotConverge
from hits.analysis.heeding import Heed, go_on
from hits.analysis.likelihood import LEFT, RIGHT, TIE, maximise, probabilities
from hits.analysis.resampling import (
    LEVEL,
    REPLICATES,
    SHARE,
    By,
    Interval,
    clusterings,
    joined_variance,
    make_interval,
    number_of_clusters,
    variance,
    weights_of_clusters,
)

MOST_ROUNDS = 10_000
TOLERANCE = 1e-10
CELLS_AT_ONCE = 4_000_000


@dataclass(frozen=True)
class Comparisons:
    """Of systems, by index into `names`; `outcome` is LEFT, RIGHT or TIE."""

    names: tuple[str, ...]
    left: Ints
    right: Ints
    outcome: Ints
    workers: Ints | None = None
    items: Ints | None = None

    def __post_init__(self) -> None:
        same_length(left=self.left, right=self.right, outcome=self.outcome)
        for codes in (self.workers, self.items):
            if codes is not None:
                same_length(left=self.left, clusters=codes)
        if len(self.left) == 0:
            raise DegenerateInput("There are no comparisons.")
        if not np.isin(self.outcome, (LEFT, RIGHT, TIE)).all():
            raise DegenerateInput("An outcome is left, right or a tie.")
        highest = max(self.left.max(), self.right.max())
        if min(self.left.min(), self.right.min()) < 0 or highest >= len(self.names):
            raise DegenerateInput("A comparison names a system that is not there.")

    @property
    def of_a_system_with_itself(self) -> int:
        """Comparisons that say nothing about strengths, and are left out of every fit."""
        return int((self.left == self.right).sum())


def comparisons_from(
    rows: Iterable[tuple[str, str, str | None, Hashable, Hashable]],
) -> Comparisons:
    """From rows of (left system, right system, chosen system or None for a tie, worker, item)."""
    listed = list(rows)
    if not listed:
        raise DegenerateInput("There are no comparisons.")
    lefts, rights, chosen, workers, items = zip(*listed, strict=True)
    names: list[Any] = sorted({*lefts, *rights})
    index = {name: position for position, name in enumerate(names)}
    outcomes = [
        TIE if choice is None else LEFT if choice == left else RIGHT
        for left, choice in zip(lefts, chosen, strict=True)
    ]
    if any(
        choice not in (None, left, right)
        for left, right, choice in zip(lefts, rights, chosen, strict=True)
    ):
        raise DegenerateInput("A choice names neither of the two systems shown.")
    return Comparisons(
        tuple(names),
        np.array([index[name] for name in lefts], np.int64),
        np.array([index[name] for name in rights], np.int64),
        np.array(outcomes, np.int64),
        coded(workers)[0],
        coded(items)[0],
    )


def tally(comparisons: Comparisons) -> Floats:
    """How often each outcome came with i on the left and j on the right: (i, j, outcome)."""
    systems = len(comparisons.names)
    counts = np.bincount(_cells(comparisons), minlength=systems * systems * 3)
    return _without_itself(counts.reshape(systems, systems, 3).astype(np.float64))


def win_matrix(comparisons: Comparisons) -> Floats:
    """wins[i, j]: how often i was preferred to j, on whichever side; ties are nobody's win."""
    return wins_of(tally(comparisons))


def wins_of(tallied: Floats) -> Floats:
    return tallied[..., LEFT] + np.swapaxes(tallied[..., RIGHT], -1, -2)


def _cells(comparisons: Comparisons) -> Ints:
    systems = len(comparisons.names)
    cells: Ints = (comparisons.left * systems + comparisons.right) * 3 + comparisons.outcome
    return cells


def _without_itself(tallied: Floats) -> Floats:
    diagonal = np.arange(tallied.shape[-2])
    tallied[..., diagonal, diagonal, :] = 0
    return tallied


@dataclass(frozen=True)
class BradleyTerry:
    """Log strengths that sum to 0; the log odds that the left side gains; Davidson's log ν."""

    names: tuple[str, ...]
    strengths: Floats
    side: float | None = None
    tie: float | None = None

    @property
    def scores(self) -> Floats:
        """Strengths p = exp θ as shares of 100."""
        return scores_of(self.strengths)

    def probability(self, first: str, second: str) -> float:
        """That the first is preferred to the second, sides apart: p_i / (p_i + p_j), or, where
        ties were fitted, p_i / (p_i + p_j + ν √(p_i p_j))."""
        i, j = self.names.index(first), self.names.index(second)
        spread = np.array(self.strengths[i] - self.strengths[j])
        return float(probabilities(spread, self.tie)[LEFT])


def scores_of(strengths: Floats) -> Floats:
    raised = np.exp(strengths - strengths.max(axis=-1, keepdims=True))
    scores: Floats = 100 * raised / raised.sum(axis=-1, keepdims=True)
    return scores


def fit(comparisons: Comparisons, *, side: bool = False, ties: bool = False) -> BradleyTerry:
    """Bradley–Terry strengths; with a side effect or Davidson's ties where asked for."""
    return fit_tally(comparisons.names, tally(comparisons), side=side, ties=ties)


def fit_tally(
    names: Sequence[str], tallied: Floats, *, side: bool = False, ties: bool = False
) -> BradleyTerry:
    """The same from tallies (left, right, outcome)."""
    tied = tallied[..., TIE].sum()
    if tied and not ties:
        raise DegenerateInput("There are ties; fit them, or leave them out.")
    if ties and not tied:
        raise DegenerateInput("There are no ties to fit.")
    if not side and not ties:
        return fit_wins(names, wins_of(tallied))
    _require_estimable(names, wins_of(tallied) + (tallied[..., TIE] + tallied[..., TIE].T) / 2)
    if side:
        _require_both_sides_won(tallied)
    found = maximise(tallied[None], side=side, ties=ties)
    return BradleyTerry(
        tuple(names),
        found.strengths[0],
        float(found.side[0]) if found.side is not None else None,
        float(found.tie[0]) if found.tie is not None else None,
    )


def fit_wins(names: Sequence[str], wins: Floats) -> BradleyTerry:
    """Strengths from a win matrix, by choix.ilsr_pairwise_dense; its diagonal does not count."""
    counts = np.array(wins, dtype=np.float64)
    if counts.shape != (len(names), len(names)):
        raise DegenerateInput("A win matrix is square, with a row for each system.")
    if not np.isfinite(counts).all() or (counts < 0).any():
        raise DegenerateInput("A win matrix holds counts.")
    np.fill_diagonal(counts, 0)
    _require_estimable(names, counts)
    try:
        strengths = choix.ilsr_pairwise_dense(counts, max_iter=MOST_ROUNDS, tol=TOLERANCE)
    except RuntimeError as error:
        raise DidNotConverge(
            f"The fit of comparisons has not converged in {MOST_ROUNDS:,} rounds."
        ) from error
    return BradleyTerry(tuple(names), np.asarray(strengths, dtype=np.float64))


def _require_estimable(names: Sequence[str], wins: Floats) -> None:
    """A maximum exists only if each system is reached from each other by wins (Ford 1957)."""
    if len(names) < 2:
        raise DegenerateInput("Comparisons need at least two systems.")
    graph = (wins > 0).astype(np.float64)
    parts, part = connected_components(graph, directed=True, connection="weak")
    if parts > 1:
        raise DegenerateInput(
            f"The comparison graph is disconnected: {_listed(names, part, 0)} and "
            f"{_listed(names, part, 1)} were never compared, so no scale holds both."
        )
    parts, part = connected_components(graph, directed=True, connection="strong")
    if parts > 1:
        top = next(one for one in range(parts) if not wins[np.ix_(part != one, part == one)].any())
        raise DegenerateInput(
            f"{_listed(names, part, top)} never lost to any other system, so the strengths that "
            "fit best are infinitely far apart."
        )


def _listed(names: Sequence[str], part: NDArray[np.int32], which: int) -> str:
    members = [name for name, own in zip(names, part, strict=True) if own == which]
    shown = ", ".join(members[:5])
    return f"{shown} …" if len(members) > 5 else shown


def _require_both_sides_won(tallied: Floats) -> None:
    if not tallied[..., LEFT].any() or not tallied[..., RIGHT].any():
        raise DegenerateInput("One side always won, so a side effect is infinite.")


@dataclass(frozen=True)
class GoodnessOfFit:
    """Twice the log likelihood ratio against free shares a pair, and Pearson's statistic."""

    likelihood_ratio: float
    pearson: float
    degrees_of_freedom: int
    p_value: float


def goodness_of_fit(model: BradleyTerry, tallied: Floats) -> GoodnessOfFit:
    """G² = 2 Σ n log(n / n̂) and X² = Σ (n - n̂)² / n̂ over the cells that were asked.

    Cells are pairs of systems, told apart by side where the model has a side effect. The p-value
    takes comparisons as independent: with few workers it is too small.
    """
    observed = tallied if model.side is not None else _folded(tallied)
    spread = model.strengths[:, None] - model.strengths[None, :] + (model.side or 0.0)
    expected = probabilities(spread, model.tie) * observed.sum(axis=-1, keepdims=True)
    asked = observed.sum(axis=-1) > 0
    outcomes = 2 if model.tie is None else 3
    seen, predicted = observed[asked][:, :outcomes], expected[asked][:, :outcomes]
    parameters = len(model.names) - 1 + (model.side is not None) + (model.tie is not None)
    freedom = int(asked.sum()) * (outcomes - 1) - parameters
    if freedom <= 0:
        raise DegenerateInput("The model fits any such comparisons: no pair is left to test it.")
    logs = np.log(np.where(seen > 0, seen / predicted, 1.0))
    ratio = float(2 * (seen * logs).sum())
    pearson = float(((seen - predicted) ** 2 / predicted).sum())
    return GoodnessOfFit(ratio, pearson, freedom, float(stats.chi2.sf(ratio, freedom)))


def _folded(tallied: Floats) -> Floats:
    """Both sides of a pair in one cell, above the diagonal."""
    turned = np.swapaxes(tallied, 0, 1)[..., [RIGHT, LEFT, TIE]]
    both: Floats = (tallied + turned) * np.triu(np.ones(tallied.shape[:2]), 1)[..., None]
    return both


@dataclass(frozen=True)
class Intervals:
    """Of scores by system; of the left side's log odds where it was fitted."""

    model: BradleyTerry
    scores: dict[str, Interval]
    strengths: dict[str, Interval]
    side: Interval | None


def intervals(
    comparisons: Comparisons,
    *,
    by: By,
    side: bool = False,
    ties: bool = False,
    replicates: int = REPLICATES,
    level: float = LEVEL,
    seed: int = 0,
    heed: Heed = go_on,
) -> Intervals:
    """Bradley–Terry with intervals that resample workers, items or both (see resampling)."""
    model = fit(comparisons, side=side, ties=ties)
    rng = np.random.default_rng(seed)
    chosen = clusterings(by, comparisons.workers, comparisons.items)
    variances: dict[str, Floats] = {}
    fewest = len(comparisons.left)
    for name, codes in chosen.items():
        clusters = number_of_clusters(codes)
        drawn = _replicates(comparisons, codes, model, replicates, rng, heed)
        variances[name] = variance(drawn, clusters)
        fewest = min(fewest, clusters)
    spread = joined_variance(variances)
    systems = len(model.names)

    def interval(estimate: float, column: int, **kind: Any) -> Interval:
        return make_interval(estimate, spread[column], clusters=fewest, by=by, level=level, **kind)

    shares = [
        interval(float(score) / 100, position, scale=SHARE)
        for position, score in enumerate(model.scores)
    ]
    return Intervals(
        model,
        dict(zip(model.names, map(_in_percent, shares), strict=True)),
        {
            name: interval(float(model.strengths[position]), systems + position)
            for position, name in enumerate(model.names)
        },
        interval(model.side, 2 * systems) if model.side is not None else None,
    )


def _in_percent(share: Interval) -> Interval:
    return Interval(
        100 * share.estimate,
        100 * share.error,
        100 * share.low,
        100 * share.high,
        share.level,
        share.clusters,
        share.by,
    )


def _replicates(
    comparisons: Comparisons,
    codes: Ints,
    model: BradleyTerry,
    replicates: int,
    rng: np.random.Generator,
    heed: Heed,
) -> Floats:
    """Of each weighted data set: logits of the scores, log strengths, and the side effect."""
    systems = len(comparisons.names)
    cells = _cells(comparisons)
    clusters = number_of_clusters(codes)
    ones = np.ones(len(cells))
    by_cluster = sparse.csr_array((ones, (codes, cells)), (clusters, systems * systems * 3))
    at_once = max(1, CELLS_AT_ONCE // max(clusters, systems * systems * 3))
    rows = []
    for first in range(0, replicates, at_once):
        heed()
        weights = weights_of_clusters(rng, clusters, min(at_once, replicates - first))
        weighted = np.asarray(weights @ by_cluster)
        tallies = _without_itself(weighted.reshape(-1, systems, systems, 3))
        found = maximise(
            tallies,
            side=model.side is not None,
            ties=model.tie is not None,
            start=model.strengths,
        )
        parts = [SHARE.forward(scores_of(found.strengths) / 100), found.strengths]
        if found.side is not None:
            parts.append(found.side[:, None])
        rows.append(np.concatenate(parts, axis=1))
    return np.concatenate(rows)
