"""Answers as numbers: what agreement and signals compare."""

from collections.abc import Callable, Iterator
from zlib import crc32

from hits.analysis.errors import DegenerateInput
from hits.records import Cell, Json, Tallied
from hits.sides import TIE


def reader_of(asked: Tallied) -> Callable[[Json], Iterator[tuple[str, float]]]:
    """Reads numbers as they are, options by their place. An answer with a value for each of several
    things gives each with its name; any other has no name."""
    codes = {option.value: place for place, option in enumerate(asked.options)}

    def number(value: Cell) -> float:
        return float(value or 0) if asked.is_number else codes.setdefault(str(value), len(codes))

    def read(answer: Json) -> Iterator[tuple[str, float]]:
        value = answer.get(asked.field)
        if isinstance(value, list):
            raise DegenerateInput(
                "Several answers can apply to one judgment, so it has no single value to compare."
            )
        if isinstance(value, dict):
            for name, part in value.items():
                yield name, number(part)
        elif value is not None:
            yield "", number(value)

    return read


def neutral_choice(unit: str, answer: Json, shown: Json | None) -> float | None:
    """Which of two systems was chosen, under names that the unit alone decides; nothing where a
    system stood beside itself. Names of systems would be more kinds of answers than anybody can
    give to a pair, and chance would agree too seldom; in the order of names the better system may
    always come first."""
    if shown is None or shown["left"] == shown["right"]:
        return None
    if answer["chosen"] == TIE:
        return 2
    is_second = answer["chosen"] == max(shown["left"], shown["right"])
    return float(is_second ^ (crc32(unit.encode()) & 1))
