"""Two systems side by side: which is shown where, and which was chosen."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Annotated

from pydantic import StringConstraints

from hits.records import Aggregate, Fields, Json, JudgedUnit

SIDES = ("left", "right")
TIE = "tie"
UNDECIDED = "undecided"

# Names stand in tables and in the keys of units.
SystemName = Annotated[
    str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9 _.:()+-]*$", max_length=40)
]


def arranged(outputs: Sequence[Json], turn: int) -> Json:
    names = [output["system"] for output in outputs]
    left, right = names if turn % 2 == 0 else reversed(names)
    return {"left": left, "right": right}


def as_shown(outputs: Sequence[Json], shown: Json | None) -> list[Json]:
    """The left one first. Without what was shown, nobody knows which that is: a KeyError."""
    is_turned = (shown or {})["left"] != outputs[0]["system"]
    return list(reversed(outputs)) if is_turned else list(outputs)


def chosen(
    fields: Fields, outputs: Sequence[Json], shown: Json | None, *, ties: bool = False
) -> str | None:
    """The system on the side that was chosen, if one was."""
    said = fields.get("choice", [])
    choice = said[0] if len(said) == 1 else ""
    if choice == TIE and ties:
        return TIE
    return as_shown(outputs, shown)[SIDES.index(choice)]["system"] if choice in SIDES else None


def ways_to_choose(
    outputs: Sequence[Json], shown: Json | None, *, ties: bool = False
) -> list[Fields]:
    """The form filled in for the first system, for none of the two, and for the second."""
    sides = list(SIDES) if as_shown(outputs, shown) == list(outputs) else list(reversed(SIDES))
    return [{"choice": [each]} for each in ([sides[0], TIE, sides[1]] if ties else sides)]


def place_of(answer: Json, shown: Json | None) -> int | None:
    """On which side the chosen system stood; nothing of a tie or of a system beside itself."""
    if shown is None or shown["left"] == shown["right"] or answer["chosen"] == TIE:
        return None
    return SIDES.index("left" if answer["chosen"] == shown["left"] else "right")


def most_chosen(answers: Sequence[Json]) -> Aggregate:
    """The system that most people chose, if one is ahead of all others."""
    counts = Counter(answer["chosen"] for answer in answers)
    (label, most), *others = counts.most_common()
    if others and others[0][1] == most:
        label = UNDECIDED
    return Aggregate(label, False, dict(sorted(counts.items())))


def said_of(unit: JudgedUnit) -> Iterator[tuple[str, str, str]]:
    """Left, right and chosen system of each answer."""
    for answer, shown in zip(unit.answers, unit.shown, strict=True):
        left, right = as_shown(unit.payload["outputs"], shown)
        yield left["system"], right["system"], answer["chosen"]
