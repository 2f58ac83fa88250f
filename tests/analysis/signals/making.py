"""Small studies whose signals can be told by hand."""

from collections.abc import Sequence

import numpy as np

from hits.analysis.agreement import Level
from hits.analysis.arrays import Floats, Ints
from hits.analysis.signals.work import Signal, Work


def column(values: Sequence[int]) -> Ints:
    return np.array(values, dtype=np.int64)


def of_people(
    answers: Sequence[Sequence[float]],
    *,
    units: Sequence[Sequence[int]] | None = None,
    page: int = 10,
    level: Level = "nominal",
    seconds: Sequence[Sequence[float]] | None = None,
    golds: Sequence[Sequence[int]] | None = None,
    sides: Sequence[Sequence[int]] | None = None,
    places: int = 0,
    devices: Sequence[int] | None = None,
    confirmed: Sequence[Sequence[int]] | None = None,
) -> Work:
    """One list of answers a person, to units 0, 1, … if not told, in pages of `page` answers."""
    lengths = [len(own) for own in answers]
    first_page = np.cumsum([0, *(-(-length // page) for length in lengths)])
    people = np.repeat(np.arange(len(lengths)), lengths)
    place = np.concatenate([np.arange(length) for length in lengths])
    return Work.of(
        units=place if units is None else np.concatenate([column(own) for own in units]),
        people=people,
        pages=first_page[people] + place // page,
        positions=place % page,
        values=numbers(answers),
        seconds=None if seconds is None else numbers(seconds),
        golds=_codes(golds),
        sides=_codes(sides),
        places=places,
        devices=None if devices is None else column(devices)[people],
        confirmed=_codes(confirmed),
        level=level,
    )


def numbers(rows: Sequence[Sequence[float]]) -> Floats:
    return np.concatenate([np.array(row, dtype=np.float64) for row in rows])


def _codes(rows: Sequence[Sequence[int]] | None) -> Ints | None:
    return None if rows is None else np.concatenate([column(row) for row in rows])


def the(signals: Sequence[Signal], subject: str, key: int) -> Signal:
    (found,) = [one for one in signals if (one.subject, one.key) == (subject, key)]
    return found
