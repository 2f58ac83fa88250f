"""Judgments as the columns that signals are computed from."""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from hits.analysis.agreement import Level
from hits.analysis.arrays import coded
from hits.analysis.errors import DegenerateInput
from hits.analysis.signals.work import NO_GOLD, NOT_ASKED, NOT_SHOWN, Work
from hits.analysis.values import neutral_choice, reader_of
from hits.records import Json, Tallied

Values = Callable[[str, Json, Json | None], Iterable[tuple[str, float]]]


class Judged(NamedTuple):
    """A judgment, in the order of submission: pages and people by their ids."""

    unit: str
    person: int
    page: int
    position: int
    answer: Json
    shown: Json | None
    seconds: float | None
    device: str
    passed: bool | None
    confirmed: bool | None
    place: int | None


@dataclass(frozen=True)
class Read:
    """Work, and which people and pages its codes stand for."""

    work: Work
    people: list[int]
    pages: list[int]


class _Line(NamedTuple):
    unit: str
    person: int
    page: int
    position: int
    value: float
    seconds: float
    side: int
    gold: int
    device: str
    confirmed: int


def read(
    judged: Iterable[Judged], asked: Sequence[Tallied], *, compares: bool, places: int
) -> Read:
    """The first thing that a protocol tallies is what is compared."""
    values = _compared if compares else _values(asked)
    lines = [line for each in judged for line in _lines(each, values)]
    if not lines:
        raise DegenerateInput("Nothing has been judged yet.")
    columns = list(zip(*lines, strict=True))
    people, known_people = coded(columns[1])
    pages, known_pages = coded(columns[2])
    work = Work.of(
        units=coded(columns[0])[0],
        people=people,
        pages=pages,
        positions=np.array(columns[3], np.int64),
        values=np.array(columns[4], np.float64),
        seconds=np.array(columns[5], np.float64),
        sides=np.array(columns[6], np.int64),
        places=places,
        golds=np.array(columns[7], np.int64),
        devices=coded(columns[8])[0],
        confirmed=np.array(columns[9], np.int64),
        level=_level(asked, compares),
    )
    return Read(work, [int(str(each)) for each in known_people], [int(str(p)) for p in known_pages])


def _level(asked: Sequence[Tallied], compares: bool) -> Level:
    if compares or not asked:
        return "nominal"
    return "interval" if asked[0].is_number else "ordinal" if asked[0].is_ordered else "nominal"


def _compared(unit: str, answer: Json, shown: Json | None) -> Iterable[tuple[str, float]]:
    value = neutral_choice(unit, answer, shown)
    return [] if value is None else [("", value)]


def _values(asked: Sequence[Tallied]) -> Values:
    """Where nothing is tallied, answers are no numbers, and all count as alike."""
    if not asked:
        return lambda unit, answer, shown: [("", 0.0)]
    of_answer = reader_of(asked[0])
    return lambda unit, answer, shown: of_answer(answer)


def _lines(each: Judged, values: Values) -> Iterator[_Line]:
    """One for each thing that was judged; the time, and a gold, count once."""
    first = True
    for name, value in values(each.unit, each.answer, each.shown):
        if not first and each.passed is not None:
            return
        yield _Line(
            f"{each.unit}/{name}" if name else each.unit,
            each.person,
            each.page,
            each.position,
            value,
            each.seconds if first and each.seconds is not None else math.nan,
            NOT_SHOWN if each.place is None else each.place,
            NO_GOLD if each.passed is None else int(each.passed),
            each.device,
            NOT_ASKED if each.confirmed is None else int(each.confirmed),
        )
        first = False
