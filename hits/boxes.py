"""Boxes drawn on an image, each with its label on a plate: pure geometry, in the image's pixels."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

# The height of a plate, as a part of the image's longer and of its shorter side: legible also
# where the image is shown small.
OF_LONGER, OF_SHORTER = 0.06, 0.08
LETTER = 0.75
CHARACTER = 0.56
LONGEST_LABEL = 24
# A box with less room than this many plates has its plate outside.
ROOMY = 2.5


class Box(NamedTuple):
    x: float
    y: float
    width: float
    height: float

    @property
    def right(self) -> float:
        return self.x + self.width

    @property
    def bottom(self) -> float:
        return self.y + self.height

    @property
    def area(self) -> float:
        return self.width * self.height


@dataclass(frozen=True, slots=True)
class Marked:
    """A box as it is drawn. `number` chooses its pattern, `plate` is where its label stands, and
    where that is away from the box, `leader` is a line between the two."""

    number: int
    label: str
    box: Box
    plate: Box
    letter_size: float
    leader: tuple[float, float, float, float] | None

    @property
    def label_x(self) -> float:
        return round(self.plate.x + self.plate.width / 2, 1)

    @property
    def label_y(self) -> float:
        return round(self.plate.y + self.plate.height / 2 + self.letter_size * 0.35, 1)


def shared(one: Box, two: Box) -> float:
    """The area that two boxes have in common."""
    width = min(one.right, two.right) - max(one.x, two.x)
    height = min(one.bottom, two.bottom) - max(one.y, two.y)
    return max(width, 0.0) * max(height, 0.0)


def overlap(boxes: Sequence[Box]) -> float:
    """How much of the smaller of two boxes lies in the larger one, for the two that share most."""
    return max(
        (
            shared(one, two) / smaller
            for one, two in combinations(boxes, 2)
            if (smaller := min(one.area, two.area)) > 0
        ),
        default=0.0,
    )


def clipped(box: Box, width: float, height: float) -> Box:
    """What of a box lies in the image; a box beside it becomes a line at its edge."""
    left, top = min(max(box.x, 0), width), min(max(box.y, 0), height)
    right, bottom = min(max(box.right, 0), width), min(max(box.bottom, 0), height)
    return Box(*(round(each, 1) for each in (left, top, right - left, bottom - top)))


def marked(
    labels: Sequence[str], boxes: Sequence[Box], width: float, height: float
) -> list[Marked]:
    """The boxes of an image with their plates: in the image, touching their box where they can,
    and none over another. The smallest box, which has fewest places, is served first."""
    drawn = [clipped(box, width, height) for box in boxes]
    high = round(max(OF_LONGER * max(width, height), OF_SHORTER * min(width, height)), 1)
    plates: dict[int, Box] = {}
    for place in sorted(range(len(drawn)), key=lambda each: (drawn[each].area, each)):
        plates[place] = _plate(
            drawn[place], _width(labels[place], high), high, list(plates.values()), (width, height)
        )
    return [
        Marked(
            number=place + 1,
            label=_shortened(label),
            box=box,
            plate=plates[place],
            letter_size=round(high * LETTER, 1),
            leader=_leader(plates[place], box),
        )
        for place, (label, box) in enumerate(zip(labels, drawn, strict=True))
    ]


def _shortened(label: str) -> str:
    return label if len(label) <= LONGEST_LABEL else f"{label[: LONGEST_LABEL - 1]}…"


def _width(label: str, high: float) -> float:
    letters = len(_shortened(label)) * high * LETTER * CHARACTER
    return round(max(high, letters + high * 0.5), 1)


def _plate(
    box: Box, wide: float, high: float, taken: Sequence[Box], size: tuple[float, float]
) -> Box:
    width, height = size
    places = [*_beside(box, wide, high), *_elsewhere(box, wide, high, size)]
    found = [
        Box(round(_within(x, width - wide), 1), round(_within(y, height - high), 1), wide, high)
        for x, y in places
    ]

    def hidden(plate: Box) -> float:
        return sum(shared(plate, other) for other in taken)

    return next((plate for plate in found if not hidden(plate)), min(found, key=hidden))


def _within(value: float, most: float) -> float:
    return min(max(value, 0.0), max(most, 0.0))


def _beside(box: Box, wide: float, high: float) -> Iterator[tuple[float, float]]:
    inside = [
        (box.x, box.y),
        (box.right - wide, box.y),
        (box.x, box.bottom - high),
        (box.right - wide, box.bottom - high),
    ]
    outside = [
        (box.x, box.y - high),
        (box.x, box.bottom),
        (box.right, box.y),
        (box.x - wide, box.y),
    ]
    is_roomy = box.width > ROOMY * wide and box.height > ROOMY * high
    yield from inside + outside if is_roomy else outside + inside


def _elsewhere(
    box: Box, wide: float, high: float, size: tuple[float, float]
) -> list[tuple[float, float]]:
    """Places all over the image, the nearest first."""
    columns, rows = (_steps(size[0], wide), _steps(size[1], high))
    return sorted(((x, y) for x in columns for y in rows), key=_distance_from(box, wide, high))


def _steps(length: float, step: float) -> list[float]:
    count = max(int((length - step) // (step / 2)), 0)
    return [place * step / 2 for place in range(count + 1)]


def _distance_from(
    box: Box, wide: float, high: float
) -> Callable[[tuple[float, float]], tuple[float, float, float]]:
    def distance(place: tuple[float, float]) -> tuple[float, float, float]:
        x, y = place
        across = max(box.x - (x + wide), x - box.right, 0.0)
        down = max(box.y - (y + high), y - box.bottom, 0.0)
        return across + down, y, x

    return distance


def _leader(plate: Box, box: Box) -> tuple[float, float, float, float] | None:
    """From the middle of the plate to the nearest point of a box that it does not touch."""
    apart = (
        plate.right < box.x or box.right < plate.x or plate.bottom < box.y or box.bottom < plate.y
    )
    if not apart:
        return None
    x, y = plate.x + plate.width / 2, plate.y + plate.height / 2
    to_x, to_y = min(max(x, box.x), box.right), min(max(y, box.y), box.bottom)
    return round(x, 1), round(y, 1), round(to_x, 1), round(to_y, 1)
