"""Maximum likelihood of paired comparisons with ties and a side effect, many data sets at once.

Davidson (1970) adds ties to Bradley and Terry's model, Davidson and Beaver (1977) the side on
which a system is shown. With log strengths θ, left i, right j and s = θ_i - θ_j + δ:

    P(left) : P(right) : P(tie) = exp(s / 2) : exp(-s / 2) : exp(η)

δ is how much the left side gains, as a log odds; without ties exp(η) is 0. The log likelihood is
concave, and Newton's method finds its only maximum; θ sums to 0.
"""

from dataclasses import dataclass

import numpy as np

from hits.analysis.arrays import Bools, Floats
from hits.analysis.errors import DegenerateInput, DidNotConverge

LEFT, RIGHT, TIE = 0, 1, 2
TOLERANCE = 1e-10
MOST_STEPS = 100
MOST_HALVINGS = 40


@dataclass(frozen=True)
class Estimates:
    """One row a data set. `side` and `tie` are None where they were not fitted."""

    strengths: Floats
    side: Floats | None
    tie: Floats | None


def maximise(
    tallies: Floats, *, side: bool = False, ties: bool = False, start: Floats | None = None
) -> Estimates:
    """Estimates from tallies of shape (data sets, left, right, outcome).

    `start` holds log strengths to begin with, for data sets that resemble one already fitted.
    """
    sets, systems = tallies.shape[:2]
    point = np.zeros((sets, systems + 2))
    if start is not None:
        point[:, :systems] = start
    free = np.array([True] * systems + [side, ties])
    value, gradient, hessian = _derivatives(tallies, point, ties)
    for _ in range(MOST_STEPS):
        step = _newton_step(gradient, hessian, free)
        if np.abs(step).max() < TOLERANCE:
            return Estimates(
                point[:, :systems],
                point[:, systems] if side else None,
                point[:, systems + 1] if ties else None,
            )
        point, value, gradient, hessian = _move(tallies, point, step, value, ties)
    raise DidNotConverge(f"The fit of comparisons has not converged in {MOST_STEPS} steps.")


def probabilities(spread: Floats, tie: Floats | float | None) -> Floats:
    """Of left, right and tie, along a last axis, for s = `spread` and η = `tie`."""
    nothing = np.full_like(spread, -np.inf)
    tied = nothing if tie is None else np.broadcast_to(tie, spread.shape)
    utilities = np.stack([spread / 2, -spread / 2, tied], axis=-1)
    odds = np.exp(utilities - utilities.max(axis=-1, keepdims=True))
    shares: Floats = odds / odds.sum(axis=-1, keepdims=True)
    return shares


def _spread(point: Floats) -> Floats:
    strengths, side = point[:, :-2], point[:, -2]
    return strengths[:, :, None] - strengths[:, None, :] + side[:, None, None]


def _derivatives(tallies: Floats, point: Floats, ties: bool) -> tuple[Floats, Floats, Floats]:
    """The log likelihood, its gradient and minus its second derivatives, in (θ, δ, η)."""
    shares = probabilities(_spread(point), point[:, -1, None, None] if ties else None)
    totals = tallies.sum(axis=-1)
    logs = np.log(np.where(tallies > 0, shares, 1.0))
    value: Floats = (tallies * logs).sum(axis=(1, 2, 3))

    difference = (shares[..., LEFT] - shares[..., RIGHT]) / 2
    pull = (tallies[..., LEFT] - tallies[..., RIGHT]) / 2 - totals * difference
    tied = tallies[..., TIE] - totals * shares[..., TIE]
    gradient = np.concatenate(
        [
            pull.sum(axis=2) - pull.sum(axis=1),
            pull.sum(axis=(1, 2))[:, None],
            tied.sum(axis=(1, 2))[:, None],
        ],
        axis=1,
    )
    along = totals * ((shares[..., LEFT] + shares[..., RIGHT]) / 4 - difference**2)
    across = -totals * shares[..., TIE] * difference
    of_ties = totals * shares[..., TIE] * (1 - shares[..., TIE])
    return value, gradient, _information(along, across, of_ties)


def _information(along: Floats, across: Floats, of_ties: Floats) -> Floats:
    sets, systems = along.shape[:2]
    information = np.zeros((sets, systems + 2, systems + 2))
    both = along + along.transpose(0, 2, 1)
    information[:, :systems, :systems] = -both
    diagonal = np.arange(systems)
    information[:, diagonal, diagonal] += both.sum(axis=2)
    for column, each in ((systems, along), (systems + 1, across)):
        net = each.sum(axis=2) - each.sum(axis=1)
        information[:, :systems, column] = information[:, column, :systems] = net
    information[:, systems, systems] = along.sum(axis=(1, 2))
    total = across.sum(axis=(1, 2))
    information[:, systems, systems + 1] = information[:, systems + 1, systems] = total
    information[:, systems + 1, systems + 1] = of_ties.sum(axis=(1, 2))
    return information


def _newton_step(gradient: Floats, information: Floats, free: Bools) -> Floats:
    chosen = np.flatnonzero(free)
    square = information[:, chosen[:, None], chosen[None, :]].copy()
    systems = len(free) - 2
    square[:, :systems, :systems] += 1.0
    step = np.zeros_like(gradient)
    try:
        found = np.linalg.solve(square, gradient[:, chosen, None])[..., 0]
    except np.linalg.LinAlgError as error:
        raise DegenerateInput(
            "The comparisons do not determine the fit: the side effect, the ties or a system's "
            "strength cannot be told apart."
        ) from error
    step[:, chosen] = found
    return step


def _move(
    tallies: Floats, point: Floats, step: Floats, value: Floats, ties: bool
) -> tuple[Floats, Floats, Floats, Floats]:
    """A whole step, halved for those data sets whose likelihood it would lower."""
    length = np.ones((len(point), 1))
    slack = 1e-9 * (1 + np.abs(value))
    for _ in range(MOST_HALVINGS):
        moved = point + length * step
        new, gradient, information = _derivatives(tallies, moved, ties)
        worse = ~(new >= value - slack)
        if not worse.any():
            return moved, new, gradient, information
        length[worse] /= 2
    raise DidNotConverge("No step raises the likelihood of the comparisons.")
