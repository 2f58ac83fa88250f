"""What is usual among people, and what chance gives: the two measures that signals are held to."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import stats

from hits.analysis.arrays import Floats
from hits.analysis.errors import DegenerateInput

# Half of a normal distribution lies within so many standard deviations of its middle.
QUARTILE = 0.6745
FURTHEST = 2.5
SMALLEST = 1e-300


@dataclass(frozen=True)
class Usual:
    """The middle of people's figures, and their spread: of normal ones, the standard deviation."""

    centre: float
    spread: float

    def distance(self, figure: float, error: float = 0.0) -> float:
        """In spreads, counting the figure's own standard error."""
        return (figure - self.centre) / float(np.hypot(self.spread, error))


def usual(figures: Floats, *, fewest: int, least: float) -> Usual:
    """From the shortest interval that holds half of the figures (Rousseeuw and Leroy 1987, ch. 4).

    It stays where most people are while less than half of them are off. Mean and deviation are
    then taken of all within 2.5 spreads of it. A spread below `least` does not matter.
    """
    if len(figures) < fewest:
        raise DegenerateInput(f"What is usual is not known from {len(figures)} people.")
    ordered = np.sort(figures)
    half = len(ordered) // 2 + 1
    widths = ordered[half - 1 :] - ordered[: len(ordered) - half + 1]
    start = int(widths.argmin())
    centre = float(ordered[start : start + half].mean())
    spread = float(widths[start]) / (2 * QUARTILE) * (1 + 5 / (len(ordered) - 1))
    near = ordered[np.abs(ordered - centre) <= FURTHEST * max(spread, least)]
    return Usual(float(near.mean()), max(float(near.std(ddof=1)), least))


@dataclass(frozen=True)
class Tail:
    """The exact binomial probability of `count` or more among `of`, in one of `times` tries."""

    count: int
    of: int
    rate: float
    times: int = 1

    @cached_property
    def probability(self) -> float:
        single = float(stats.binom.sf(self.count - 1, self.of, self.rate))
        return min(1.0, self.times * single)

    def doubt(self, level: float) -> float:
        """1 where the probability is `level`, 2 where it is its square."""
        return abs(float(np.log(max(self.probability, SMALLEST)) / np.log(level)))

    def share_needed(self, level: float) -> float:
        """The share from which the probability is at most `level`; above 1 if none is."""
        return (float(stats.binom.isf(level / self.times, self.of, self.rate)) + 1) / self.of
