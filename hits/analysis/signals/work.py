"""What signals are computed from, and what they are."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from hits.analysis.agreement import Judgments, Level
from hits.analysis.arrays import Bools, Floats, Ints, finite, same_length
from hits.analysis.errors import DegenerateInput

Subject = Literal["page", "person"]

FAILED, PASSED, NO_GOLD = 0, 1, -1
NOT_SHOWN = -1
NOT_CONFIRMED, CONFIRMED, NOT_ASKED = 0, 1, -1
CLASSES = 10


@dataclass(frozen=True)
class Signal:
    """What one rule says of one page or person. `doubt` is 0 at nothing and 1 at the threshold.

    `other` is the person whom it is about as well.
    """

    name: str
    subject: Subject
    key: int
    figure: float
    threshold: float
    doubt: float
    says: str
    other: int | None = None

    @property
    def is_raised(self) -> bool:
        return self.doubt >= 1


@dataclass(frozen=True)
class Work:
    """Judgments, one row each. People, units, pages and devices are codes from 0 on.

    Pages are numbered in the order of their submission. `sides` says in which of `places` the
    chosen answer stood as it was shown. Seconds that nobody knows are nan.
    """

    units: Ints
    people: Ints
    pages: Ints
    positions: Ints
    values: Floats
    seconds: Floats
    sides: Ints
    places: int
    golds: Ints
    devices: Ints
    confirmed: Ints
    level: Level

    @classmethod
    def of(
        cls,
        *,
        units: Ints,
        people: Ints,
        pages: Ints,
        positions: Ints,
        values: Floats,
        seconds: Floats | None = None,
        sides: Ints | None = None,
        places: int = 0,
        golds: Ints | None = None,
        devices: Ints | None = None,
        confirmed: Ints | None = None,
        level: Level = "nominal",
    ) -> "Work":
        """A column that is left out says nothing of any judgment."""
        rows = len(units)
        return cls(
            units,
            people,
            pages,
            positions,
            values,
            np.full(rows, np.nan) if seconds is None else seconds,
            _filled(sides, rows, NOT_SHOWN),
            places,
            _filled(golds, rows, NO_GOLD),
            _filled(devices, rows, 0),
            _filled(confirmed, rows, NOT_ASKED),
            level,
        )

    def __post_init__(self) -> None:
        finite(self.values, "judgments")
        same_length(**self._columns())
        known = self.seconds[~np.isnan(self.seconds)]
        if not np.isfinite(known).all() or (known < 0).any():
            raise DegenerateInput("Seconds are numbers from 0 on.")
        if (self.sides >= 0).any() and not (self.places >= 2 and self.sides.max() < self.places):
            raise DegenerateInput(
                "A side is one of the places shown, of which there are two or more."
            )
        of_page = np.unique(np.column_stack([self.pages, self.people]), axis=0)
        if len(np.unique(of_page[:, 0])) < len(of_page):
            raise DegenerateInput("A page belongs to two people.")

    def kept(self, rows: Bools | Ints) -> "Work":
        """Only these rows, in this order; the codes stay."""
        fewer: dict[str, Any] = {name: column[rows] for name, column in self._columns().items()}
        return replace(self, **fewer)

    def in_order(self) -> "Work":
        """By person, page and position."""
        return self.kept(np.lexsort((self.positions, self.pages, self.people)))

    def _columns(self) -> dict[str, NDArray[Any]]:
        return {
            name: column for name, column in vars(self).items() if isinstance(column, np.ndarray)
        }

    def without_golds(self) -> "Work":
        rows = self.golds == NO_GOLD
        if not rows.any():
            raise DegenerateInput("All units are golds.")
        return self.kept(rows)

    def answers(self) -> Ints:
        """Answers as codes; numbers in up to ten classes that are equally frequent."""
        different, codes = np.unique(self.values, return_inverse=True)
        if self.level == "interval" and len(different) > CLASSES:
            edges = np.quantile(self.values, np.linspace(0, 1, CLASSES + 1)[1:-1])
            codes = np.searchsorted(np.unique(edges), self.values, side="right")
        return codes.astype(np.int64)

    def judgments(self) -> Judgments:
        units = np.unique(self.units, return_inverse=True)[1]
        people = np.unique(self.people, return_inverse=True)[1]
        return Judgments(units.astype(np.int64), people.astype(np.int64), self.values)


def grouped(keys: Ints) -> Iterator[tuple[int, Ints]]:
    """Each key with its rows, in their order."""
    order = np.argsort(keys, kind="stable")
    different, starts = np.unique(keys[order], return_index=True)
    yield from zip(different.tolist(), np.split(order, starts[1:]), strict=True)


def _filled(column: Ints | None, rows: int, nothing: int) -> Ints:
    return np.full(rows, nothing, dtype=np.int64) if column is None else column
