"""Boxes drawn on an image, each with its label on a plate: pure geometry, in the image's pixels."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple
from unicodedata import east_asian_width

from hits.records import Json

# The height of a plate, as a part of the image's longer and of its shorter side: legible also
# where the image is shown small. Words, which hide more, are lower than single letters.
OF_LETTERS, OF_WORDS = (0.06, 0.08), (0.055, 0.07)
LETTER = 0.78
# How wide bold characters are, as a part of the size of letters; a text is set to exactly that.
NARROW, USUAL, WIDE, WIDEST = 0.38, 0.62, 0.76, 0.98
NARROW_ONES, WIDEST_ONES = frozenset("fijlrtI.,;:!|'`()[]{}/\\ -"), frozenset("mwMW@%…—")
LONGEST_LABEL = 24
# A box with less room than this many plates has its plate outside.
ROOMY = 2.5
# How much of a box may be hidden before a plate stands away from its own.
MUCH = 0.4


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
    label_width: float
    leader: tuple[float, float, float, float] | None

    @property
    def label_x(self) -> float:
        return round(self.plate.x + self.plate.width / 2, 1)

    @property
    def label_y(self) -> float:
        return round(self.plate.y + self.plate.height / 2 + self.letter_size * 0.35, 1)

    @property
    def corner(self) -> str:
        """The corner of the plate that is at the box, and stays there when it is drawn smaller."""
        if self.leader:
            return "middle"
        plate, box = self.plate, self.box
        across = _end(plate.x, plate.right, box.x, box.right)
        down = _end(plate.y, plate.bottom, box.y, box.bottom)
        return f"{('left', 'right')[across]}-{('top', 'bottom')[down]}"


def shared(one: Box, two: Box) -> float:
    """The area that two boxes have in common."""
    width = min(one.right, two.right) - max(one.x, two.x)
    height = min(one.bottom, two.bottom) - max(one.y, two.y)
    return max(width, 0.0) * max(height, 0.0)


def beside_the_image(objects: Iterable[Json], size: tuple[int, int] | None) -> str:
    """Which of the labelled boxes, if one, has nothing in an image of this size."""
    image = Box(0, 0, *size) if size else None
    for each in objects:
        if image and not shared(Box(*each["box"]), image):
            return (
                f"The box of “{each['label']}” lies outside the image, which is {image.width:g} "
                f"pixels wide and {image.height:g} high."
            )
    return ""


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
    high = _height(labels, width, height)
    letter_size = round(high * LETTER, 1)
    texts = [_shortened(label, (width - high * 0.5) / letter_size) for label in labels]
    widths = [round(_ems(text) * letter_size, 1) for text in texts]
    plates: dict[int, Box] = {}
    for place in sorted(range(len(drawn)), key=lambda each: (drawn[each].area, each)):
        wide = round(max(high, widths[place] + high * 0.5), 1)
        taken = list(plates.values())
        plates[place] = _plate(drawn[place], wide, high, drawn, taken, (width, height))
    return [
        Marked(
            number=place + 1,
            label=texts[place],
            box=box,
            plate=plates[place],
            letter_size=letter_size,
            label_width=widths[place],
            leader=_leader(plates[place], box),
        )
        for place, box in enumerate(drawn)
    ]


def _height(labels: Sequence[str], width: float, height: float) -> float:
    of_longer, of_shorter = OF_LETTERS if all(len(each) == 1 for each in labels) else OF_WORDS
    return round(max(of_longer * max(width, height), of_shorter * min(width, height)), 1)


def _shortened(label: str, room: float) -> str:
    """As much of a label as there is room for, in ems."""
    if len(label) <= LONGEST_LABEL and _ems(label) <= room:
        return label
    kept = label[: LONGEST_LABEL - 1]
    while len(kept) > 1 and _ems(f"{kept}…") > room:
        kept = kept[:-1]
    return f"{kept}…"


def _ems(text: str) -> float:
    return sum(_em(character) for character in text)


def _em(character: str) -> float:
    if character in NARROW_ONES:
        return NARROW
    if character in WIDEST_ONES or east_asian_width(character) in {"W", "F"}:
        return WIDEST
    return WIDE if character.isupper() else USUAL


def _plate(
    box: Box,
    wide: float,
    high: float,
    boxes: Sequence[Box],
    taken: Sequence[Box],
    size: tuple[float, float],
) -> Box:
    """Over no other plate; beside its box if that hides little of any box, else away from it."""
    seen = [each for each in boxes if each != box or not _is_roomy(box, wide, high)]

    def at(x: float, y: float) -> Box:
        left, top = _within(x, size[0] - wide), _within(y, size[1] - high)
        return Box(round(left, 1), round(top, 1), wide, high)

    def hidden(plate: Box) -> tuple[float, float]:
        return (
            sum(shared(plate, other) for other in taken),
            round(sum(shared(plate, other) / other.area for other in seen if other.area), 1),
        )

    beside = [at(x, y) for x, y in _beside(box, wide, high)]
    best = min(beside, key=hidden)
    if hidden(best) <= (0.0, MUCH):
        return best
    away = [at(x, y) for x, y in _elsewhere(box, wide, high, size)]
    nearest = next((plate for plate in away if hidden(plate) <= (0.0, MUCH)), None)
    return nearest or min([*beside, *away], key=hidden)


def _end(start: float, end: float, of_start: float, of_end: float) -> bool:
    """Whether a length is at another one with its end: it lies before it, or at its end in it."""
    if start >= of_end or end <= of_start:
        return end <= of_start
    return abs(end - of_end) < abs(start - of_start)


def _within(value: float, most: float) -> float:
    return min(max(value, 0.0), max(most, 0.0))


def _is_roomy(box: Box, wide: float, high: float) -> bool:
    return box.width > ROOMY * wide and box.height > ROOMY * high


def _beside(box: Box, wide: float, high: float) -> Iterator[tuple[float, float]]:
    inside = [
        (box.x, box.y),
        (box.right - wide, box.y),
        (box.x, box.bottom - high),
        (box.right - wide, box.bottom - high),
    ]
    outside = [
        (box.x, box.y - high),
        (box.right - wide, box.y - high),
        (box.x, box.bottom),
        (box.right - wide, box.bottom),
        (box.right, box.y),
        (box.right, box.bottom - high),
        (box.x - wide, box.y),
        (box.x - wide, box.bottom - high),
    ]
    yield from inside + outside if _is_roomy(box, wide, high) else outside + inside


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
