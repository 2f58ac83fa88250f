"""Agreement of people who judged the same units.

All take judgments in long form: one row a judgment, with its unit, its worker and its value. With a
weight w on each judgment, a unit's disagreement is that of its pairs of judgments, i ≠ j, weighted
by w_i w_j; at w = 1 these are the published definitions, and other weights serve the resampling.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from hits.analysis.arrays import Floats, Ints, finite, same_length
from hits.analysis.errors import DegenerateInput
from hits.analysis.resampling import (
    AT_MOST_ONE,
    CORRELATION,
    LEVEL,
    PERCENT,
    REPLICATES,
    By,
    Interval,
    Scale,
    Statistic,
    cluster_interval,
    mean_interval,
)

Level = Literal["nominal", "ordinal", "interval"]


@dataclass(frozen=True)
class Judgments:
    """Codes of units and workers from 0 on; values are numbers, or codes where they are names."""

    units: Ints
    workers: Ints
    values: Floats

    def __post_init__(self) -> None:
        finite(self.values, "judgments")
        same_length(units=self.units, workers=self.workers, values=self.values)
        pairs = self.units * (self.workers.max() + 1) + self.workers
        if len(np.unique(pairs)) < len(pairs):
            raise DegenerateInput("A worker judged a unit twice.")

    def pairable(self) -> "Judgments":
        """Without the units that only one worker judged."""
        together = np.bincount(self.units)[self.units] > 1
        if not together.any():
            raise DegenerateInput(
                "Every unit has one judgment, so agreement cannot be told; add an overlap sample, "
                "units that two or more people judge."
            )
        units = np.unique(self.units[together], return_inverse=True)[1]
        workers = np.unique(self.workers[together], return_inverse=True)[1]
        return Judgments(units.astype(np.int64), workers.astype(np.int64), self.values[together])


def krippendorff_alpha(judgments: Judgments, level: Level) -> float:
    """α = 1 - D_o / D_e (Krippendorff 2004, ch. 11), for any number of judgments a unit.

    With δ² the difference of two values (nominal: 0 or 1; interval: (c - k)²; ordinal: the squared
    difference of mid-ranks Σ_{g = c}^{k} n_g - (n_c + n_k) / 2), D_o is its mean over pairs of
    judgments within units, each unit weighing as many as it has judgments, and D_e over all pairs.
    """
    paired = judgments.pairable()
    return alpha_statistic(paired, level)(np.ones(len(paired.values)))


def alpha_statistic(paired: Judgments, level: Level) -> Statistic:
    """α of pairable judgments as a function of their weights."""
    codes = np.unique(paired.values, return_inverse=True)[1].astype(np.int64)
    if codes.max() == 0:
        raise DegenerateInput("All judgments are alike, so there is no disagreement to expect.")
    pairs = _Pairs(paired.units, codes)
    spaced = _from_0_to_1(paired.values)

    def statistic(weights: Floats) -> float:
        if level == "nominal":
            observed, expected = pairs.unlike(weights)
        else:
            numbers = spaced if level == "interval" else _mid_ranks(codes, weights)
            observed, expected = pairs.squared_differences(numbers, weights)
        return float(1 - observed / expected)

    return statistic


def _from_0_to_1(values: Floats) -> Floats:
    """What alpha and correlations do not depend on, so that no square is too large or too small."""
    spread = np.ptp(values)
    spaced: Floats = (values - values.min()) / (spread if spread else 1.0)
    return spaced


def _mid_ranks(codes: Ints, weights: Floats) -> Floats:
    counts = np.bincount(codes, weights=weights)
    middles: Floats = np.cumsum(counts) - counts / 2
    return middles[codes]


class _Pairs:
    """Mean differences over pairs of judgments: within units, and overall."""

    def __init__(self, units: Ints, codes: Ints) -> None:
        self.units = units
        self.kinds = int(codes.max()) + 1
        self.codes = codes
        cells = units * self.kinds + codes
        self.cells, self.cell = np.unique(cells, return_inverse=True)
        self.unit_of_cell = self.cells // self.kinds

    def unlike(self, weights: Floats) -> tuple[float, float]:
        """The shares of pairs with unlike values."""
        in_cell = np.bincount(self.cell, weights=weights)
        alike: Floats = np.bincount(self.unit_of_cell, weights=in_cell**2).astype(np.float64)
        overall = np.bincount(self.codes, weights=weights)
        return self._mean_within(alike, weights), self._mean_overall(
            float((overall**2).sum()), weights
        )

    def squared_differences(self, numbers: Floats, weights: Floats) -> tuple[float, float]:
        """Σ_{i ≠ j} w_i w_j (x_i - x_j)² = 2 Σ w Σ w (x - mean)², in units and overall."""
        total = np.bincount(self.units, weights=weights)
        means = np.bincount(self.units, weights=weights * numbers) / total
        apart = weights * (numbers - means[self.units]) ** 2
        within = 2 * total * np.bincount(self.units, weights=apart)
        centred = numbers - np.average(numbers, weights=weights)
        overall = 2 * weights.sum() * (weights * centred**2).sum()
        pairs = total**2 - np.bincount(self.units, weights=weights**2)
        observed = float((total * within / pairs).sum() / total.sum())
        return observed, float(overall / (weights.sum() ** 2 - (weights**2).sum()))

    def _mean_within(self, alike: Floats, weights: Floats) -> float:
        total = np.bincount(self.units, weights=weights)
        pairs = total**2 - np.bincount(self.units, weights=weights**2)
        return float((total * (total**2 - alike) / pairs).sum() / total.sum())

    def _mean_overall(self, alike: float, weights: Floats) -> float:
        total = weights.sum()
        return float((total**2 - alike) / (total**2 - (weights**2).sum()))


def percent_agreement(judgments: Judgments) -> float:
    """The mean over units of the share of pairs of judgments that are alike, in percent."""
    paired = judgments.pairable()
    return percent_statistic(paired)(np.ones(len(paired.values)))


def percent_statistic(paired: Judgments) -> Statistic:
    codes = np.unique(paired.values, return_inverse=True)[1].astype(np.int64)
    pairs = _Pairs(paired.units, codes)

    def statistic(weights: Floats) -> float:
        return 100 * _alike_within(pairs, weights)

    return statistic


def _alike_within(pairs: _Pairs, weights: Floats) -> float:
    """P̄ of Fleiss: each unit counts by the mean weight of its judgments."""
    total = np.bincount(pairs.units, weights=weights)
    squares = np.bincount(pairs.units, weights=weights**2)
    in_cell = np.bincount(pairs.cell, weights=weights)
    alike = np.bincount(pairs.unit_of_cell, weights=in_cell**2)
    share = (alike - squares) / (total**2 - squares)
    return float(np.average(share, weights=total / np.bincount(pairs.units)))


def fleiss_kappa(judgments: Judgments) -> float:
    """κ = (P̄ - P_e) / (1 - P_e) (Fleiss 1971): P̄ the mean over units of the share of pairs alike,
    P_e = Σ p_c² with p_c the share of their judgments in category c. Every unit that two people or
    more judged needs as many judgments as every other."""
    paired = judgments.pairable()
    return fleiss_statistic(paired)(np.ones(len(paired.values)))


def fleiss_statistic(paired: Judgments) -> Statistic:
    if len(np.unique(np.bincount(paired.units))) > 1:
        raise DegenerateInput(
            "Fleiss' kappa needs the same number of judgments for every unit; Krippendorff's alpha "
            "does not."
        )
    codes = np.unique(paired.values, return_inverse=True)[1].astype(np.int64)
    if codes.max() == 0:
        raise DegenerateInput("All judgments are alike, so there is no disagreement to expect.")
    pairs = _Pairs(paired.units, codes)

    def statistic(weights: Floats) -> float:
        shares = np.bincount(codes, weights=weights) / weights.sum()
        by_chance = float((shares**2).sum())
        return (_alike_within(pairs, weights) - by_chance) / (1 - by_chance)

    return statistic


def cohen_kappa(first: NDArray[np.generic], second: NDArray[np.generic]) -> float:
    """κ = (p_o - p_e) / (1 - p_e) of two people over the same units (Cohen 1960)."""
    same_length(first=first, second=second)
    if len(first) == 0:
        raise DegenerateInput("The two people have no unit in common.")
    return cohen_statistic(first, second)(np.ones(len(first)))


def cohen_statistic(first: NDArray[np.generic], second: NDArray[np.generic]) -> Statistic:
    codes = np.unique(np.concatenate([first, second]), return_inverse=True)[1].astype(np.int64)
    one, two = codes[: len(first)], codes[len(first) :]
    if codes.max() == 0:
        raise DegenerateInput("All judgments are alike, so there is no disagreement to expect.")
    kinds = int(codes.max()) + 1

    def statistic(weights: Floats) -> float:
        observed = np.average(one == two, weights=weights)
        shares = [np.bincount(each, weights=weights, minlength=kinds) for each in (one, two)]
        by_chance = float(shares[0] @ shares[1]) / weights.sum() ** 2
        return float((observed - by_chance) / (1 - by_chance))

    return statistic


def cohen_interval(
    first: NDArray[np.generic],
    second: NDArray[np.generic],
    *,
    replicates: int = REPLICATES,
    level: float = LEVEL,
    seed: int = 0,
) -> Interval:
    """Cohen's kappa with an interval that resamples units: of people there are only two."""
    same_length(first=first, second=second)
    return cluster_interval(
        cohen_statistic(first, second),
        judgments=len(first),
        by="item",
        items=np.arange(len(first)),
        replicates=replicates,
        level=level,
        scale=AT_MOST_ONE,
        seed=seed,
    )


@dataclass(frozen=True)
class LeaveOneOut:
    """Each worker's correlation with the mean of the others, and the mean of those."""

    by_worker: Floats
    units_of_worker: Ints
    mean: float


FEWEST_UNITS = 3


def leave_one_out(judgments: Judgments) -> LeaveOneOut:
    """Pearson's r of a worker's values with the mean of all others on the same units.

    Workers with fewer than three units, or whose values do not vary, have no r (nan) and no part in
    the mean.
    """
    paired = judgments.pairable()
    found = _leave_one_out(paired, np.ones(len(paired.values)))
    if np.isnan(found).all():
        raise DegenerateInput("No worker has a correlation with the others: nothing varies.")
    return LeaveOneOut(found, np.bincount(paired.workers), float(np.nanmean(found)))


def _leave_one_out(paired: Judgments, weights: Floats) -> Floats:
    values = _from_0_to_1(paired.values)
    sums, counts = np.bincount(paired.units, weights=values), np.bincount(paired.units)
    rest = (sums[paired.units] - values) / (counts[paired.units] - 1)
    total = np.bincount(paired.workers, weights=weights)

    def centred(values: Floats) -> Floats:
        means = np.bincount(paired.workers, weights=weights * values) / total
        difference: Floats = values - means[paired.workers]
        return difference

    own, other = centred(values), centred(rest)

    def moment(values: Floats) -> Floats:
        return np.bincount(paired.workers, weights=weights * values).astype(np.float64)

    spread = np.sqrt(moment(own**2) * moment(other**2))
    enough = (np.bincount(paired.workers) >= FEWEST_UNITS) & (spread > 1e-12 * total)
    found = np.full(len(total), np.nan)
    found[enough] = (moment(own * other)[enough] / spread[enough]).clip(-1, 1)
    return found


def alike_with_others(paired: Judgments) -> Floats:
    """Of each worker, the share of the others' judgments of their units that are alike to theirs:
    Σ_u (n_uc - 1) / Σ_u (n_u - 1), with c the worker's value and n_u the judgments of unit u."""
    codes = np.unique(paired.values, return_inverse=True)[1].astype(np.int64)
    cells = paired.units * (int(codes.max()) + 1) + codes
    cell = np.unique(cells, return_inverse=True)[1]
    alike = np.bincount(paired.workers, weights=np.bincount(cell)[cell] - 1)
    others = np.bincount(paired.workers, weights=np.bincount(paired.units)[paired.units] - 1)
    shares: Floats = alike / others
    return shares


@dataclass(frozen=True)
class Retest:
    """Pairs that were rated both ways."""

    pairs: int
    mean_absolute_difference: float
    mean_difference: float
    pearson: float
    spearman: float
    differences: Floats

    def interval(self, *, level: float = LEVEL, seed: int = 0) -> Interval:
        """Of the mean absolute difference, resampling pairs."""
        pairs = np.arange(self.pairs)
        return mean_interval(np.abs(self.differences), items=pairs, level=level, seed=seed)


def rated_both_ways(first: Ints, second: Ints, scores: Floats) -> Retest:
    """Test and retest: how far apart the ratings of (a, b) and of (b, a) are (CxC §2)."""
    same_length(first=first, second=second, scores=scores)
    width = int(max(first.max(initial=0), second.max(initial=0))) + 1
    keys, mirrored = first * width + second, second * width + first
    order = np.argsort(keys)
    if (np.diff(keys[order]) == 0).any():
        raise DegenerateInput("A pair is there twice in the same order.")
    asked = np.flatnonzero(first < second)
    places = np.minimum(np.searchsorted(keys[order], mirrored[asked]), max(len(keys) - 1, 0))
    both = keys[order][places] == mirrored[asked]
    one, two = scores[asked[both]], scores[order][places[both]]
    if len(one) < 2:
        raise DegenerateInput("Fewer than two pairs were rated both ways.")
    if np.ptp(one) == 0 or np.ptp(two) == 0:
        raise DegenerateInput("The ratings of pairs rated both ways do not vary.")
    return Retest(
        len(one),
        float(np.abs(one - two).mean()),
        float((one - two).mean()),
        float(np.corrcoef(one, two)[0, 1]),
        float(stats.spearmanr(one, two).statistic),
        one - two,
    )


Figure = Literal["nominal alpha", "ordinal alpha", "interval alpha", "fleiss", "percent", "one out"]


def agreement_interval(
    judgments: Judgments,
    figure: Figure,
    *,
    by: By,
    replicates: int = REPLICATES,
    level: float = LEVEL,
    seed: int = 0,
) -> Interval:
    """A figure of agreement with an interval that resamples workers, units or both."""
    paired = judgments.pairable()
    statistic, scale = _statistic_of(paired, figure)
    return cluster_interval(
        statistic,
        judgments=len(paired.values),
        by=by,
        workers=paired.workers,
        items=paired.units,
        replicates=replicates,
        level=level,
        scale=scale,
        seed=seed,
    )


def _statistic_of(paired: Judgments, figure: Figure) -> tuple[Statistic, Scale]:
    match figure:
        case "nominal alpha":
            return alpha_statistic(paired, "nominal"), AT_MOST_ONE
        case "ordinal alpha":
            return alpha_statistic(paired, "ordinal"), AT_MOST_ONE
        case "interval alpha":
            return alpha_statistic(paired, "interval"), AT_MOST_ONE
        case "fleiss":
            return fleiss_statistic(paired), AT_MOST_ONE
        case "percent":
            return percent_statistic(paired), PERCENT
        case "one out":
            return _mean_one_out(paired), CORRELATION


def _mean_one_out(paired: Judgments) -> Statistic:
    """The mean over workers, each by the mean weight of their judgments."""
    own = np.bincount(paired.workers)

    def statistic(weights: Floats) -> float:
        found = _leave_one_out(paired, weights)
        known = ~np.isnan(found)
        if not known.any():
            raise DegenerateInput("No worker has a correlation with the others: nothing varies.")
        share = np.bincount(paired.workers, weights=weights) / own
        return float(np.average(found[known], weights=share[known]))

    return statistic
