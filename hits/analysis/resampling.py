"""Errors and intervals that resample clusters.

Forty answers of one worker are not forty workers: judgments share their worker and their item, so
an interval that takes them as independent is too narrow. Here whole clusters get random weights,
and the statistic is computed anew from the weighted judgments.

Weights are exponential with mean 1, one a cluster: the Bayesian bootstrap (Rubin 1981), on
clusters. Unlike drawing with replacement it leaves no cluster out, so a replicate is never
degenerate where the data are not. The variance of G clusters' replicates is multiplied by (G + 1)
/ (G - 1), which makes it exact for a mean.

Workers and items are crossed, and no bootstrap resamples both exactly (McCullagh 2000); weights
that are products count the noise of single judgments three times (Owen and Eckles 2012). With
both, the variances are therefore joined as V = V_worker + V_item - V_judgment (Cameron, Gelbach
and Miller 2011), and V is at least the larger of the first two.

Where a share is 0 or 1 in every cluster, no resampling moves it. Its interval is then the exact one
of Clopper and Pearson (1934) with clusters as trials; other figures that are the same in every
cluster have none.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy import stats

from hits.analysis.arrays import Floats, Ints
from hits.analysis.errors import DegenerateInput

By = Literal["worker", "item", "both"]
Statistic = Callable[[Floats], float]

REPLICATES = 1000
LEVEL = 0.95
ROUNDING = 1e-12


@dataclass(frozen=True)
class Scale:
    """On which replicates are closer to normal; an interval is made there and brought back.

    `whole` is what a share is a share of; no interval reaches below `lowest`.
    """

    forward: Callable[[Floats], Floats]
    backward: Callable[[Floats], Floats]
    whole: float | None = None
    lowest: float = -np.inf


def _logit(share: Floats) -> Floats:
    with np.errstate(divide="ignore"):
        logit: Floats = np.log(share) - np.log1p(-share)
    return logit


def _expit(value: Floats) -> Floats:
    share: Floats = 1 / (1 + np.exp(-value))
    return share


def _at_most_one(value: Floats) -> Floats:
    with np.errstate(divide="ignore"):
        lower: Floats = -np.log1p(-value)
    return lower


def _fisher(correlation: Floats) -> Floats:
    with np.errstate(divide="ignore"):
        z: Floats = np.arctanh(correlation)
    return z


PLAIN = Scale(lambda values: values, lambda values: values)
SHARE = Scale(_logit, _expit, whole=1)
PERCENT = Scale(lambda values: _logit(values / 100), lambda values: 100 * _expit(values), whole=100)
CORRELATION = Scale(_fisher, np.tanh)
# Alpha and kappa: -1 is what two people have who never agree.
AT_MOST_ONE = Scale(_at_most_one, lambda values: 1 - np.exp(-values), lowest=-1)


@dataclass(frozen=True)
class Interval:
    """An estimate, its standard error, and the interval at a level of confidence."""

    estimate: float
    error: float
    low: float
    high: float
    level: float
    clusters: int
    by: str


def number_of_clusters(codes: Ints) -> int:
    """At least two, or nothing can be said about how clusters differ."""
    clusters = int(codes.max()) + 1 if codes.size else 0
    if clusters < 2:
        raise DegenerateInput("An interval needs at least two clusters to resample.")
    return clusters


def crossed(workers: Ints, items: Ints) -> Ints:
    """One code for each (worker, item) that occurs: the cells in which both are the same."""
    _, cells = np.unique(workers * (items.max() + 1) + items, return_inverse=True)
    return cells.astype(np.int64)


def clusterings(by: By, workers: Ints | None, items: Ints | None) -> dict[str, Ints]:
    """The clusterings whose replicates `by` needs, by name."""
    if by in ("worker", "both") and workers is None:
        raise DegenerateInput("Resampling workers needs the worker of each judgment.")
    if by in ("item", "both") and items is None:
        raise DegenerateInput("Resampling items needs the item of each judgment.")
    chosen: dict[str, Ints] = {}
    if by != "item" and workers is not None:
        chosen["worker"] = workers
    if by != "worker" and items is not None:
        chosen["item"] = items
    if len(chosen) == 2:
        chosen["judgment"] = crossed(chosen["worker"], chosen["item"])
    return chosen


def weights_of_clusters(rng: np.random.Generator, clusters: int, replicates: int) -> Floats:
    return rng.exponential(size=(replicates, clusters))


def replicate(
    statistic: Statistic, codes: Ints, replicates: int, rng: np.random.Generator
) -> Floats:
    """The statistic under `replicates` draws of cluster weights."""
    clusters = number_of_clusters(codes)
    drawn = (rng.exponential(size=clusters)[codes] for _ in range(replicates))
    return np.array([statistic(weights) for weights in drawn], dtype=np.float64)


def variance(replicates: Floats, clusters: int) -> Floats:
    """Of each column, with the correction that makes it exact for a mean of clusters."""
    spread: Floats = np.var(replicates, axis=0, ddof=1)
    return spread * (clusters + 1) / (clusters - 1)


def joined_variance(variances: dict[str, Floats]) -> Floats:
    """V_worker + V_item - V_judgment where there are all three; else the only one."""
    if "judgment" not in variances:
        return next(iter(variances.values()))
    worker, item = variances["worker"], variances["item"]
    joined = worker + item - variances["judgment"]
    return np.maximum(joined, np.maximum(worker, item))


def make_interval(
    estimate: float,
    scaled_variance: float,
    *,
    clusters: int,
    by: str,
    level: float = LEVEL,
    scale: Scale = PLAIN,
) -> Interval:
    """estimate ± t(G - 1) · error on the scale, with the fewest clusters as G, brought back."""
    if not 0 < level < 1:
        raise DegenerateInput("A level of confidence lies between 0 and 1.")
    error = float(np.sqrt(scaled_variance))
    centre = float(scale.forward(np.array(estimate)))
    if not np.isfinite(centre):
        low, high = _ends_of_the_scale(estimate, scale, clusters, level)
        return Interval(estimate, error, low, high, level, clusters, by)
    if error <= ROUNDING * max(1.0, abs(centre)):
        raise DegenerateInput(
            "The figure is the same in all clusters, so resampling tells no interval."
        )
    reach = float(stats.t.ppf((1 + level) / 2, clusters - 1)) * error
    low, high = scale.backward(np.array([centre - reach, centre + reach]))
    nearby = scale.backward(np.array([centre - error, centre + error]))
    return Interval(
        estimate,
        float(nearby[1] - nearby[0]) / 2,
        min(estimate, max(float(low), scale.lowest)),
        float(high),
        level,
        clusters,
        by,
    )


def _ends_of_the_scale(
    estimate: float, scale: Scale, clusters: int, level: float
) -> tuple[float, float]:
    """[(a / 2)^(1 / G), 1] of a share that is 1 in all G clusters, with a = 1 - level."""
    if scale.whole is None:
        raise DegenerateInput(
            "The figure is at the end of its range and the same in all clusters, so resampling "
            "tells no interval."
        )
    reach = scale.whole * ((1 - level) / 2) ** (1 / clusters)
    return (reach, scale.whole) if estimate else (0.0, scale.whole - reach)


def cluster_interval(
    statistic: Statistic,
    *,
    judgments: int,
    by: By,
    workers: Ints | None = None,
    items: Ints | None = None,
    replicates: int = REPLICATES,
    level: float = LEVEL,
    scale: Scale = PLAIN,
    seed: int = 0,
) -> Interval:
    """The interval of a statistic that takes one weight a judgment."""
    rng = np.random.default_rng(seed)
    estimate = float(statistic(np.ones(judgments)))
    variances, fewest = {}, judgments
    for name, codes in clusterings(by, workers, items).items():
        found = scale.forward(replicate(statistic, codes, replicates, rng))
        clusters = number_of_clusters(codes)
        variances[name] = _variance_of_finite(found, clusters, estimate, scale)
        fewest = min(fewest, clusters)
    return make_interval(
        estimate,
        float(joined_variance(variances)),
        clusters=fewest,
        by=by,
        level=level,
        scale=scale,
    )


def _variance_of_finite(found: Floats, clusters: int, estimate: float, scale: Scale) -> Floats:
    """A statistic at the end of its scale stays there in each replicate, and does not vary."""
    if not np.isfinite(scale.forward(np.array(estimate))) and not np.isfinite(found).any():
        return np.array(0.0)
    if not np.isfinite(found).all():
        raise DegenerateInput("The statistic has no finite value in some replicates.")
    return variance(found, clusters)


def mean_interval(
    values: Floats,
    *,
    by: By = "item",
    workers: Ints | None = None,
    items: Ints | None = None,
    replicates: int = REPLICATES,
    level: float = LEVEL,
    scale: Scale = PLAIN,
    seed: int = 0,
) -> Interval:
    """The interval of a mean: a share of judgments, or a metric over queries."""
    if values.size == 0:
        raise DegenerateInput("There is nothing to take the mean of.")
    return cluster_interval(
        lambda weights: float(np.average(values, weights=weights)),
        judgments=len(values),
        by=by,
        workers=workers,
        items=items,
        replicates=replicates,
        level=level,
        scale=scale,
        seed=seed,
    )
