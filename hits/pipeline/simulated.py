"""Simulated: a crowd of made-up people who answer the units of a real study.

Every protocol says in which `ways` a unit can be answered. The right one is the one that is true of
a drawn scene, or the gold's, or else one by chance that is the unit's own. A gold that says
otherwise than its scene, or than what is right for the unit it was promoted from, is wrong: whoever
looks fails it. What people make of it is in `hits.analysis.behaviour`. The same seed gives the same
people and the same answers.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, NamedTuple

import numpy as np

from hits import models
from hits.analysis.behaviour import (
    MANNERS,
    Asked,
    Habits,
    Pace,
    answers,
    cycle_of,
    dealt,
    seconds,
)
from hits.pipeline.errors import Refused
from hits.pipeline.known import Known
from hits.protocol import Fits, Protocol
from hits.records import Fields, Json

MOST_PEOPLE = 5_000
# Of people, units and phones: as in hits.analysis.crowd.
PERSON_EFFECT, UNIT_EFFECT, ACTIVITY, PERSON_PACE = 0.4, 0.8, 0.6, 0.3
PHONES, PHONE_PACE = 0.3, 1.4
GROUP = 3
PLACES = 12


class Unit(NamedTuple):
    """A unit as it is put before a person."""

    key: str
    payload: Json
    gold: Json | None
    shown: Json | None
    promoted_from: str | None = None


def unit_of(unit: models.Unit, shown: Json | None) -> Unit:
    """One of a study's, which comes with the unit that it was promoted from."""
    origin = unit.promoted_from
    return Unit(unit.key, unit.payload, unit.gold, shown, origin.key if origin else None)


class Answer(NamedTuple):
    fields: Fields
    seconds: float


@dataclass
class Worker:
    """One made-up person; those of one group copy from one sheet."""

    name: str
    habits: Habits
    activity: float
    device: str
    rng: np.random.Generator
    group: int | None = None
    pages: int = field(default=0)


def crowd(*, people: int, seed: int, bad_share: float) -> list[Worker]:
    if not 1 <= people <= MOST_PEOPLE:
        raise Refused(f"A simulated crowd has 1 to {MOST_PEOPLE:,} people.")
    if not 0 <= bad_share <= 1:
        raise Refused("The share of people who work badly lies between 0 and 1.")
    rng = np.random.default_rng(seed)
    colluding = 0
    workers = []
    for number, kind in enumerate(dealt(people, bad_share, rng), 1):
        on_phone = bool(rng.random() < PHONES)
        habits = Habits(
            kind=kind,
            manner=MANNERS[kind],
            effect=float(rng.normal(scale=PERSON_EFFECT)),
            pace=float(np.exp(rng.normal(scale=PERSON_PACE))) * (PHONE_PACE if on_phone else 1),
            favourite=int(rng.integers(0, PLACES)),
            favourite_side=int(rng.integers(0, 2)),
            cycle=cycle_of(PLACES, rng),
        )
        workers.append(
            Worker(
                name=f"simulated-{seed}-{number:03d}-{kind}",
                habits=habits,
                activity=float(np.exp(rng.normal(scale=ACTIVITY))),
                device="touch" if on_phone else "keyboard",
                rng=np.random.default_rng([seed, number]),
                group=colluding // GROUP if kind == "colluding" else None,
            )
        )
        colluding += kind == "colluding"
    return workers


class Answering:
    """How units of a study are answered by a crowd of this seed."""

    def __init__(
        self, kind: Protocol[Any, Any], settings: Any, seed: int, *, wrong_golds: float = 0.0
    ) -> None:
        """So large a share of the golds is made wrong: what is right is not what they expect."""
        if not 0 <= wrong_golds <= 1:
            raise Refused("The share of golds that are wrong lies between 0 and 1.")
        self.kind = kind
        self._settings = settings
        self._seed = seed
        self._wrong_golds = wrong_golds

    def page(self, worker: Worker, units: Sequence[Unit], progress: float) -> list[Answer]:
        """What this person says of the units in front of them, and in what time."""
        known = Known(self.kind, (unit.payload for unit in units))
        # What differs between two who answer alike, as where a slider stands, is a person's own.
        own = Random(f"{self._seed}/{worker.name}/{worker.pages}")
        ways = [self.kind.ways(unit.payload, unit.shown, self._settings, own) for unit in units]
        truth = [self._truth(unit, said, known) for unit, said in zip(units, ways, strict=True)]
        choices = np.array([len(said) for said in ways])
        sheet = None
        if worker.group is not None:
            sheet = np.array(
                [
                    self._on_sheet(worker, unit, place, len(said))
                    for unit, place, said in zip(units, truth, ways, strict=True)
                ]
            )
        asked = Asked(
            truth=np.array(truth),
            choices=choices,
            difficulty=np.array([self._difficulty(unit) for unit in units]),
            is_gold=np.array([unit.gold is not None for unit in units]),
            sheet=sheet,
        )
        chosen, _ = answers(worker.habits, asked, progress, worker.rng)
        taken = seconds(worker.habits, len(units), progress, Pace(), worker.rng)
        worker.pages += 1
        return [
            Answer(said[int(place)], round(float(each), 3))
            for said, place, each in zip(ways, chosen, taken, strict=True)
        ]

    def _truth(self, unit: Unit, ways: Sequence[Fields], fits: Fits) -> int:
        if unit.gold is not None:
            return self._truth_of_gold(unit, ways, fits)
        known = self._known(unit, ways, fits)
        return self._by_chance(unit.key, ways) if known is None else known

    def _truth_of_gold(self, unit: Unit, ways: Sequence[Fields], fits: Fits) -> int:
        passes = [self._passes(unit, said) for said in ways]
        right = [place for place, each in enumerate(passes) if each]
        wrong = [place for place, each in enumerate(passes) if not each]
        by_chance = Random(f"{self._seed}/wrong/{unit.key}")
        if wrong and by_chance.random() < self._wrong_golds:
            return by_chance.choice(wrong)
        known = self._known(unit, ways, fits)
        if known is None and unit.promoted_from is not None:
            known = self._by_chance(unit.promoted_from, ways)
        if known in wrong:
            return known
        return right[len(right) // 2] if right else 0

    def _known(self, unit: Unit, ways: Sequence[Fields], fits: Fits) -> int | None:
        place = self.kind.truth(unit.payload, fits)
        return None if place is None else round(place * (len(ways) - 1))

    def _by_chance(self, key: str, ways: Sequence[Fields]) -> int:
        """The same for every crowd, so that a second one does not contradict the first."""
        return Random(f"truth/{key}").randrange(len(ways))

    def _passes(self, unit: Unit, said: Fields) -> bool:
        answer = self.kind.parse(said, unit.payload, unit.shown, self._settings)
        return self.kind.check(answer, unit.gold or {})

    def _difficulty(self, unit: Unit) -> float:
        return Random(f"{self._seed}/difficulty/{unit.key}").gauss(0, UNIT_EFFECT)

    def _on_sheet(self, worker: Worker, unit: Unit, truth: int, choices: int) -> int:
        by_chance = Random(f"{self._seed}/sheet/{worker.group}/{unit.key}")
        looked = by_chance.random() < worker.habits.manner.attention
        return truth if looked else by_chance.randrange(choices)
