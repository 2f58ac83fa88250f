"""How many judgments it takes to tell two systems apart."""

import numpy as np
from scipy import stats

from hits.analysis.errors import DegenerateInput

LEVEL, POWER = 0.05, 0.8
MOST_COMPARISONS = 1_000_000
DRAWN = 20_000
PERSON_EFFECT, UNIT_EFFECT = 0.4, 0.8


def judgments_to_tell(preference: float, *, level: float = LEVEL, power: float = POWER) -> int:
    """How many independent judgments tell two systems apart, of which one is preferred with this
    probability: the fewest from which on the two-sided sign test at this level finds it as often
    as this, by the exact binomial distribution (the test that rejects at most `level` / 2 on
    either side)."""
    if not 0.5 < preference < 1 or not 0 < level < 1 or not 0 < power < 1:
        raise DegenerateInput("A preference lies between a half and one; so a level and a power.")
    low, high = 1, 2
    while _power(high, preference, level) < power:
        low, high = high, high * 2
        if high > MOST_COMPARISONS:
            raise DegenerateInput("These two are told apart by no number of judgments there is.")
    # The exact power rises in a saw: from the first n that has it, look for one that keeps it.
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if _power(middle, preference, level) >= power else (middle, high)
    while any(_power(high + step, preference, level) < power for step in range(1, 12)):
        high += 1
    return high


def _power(n: int, preference: float, level: float) -> float:
    """Of more wins than chance allows; of as many losses it is next to nothing."""
    most = int(stats.binom.isf(level / 2, n, 0.5)) + 1
    return float(stats.binom.sf(most - 1, n, preference))


def design_effect(preference: float, judgments: int, seed: int = 0) -> float:
    """By how much more judgments are needed where each unit is judged so often: units differ in
    how clear they are, so that what is said of one is alike. 1 + (m - 1) ρ with the intra-unit
    correlation ρ of answers whose logit has a unit's and a person's normal effect."""
    if judgments < 1:
        raise DegenerateInput("A unit has at least one judgment.")
    rng = np.random.default_rng(seed)
    logit = np.log(preference / (1 - preference))
    unit = rng.normal(scale=UNIT_EFFECT, size=DRAWN)
    first, second = (
        1 / (1 + np.exp(-(logit + unit + rng.normal(scale=PERSON_EFFECT, size=DRAWN))))
        for _ in range(2)
    )
    mean = (first.mean() + second.mean()) / 2
    correlation = (np.mean(first * second) - mean**2) / (mean * (1 - mean))
    return float(1 + (judgments - 1) * max(0.0, correlation))
