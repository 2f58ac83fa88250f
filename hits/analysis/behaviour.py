"""How one simulated person answers: by looking, or blindly in the style of their kind.

A person looks at a unit with the probability `attention`, and then is right with the probability
expit(skill + own effect - the unit's difficulty); a wrong answer is a neighbouring choice. Who
does not look answers blindly. Golds are plain cases: whoever looks passes. Seconds are log-normal,
with effects of the person and the device, and now and then a pause.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from hits.analysis.arrays import Bools, Floats, Ints

Kind = Literal["careful", "hasty", "biased", "adversarial", "colluding", "drifting"]
# Bad kinds are dealt in this order, over and over: nobody colludes alone.
DEALT: tuple[Kind, ...] = (
    "hasty",
    "biased",
    "adversarial",
    "colluding",
    "colluding",
    "drifting",
)


@dataclass(frozen=True)
class Manner:
    """How people of one kind work. `seconds` is the median of a judgment at a desk.

    `inverts`: how often the opposite is answered on purpose. `copies`: how often the group's answer
    is taken. `at_last`: attention on the last page, reached in equal steps, and `seconds_at_last`.
    """

    attention: float
    seconds: float
    skill: float = 2.0
    inverts: float = 0.0
    copies: float = 0.0
    favours: float = 0.0
    at_last: float | None = None
    seconds_at_last: float | None = None

    def at(self, progress: float) -> tuple[float, float]:
        """Attention and median seconds, from the first page (0) to the last (1)."""
        if self.at_last is None or self.seconds_at_last is None:
            return self.attention, self.seconds
        attention = self.attention + progress * (self.at_last - self.attention)
        return attention, self.seconds * (self.seconds_at_last / self.seconds) ** progress


MANNERS: Mapping[Kind, Manner] = {
    "careful": Manner(attention=0.97, seconds=8.0),
    "hasty": Manner(attention=0.35, seconds=3.0),
    "biased": Manner(attention=0.45, seconds=6.0, favours=0.9),
    "adversarial": Manner(attention=0.97, seconds=8.0, inverts=0.6),
    "colluding": Manner(attention=0.35, seconds=4.0, copies=0.95),
    "drifting": Manner(attention=0.97, seconds=8.0, at_last=0.1, seconds_at_last=3.0),
}
# A page is bad when less than this share of it is answered by looking and meaning it.
BAD_BELOW = 0.6


@dataclass(frozen=True)
class Habits:
    """What is one person's own; `effect` is added to the skill of their kind, `pace` multiplies
    its seconds. The favourite and the cycle are places among the choices."""

    kind: Kind
    manner: Manner
    effect: float = 0.0
    pace: float = 1.0
    favourite: int = 0
    favourite_side: int = 0
    cycle: Ints | None = None


@dataclass(frozen=True)
class Asked:
    """Some units in the order in which one person sees them: the place of the right choice among
    so many, and, for somebody who copies, of the one on the sheet."""

    truth: Ints
    choices: int | Ints
    difficulty: Floats
    is_gold: Bools
    sheet: Ints | None = None


def answers(
    habits: Habits, asked: Asked, progress: float, rng: np.random.Generator
) -> tuple[Ints, Ints]:
    """The choice for each unit, and which of two sides it stood on."""
    manner, length = habits.manner, len(asked.truth)
    attention, _ = manner.at(progress)
    looked = rng.random(length) < attention
    values = np.where(looked, _seen(habits, asked, rng), _blind(habits, asked, rng))
    inverted = rng.random(length) < manner.inverts
    values = np.where(inverted, asked.choices - 1 - asked.truth, values)
    if asked.sheet is not None:
        copied = rng.random(length) < manner.copies
        values = np.where(copied, asked.sheet, values)
    sides = rng.integers(0, 2, length)
    to_favourite = ~looked & (rng.random(length) < manner.favours)
    return values, np.where(to_favourite, habits.favourite_side, sides)


def _seen(habits: Habits, asked: Asked, rng: np.random.Generator) -> Ints:
    truth, length = asked.truth, len(asked.truth)
    skill = habits.manner.skill + habits.effect - asked.difficulty
    right = rng.random(length) < 1 / (1 + np.exp(-skill))
    step = np.where(rng.random(length) < 0.5, -1, 1)
    last = np.asarray(asked.choices) - 1
    step = np.where(truth == 0, np.minimum(1, last), np.where(truth == last, -1, step))
    return np.where(right | asked.is_gold, truth, truth + step)


def _blind(habits: Habits, asked: Asked, rng: np.random.Generator) -> Ints:
    length = len(asked.truth)
    anything = rng.integers(0, asked.choices, length)
    if habits.kind == "biased":
        favoured = rng.random(length) < habits.manner.favours
        return np.where(favoured, habits.favourite % np.asarray(asked.choices), anything)
    if habits.kind == "hasty" and habits.cycle is not None:
        cycled: Ints = habits.cycle[np.arange(length) % len(habits.cycle)] % asked.choices
        return cycled
    return anything


@dataclass(frozen=True)
class Pace:
    """How much single judgments differ in log seconds, and how often and how long people pause."""

    spread: float = 0.5
    pauses: float = 0.02
    pause: float = 20.0


def seconds(
    habits: Habits, length: int, progress: float, pace: Pace, rng: np.random.Generator
) -> Floats:
    _, median = habits.manner.at(progress)
    pauses = np.where(rng.random(length) < pace.pauses, pace.pause, 1.0)
    noise = np.exp(rng.normal(scale=pace.spread, size=length))
    taken: Floats = median * habits.pace * noise * pauses
    return taken


def dealt(people: int, bad_share: float, rng: np.random.Generator) -> tuple[Kind, ...]:
    """So many people in an order of chance; the bad ones dealt evenly over the bad kinds."""
    bad = round(bad_share * people)
    kinds: list[Kind] = [DEALT[place % len(DEALT)] for place in range(bad)]
    kinds += ["careful"] * (people - bad)
    return tuple(kinds[place] for place in rng.permutation(people))


def cycle_of(choices: int, rng: np.random.Generator) -> Ints | None:
    """Half of those who answer blindly do so in a cycle of two to four different choices."""
    length = int(rng.integers(2, 5))
    cycle = rng.permutation(choices)[:length]
    return cycle if rng.random() < 0.5 else None


def is_bad(manner: Manner, progress: float) -> bool:
    return manner.at(progress)[0] * (1 - manner.inverts) < BAD_BELOW
