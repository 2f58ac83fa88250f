"""What a kind of evaluation asks for, and how it reads what it was given."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from hits.analysis.arrays import Floats
from hits.analysis.errors import DegenerateInput
from hits.analysis.heeding import Heed, go_on

# Lines are CSV or JSONL; a ranking is JSON or an array, an array is .npy.
Form = Literal["lines", "json", "ranking", "array"]
FILES: Mapping[Form, tuple[str, ...]] = {
    "lines": (".csv", ".jsonl"),
    "json": (".json",),
    "ranking": (".json", ".npy"),
    "array": (".npy",),
}
LARGEST: Mapping[str, int] = {
    ".csv": 100 * 1024**2,
    ".jsonl": 100 * 1024**2,
    ".json": 100 * 1024**2,
    ".npy": 1024**3,
}
# Squares and sums of numbers stay finite.
LARGEST_NUMBER = 1e100


@dataclass(frozen=True, slots=True)
class Upload:
    """A file. `released` are the files of a release that can be taken in its place."""

    name: str
    label: str
    help: str
    form: Form
    required: bool = True
    released: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Setting:
    """One of several options, a number between two ends, a yes or no, or some words."""

    name: str
    label: str
    default: str | int | bool
    help: str = ""
    options: Mapping[str, str] | None = None
    low: int = 0
    high: int = 0


@dataclass(frozen=True, slots=True)
class Kind:
    slug: str
    title: str
    description: str
    uploads: Sequence[Upload]
    settings: Sequence[Setting] = ()


@dataclass(frozen=True, slots=True)
class Given:
    """What was read from the files, by their names, and the settings.

    What takes long calls `heed` between its steps, which raises where somebody asked to stop.
    """

    files: Mapping[str, Any]
    settings: Mapping[str, Any]
    heed: Heed = go_on

    def has(self, name: str) -> bool:
        return name in self.files

    def lines(self, name: str, *columns: str) -> list[Mapping[str, Any]]:
        """Those of a file, each of which has these columns."""
        found: list[Mapping[str, Any]] = self.files[name]
        if not found:
            raise DegenerateInput(f"{name}: there are no lines.")
        for number, line in enumerate(found, 1):
            for column in columns:
                if column not in line:
                    raise DegenerateInput(f"{name}: entry {number} has no {column}.")
        return found

    def numbers(self, name: str, column: str) -> Floats:
        return np.array(
            [
                number_of(line[column], f"{name}: entry {place}, {column}")
                for place, line in enumerate(self.lines(name, column), 1)
            ]
        )

    def entries(self, name: str, *fields: str) -> list[Mapping[str, Any]]:
        """The objects of a JSON list, each of which has these fields."""
        return entries_of(self.files[name], name, *fields)


def entries_of(found: object, name: str, *fields: str) -> list[Mapping[str, Any]]:
    if not isinstance(found, list) or not found:
        raise DegenerateInput(f"{name}: this is not a list of objects.")
    for number, entry in enumerate(found, 1):
        if not isinstance(entry, dict) or not entry.keys() >= set(fields):
            raise DegenerateInput(f"{name}: entry {number} does not have {', '.join(fields)}.")
    return found


def items_of(found: object, name: str) -> Iterator[tuple[str, Any]]:
    """The entries of a JSON object."""
    if not isinstance(found, dict) or not found:
        raise DegenerateInput(f"{name}: this is not a JSON object with entries.")
    yield from found.items()


def number_of(value: object, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise DegenerateInput(f"{where}: {str(value)[:40]!r} is no number.")
    try:
        number = float(value)
    except (ValueError, OverflowError):
        raise DegenerateInput(f"{where}: {str(value)[:40]!r} is no number.") from None
    if not abs(number) <= LARGEST_NUMBER:
        raise DegenerateInput(f"{where}: {str(value)[:40]!r} is no number to compute with.")
    return number


def text_of(value: object, where: str) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise DegenerateInput(f"{where}: {str(value)[:40]!r} is neither a text nor a number.")
    return str(value)
