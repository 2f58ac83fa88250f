"""A simulated crowd with known bad work, to rehearse a study and to measure the quality rules on.

Who does which units, page by page; how each person answers is in `behaviour`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from hits.analysis.arrays import Bools, Floats, Ints
from hits.analysis.behaviour import (
    MANNERS,
    Asked,
    Habits,
    Kind,
    Manner,
    Pace,
    answers,
    cycle_of,
    dealt,
    is_bad,
    seconds,
)
from hits.analysis.errors import DegenerateInput
from hits.analysis.signals.work import NO_GOLD, Work


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
        self.kinds = dealt(settings.people, settings.bad_share, rng)
        self.truth = rng.choice(self.choices, size=every, p=settings.truth)
        self.truth[settings.units :] = np.where(
            np.arange(settings.golds) % 2 == 0, 0, self.choices - 1
        )
        self.difficulty = rng.normal(scale=settings.unit_effect, size=every)
        effect = rng.normal(scale=settings.person_effect, size=people)
        pace = np.exp(rng.normal(scale=settings.person_pace, size=people))
        self.on_phone = rng.random(people) < settings.phones
        pace *= np.where(self.on_phone, settings.phone_pace, 1)
        favourite = rng.integers(0, self.choices, people)
        side = rng.integers(0, 2, people)
        self.people = [
            Habits(
                kind=kind,
                manner=settings.manners[kind],
                effect=effect[place],
                pace=pace[place],
                favourite=int(favourite[place]),
                favourite_side=int(side[place]),
                cycle=cycle_of(self.choices, rng),
            )
            for place, kind in enumerate(self.kinds)
        ]
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
            bad.append(is_bad(self.people[person].manner, progress))
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
        settings, habits, is_gold = self.settings, self.people[person], units >= self.settings.units
        sheet = self.keys[person][units] if person in self.keys else None
        asked = Asked(self.truth[units], self.choices, self.difficulty[units], is_gold, sheet)
        values, sides = answers(habits, asked, progress, self.rng)
        pace = Pace(settings.judgment_pace, settings.pauses, settings.pause)
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
                seconds(habits, length, progress, pace, self.rng),
                sides,
                np.where(is_gold, passed, NO_GOLD),
            ]
        ).astype(np.float64)
