"""A simulated crowd with known bad work, to rehearse a study and to measure the quality rules on.

A person looks at a unit with the probability `attention`, and then is right with the probability
expit(skill + own effect - the unit's difficulty); a wrong answer is a neighbouring choice. Who
does not look answers blindly, in the style of their kind. Golds are plain cases: whoever looks
passes. Seconds are log-normal, with effects of the person and the device, and now and then a pause.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from hits.analysis.arrays import Bools, Floats, Ints
from hits.analysis.errors import DegenerateInput
from hits.analysis.signals.work import NO_GOLD, Work

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
class Settings:
    """Of a study of four choices, from a clear yes to a clear no, and of the people who do it."""

    people: int = 60
    bad_share: float = 0.1
    units: int = 1200
    judgments: int = 5
    page_units: int = 18
    page_golds: int = 2
    golds: int = 400
    truth: tuple[float, ...] = (0.15, 0.15, 0.25, 0.45)
    person_effect: float = 0.4
    unit_effect: float = 0.8
    activity: float = 0.6
    person_pace: float = 0.3
    judgment_pace: float = 0.5
    phones: float = 0.3
    phone_pace: float = 1.4
    pauses: float = 0.02
    pause: float = 20.0
    group: int = 3
    manners: Mapping[Kind, Manner] = field(default_factory=lambda: MANNERS)

    def __post_init__(self) -> None:
        if not 0 <= self.bad_share <= 1 or self.people <= self.judgments:
            raise DegenerateInput("A crowd needs more people than a unit has judgments.")


@dataclass(frozen=True)
class Simulated:
    """The work of a crowd, and what is true of it."""

    work: Work
    kinds: tuple[Kind, ...]
    bad_pages: Bools
    truth: Ints


def simulate(settings: Settings, seed: int) -> Simulated:
    rng = np.random.default_rng(seed)
    return _Crowd(settings, rng).works()


class _Crowd:
    def __init__(self, settings: Settings, rng: np.random.Generator) -> None:
        self.settings, self.rng = settings, rng
        people, every = settings.people, settings.units + settings.golds
        self.choices = len(settings.truth)
        self.kinds = _kinds(settings, rng)
        self.truth = rng.choice(self.choices, size=every, p=settings.truth)
        self.truth[settings.units :] = np.where(
            np.arange(settings.golds) % 2 == 0, 0, self.choices - 1
        )
        self.difficulty = rng.normal(scale=settings.unit_effect, size=every)
        self.effect = rng.normal(scale=settings.person_effect, size=people)
        self.pace = np.exp(rng.normal(scale=settings.person_pace, size=people))
        self.on_phone = rng.random(people) < settings.phones
        self.favourite = rng.integers(0, self.choices, people)
        self.favourite_side = rng.integers(0, 2, people)
        self.cycle = [self._cycle() for _ in range(people)]
        self.keys = self._keys()
        pairs = settings.golds // 2
        self.gold_pairs = np.array([rng.permutation(pairs) for _ in range(people)])

    def works(self) -> Simulated:
        pages = self._drawn()
        of_person = np.bincount([person for person, _ in pages], minlength=self.settings.people)
        done = np.zeros(self.settings.people, dtype=np.int64)
        rows: list[Floats] = []
        bad = []
        for page, (person, units) in enumerate(pages):
            progress = done[person] / max(1, of_person[person] - 1)
            asked = np.concatenate([units, self._golds(person, done[person])])
            rows.append(self._page(page, person, self.rng.permutation(asked), progress))
            done[person] += 1
            bad.append(self._is_bad(person, progress))
        columns = np.concatenate(rows).T
        units, people, numbers, positions, sides, golds = (
            columns[place].astype(np.int64) for place in (0, 1, 2, 3, 6, 7)
        )
        work = Work.of(
            units=units,
            people=people,
            pages=numbers,
            positions=positions,
            values=columns[4],
            seconds=columns[5],
            sides=sides,
            places=2,
            golds=golds,
            devices=self.on_phone[people].astype(np.int64),
        )
        return Simulated(work, self.kinds, np.array(bad), self.truth)

    def _cycle(self) -> Ints | None:
        """Half of those who answer blindly do so in a cycle of two to four different choices."""
        length = int(self.rng.integers(2, 5))
        cycle = self.rng.permutation(self.choices)[:length]
        return cycle if self.rng.random() < 0.5 else None

    def _keys(self) -> dict[int, Ints]:
        """The answers that each group of colluding people shares, by person."""
        members = [place for place, kind in enumerate(self.kinds) if kind == "colluding"]
        manner = self.settings.manners["colluding"]
        keys = {}
        for first in range(0, len(members), self.settings.group):
            looked = self.rng.random(len(self.truth)) < manner.attention
            blind = self.rng.integers(0, self.choices, len(self.truth))
            key = np.where(looked, self.truth, blind)
            keys.update(dict.fromkeys(members[first : first + self.settings.group], key))
        return keys

    def _drawn(self) -> list[tuple[int, Ints]]:
        """Who does which units page by page, nobody a unit twice, golds apart."""
        settings, rng = self.settings, self.rng
        wanted = np.full(settings.units, settings.judgments)
        seen = np.zeros((settings.people, settings.units), dtype=bool)
        activity = np.exp(rng.normal(scale=settings.activity, size=settings.people))
        able = np.ones(settings.people, dtype=bool)
        pages = []
        while wanted.any() and able.any():
            shares = activity * able / (activity * able).sum()
            person = int(rng.choice(settings.people, p=shares))
            open_units = np.flatnonzero((wanted > 0) & ~seen[person])
            if not len(open_units):
                able[person] = False
                continue
            size = min(settings.page_units, len(open_units))
            units = rng.choice(open_units, size=size, replace=False)
            wanted[units] -= 1
            seen[person, units] = True
            pages.append((person, units))
        return pages

    def _golds(self, person: int, done: int) -> Ints:
        """A yes and a no in turn, none twice while they last."""
        turns = done * self.settings.page_golds + np.arange(self.settings.page_golds)
        pairs = self.gold_pairs[person, turns % len(self.gold_pairs[person])]
        golds: Ints = self.settings.units + 2 * pairs + turns % 2
        return golds

    def _page(self, page: int, person: int, units: Ints, progress: float) -> Floats:
        values, sides = self._answers(person, units, progress)
        is_gold = units >= self.settings.units
        half = self.choices / 2
        passed = (values < half) == (self.truth[units] < half)
        length = len(units)
        return np.column_stack(
            [
                units,
                np.full(length, person),
                np.full(length, page),
                np.arange(length),
                values,
                self._seconds(person, length, progress),
                sides,
                np.where(is_gold, passed, NO_GOLD),
            ]
        ).astype(np.float64)

    def _answers(self, person: int, units: Ints, progress: float) -> tuple[Ints, Ints]:
        manner, rng, length = self._manner(person), self.rng, len(units)
        attention, _ = manner.at(progress)
        looked = rng.random(length) < attention
        values = np.where(looked, self._seen(person, units), self._blind(person, length))
        inverted = rng.random(length) < manner.inverts
        values = np.where(inverted, self.choices - 1 - self.truth[units], values)
        if person in self.keys:
            copied = rng.random(length) < manner.copies
            values = np.where(copied, self.keys[person][units], values)
        sides = rng.integers(0, 2, length)
        to_favourite = ~looked & (rng.random(length) < manner.favours)
        return values, np.where(to_favourite, self.favourite_side[person], sides)

    def _seen(self, person: int, units: Ints) -> Ints:
        rng, truth = self.rng, self.truth[units]
        skill = self._manner(person).skill + self.effect[person] - self.difficulty[units]
        right = rng.random(len(units)) < 1 / (1 + np.exp(-skill))
        step = np.where(rng.random(len(units)) < 0.5, -1, 1)
        step = np.where(truth == 0, 1, np.where(truth == self.choices - 1, -1, step))
        return np.where(right | (units >= self.settings.units), truth, truth + step)

    def _blind(self, person: int, length: int) -> Ints:
        anything = self.rng.integers(0, self.choices, length)
        kind, cycle = self.kinds[person], self.cycle[person]
        if kind == "biased":
            favoured = self.rng.random(length) < self._manner(person).favours
            return np.where(favoured, self.favourite[person], anything)
        if kind == "hasty" and cycle is not None:
            return cycle[np.arange(length) % len(cycle)]
        return anything

    def _seconds(self, person: int, length: int, progress: float) -> Floats:
        settings, rng = self.settings, self.rng
        _, median = self._manner(person).at(progress)
        usual = median * self.pace[person] * (settings.phone_pace if self.on_phone[person] else 1)
        pauses = np.where(rng.random(length) < settings.pauses, settings.pause, 1.0)
        noise = np.exp(rng.normal(scale=settings.judgment_pace, size=length))
        seconds: Floats = usual * noise * pauses
        return seconds

    def _manner(self, person: int) -> Manner:
        return self.settings.manners[self.kinds[person]]

    def _is_bad(self, person: int, progress: float) -> bool:
        manner = self._manner(person)
        return manner.at(progress)[0] * (1 - manner.inverts) < BAD_BELOW


def _kinds(settings: Settings, rng: np.random.Generator) -> tuple[Kind, ...]:
    bad = round(settings.bad_share * settings.people)
    kinds: list[Kind] = [DEALT[place % len(DEALT)] for place in range(bad)]
    kinds += ["careful"] * (settings.people - bad)
    return tuple(kinds[place] for place in rng.permutation(settings.people))
