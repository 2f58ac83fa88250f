"""One answer a unit from several people's: majority, and Dawid and Skene's model."""

from dataclasses import dataclass

import numpy as np

from hits.analysis.agreement import Judgments
from hits.analysis.arrays import Floats, Ints
from hits.analysis.errors import DegenerateInput, DidNotConverge

SMALLEST = 1e-10
TOLERANCE = 1e-9
MOST_ROUNDS = 2000


@dataclass(frozen=True)
class Aggregate:
    """The likeliest answer of each unit, among `labels`, and the probability of each label."""

    labels: Floats
    answers: Floats
    probabilities: Floats


@dataclass(frozen=True)
class DawidSkene(Aggregate):
    """`confusions[w, c, k]`: how likely worker w says k where c is true; `priors`: of labels."""

    confusions: Floats
    priors: Floats


def majority(judgments: Judgments) -> Aggregate:
    """The answer that most people gave; shares of votes as probabilities.

    Between answers with equally many votes the lowest label is taken, so that the same judgments
    give the same answer; the shares show the tie.
    """
    labels, codes = _coded(judgments)
    shares = _votes(judgments, codes, len(labels))
    return Aggregate(labels, labels[shares.argmax(axis=1)], shares)


def dawid_skene(judgments: Judgments) -> DawidSkene:
    """A. P. Dawid and A. M. Skene, Applied Statistics 28, 1979, by expectation–maximisation.

    p(z_u = c | answers) ∝ π_c Π_w e^w[c, k_wu]. It begins at the shares of votes, as crowd-kit's
    does, and ends when a round raises the log likelihood by less than one part in 1e9. With one
    judgment a unit nothing tells workers apart, and it is refused.
    """
    judgments.pairable()
    labels, codes = _coded(judgments)
    if len(labels) < 2:
        raise DegenerateInput("All judgments are alike, so nothing tells workers apart.")
    belief = _votes(judgments, codes, len(labels))
    likelihood = -np.inf
    for _ in range(MOST_ROUNDS):
        priors = np.maximum(belief.mean(axis=0), SMALLEST)
        confusions = _confusions(judgments, codes, belief)
        before = likelihood
        belief, likelihood = _beliefs(judgments, codes, priors, confusions, len(belief))
        if likelihood - before < TOLERANCE * (1 + abs(likelihood)):
            answers = labels[belief.argmax(axis=1)]
            return DawidSkene(labels, answers, belief, confusions, priors)
    raise DidNotConverge(f"Dawid and Skene's model has not converged in {MOST_ROUNDS} rounds.")


def _coded(judgments: Judgments) -> tuple[Floats, Ints]:
    labels, codes = np.unique(judgments.values, return_inverse=True)
    return labels, codes.astype(np.int64)


def _votes(judgments: Judgments, codes: Ints, kinds: int) -> Floats:
    units = int(judgments.units.max()) + 1
    votes = np.bincount(judgments.units * kinds + codes, minlength=units * kinds)
    votes = votes.reshape(units, kinds)
    if not votes.any(axis=1).all():
        raise DegenerateInput("A unit has no judgment.")
    shares: Floats = votes / votes.sum(axis=1, keepdims=True)
    return shares


def _confusions(judgments: Judgments, codes: Ints, belief: Floats) -> Floats:
    """e[w, c, k], each row (w, c) summing to 1."""
    kinds = belief.shape[1]
    workers = int(judgments.workers.max()) + 1
    said = np.zeros((kinds, workers * kinds))
    cells = judgments.workers * kinds + codes
    for true in range(kinds):
        weights = belief[judgments.units, true]
        said[true] = np.bincount(cells, weights=weights, minlength=workers * kinds)
    counts = said.reshape(kinds, workers, kinds).transpose(1, 0, 2)
    seen = (counts.sum(axis=1, keepdims=True) > 0) * np.maximum(counts, SMALLEST)
    total = seen.sum(axis=2, keepdims=True)
    shares: Floats = np.divide(seen, total, out=np.zeros_like(seen), where=total > 0)
    return shares


def _beliefs(
    judgments: Judgments, codes: Ints, priors: Floats, confusions: Floats, units: int
) -> tuple[Floats, float]:
    """What is believed of each unit, and the log likelihood of all judgments."""
    with np.errstate(divide="ignore"):
        logs = np.log(confusions)
    likelihoods = np.empty((units, len(priors)))
    for true in range(len(priors)):
        said = logs[judgments.workers, true, codes]
        likelihoods[:, true] = np.bincount(judgments.units, weights=said, minlength=units)
    likelihoods += np.log(priors)
    of_units = np.logaddexp.reduce(likelihoods, axis=1)
    return np.exp(likelihoods - of_units[:, None]), float(of_units.sum())
