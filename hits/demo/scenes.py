"""Scenes of the demo corpus: what is in them and where, decided by a seed and a number alone."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

Zone = Literal["ground", "air"]
Size = Literal["small", "large"]
Facing = Literal["left", "right"]

WIDTH, HEIGHT = 480, 360
MARGIN = 14
GAP = 10
SCALE: dict[Size, float] = {"small": 0.74, "large": 1.22}
BACKDROPS = 4

PLAIN = ("red", "yellow", "green", "blue", "purple")
FUR = ("black", "white", "grey", "orange")


@dataclass(frozen=True, slots=True)
class Kind:
    name: str
    zone: Zone
    width: int
    height: int
    family: str
    colours: tuple[str, ...] = PLAIN
    poses: tuple[str, ...] = ()
    directed: bool = False


KINDS: dict[str, Kind] = {
    kind.name: kind
    for kind in (
        Kind("cat", "ground", 84, 84, "pet", FUR, poses=("sitting", "sleeping")),
        Kind("dog", "ground", 96, 84, "pet", FUR, poses=("standing", "sitting"), directed=True),
        Kind("duck", "ground", 80, 70, "bird", ("yellow", "white", "blue"), directed=True),
        Kind("ball", "ground", 66, 66, "ball"),
        Kind("gift", "ground", 72, 76, "parcel"),
        Kind("mug", "ground", 72, 64, "vessel"),
        Kind("tulip", "ground", 54, 96, "plant", ("red", "yellow", "purple", "white")),
        Kind("umbrella", "ground", 100, 100, "umbrella"),
        Kind("house", "ground", 98, 98, "building"),
        Kind("car", "ground", 108, 62, "vehicle", directed=True),
        Kind("boat", "ground", 92, 98, "vehicle"),
        Kind("kite", "air", 62, 92, "flyer"),
        Kind("balloon", "air", 54, 92, "flyer"),
        Kind("bird", "air", 76, 62, "bird", ("red", "blue", "yellow", "black"), directed=True),
        Kind("butterfly", "air", 72, 60, "insect"),
    )
}

AIRBORNE = ("kite", "balloon", "bird", "butterfly")
DWELLERS: dict[str, tuple[str, ...]] = {
    "meadow": ("cat", "dog", "ball", "umbrella", "car", "house", "tulip", "duck", *AIRBORNE),
    "beach": ("cat", "dog", "ball", "umbrella", "boat", "duck", "mug", *AIRBORNE),
    "snow": ("cat", "dog", "ball", "gift", "car", "house", *AIRBORNE[:3]),
    "night": ("cat", "dog", "car", "house", "tulip", "umbrella", "gift", *AIRBORNE[:3]),
    "lake": ("boat", "duck", "ball", *AIRBORNE),
    "table": ("cat", "mug", "ball", "gift", "tulip", "car", "duck", "balloon", "butterfly"),
}
SETTINGS = tuple(DWELLERS)


@dataclass(frozen=True, slots=True)
class Thing:
    """One drawn object: its box in a picture of 480 by 360."""

    left: int
    top: int
    width: int
    height: int

    @property
    def right(self) -> int:
        return self.left + self.width

    @property
    def bottom(self) -> int:
        return self.top + self.height


@dataclass(frozen=True, slots=True)
class Group:
    """Like objects side by side. No two groups of a scene share both kind and colour."""

    kind: str
    colour: str
    size: Size
    count: int
    pose: str | None
    facing: Facing | None
    things: tuple[Thing, ...] = ()

    @property
    def zone(self) -> Zone:
        return KINDS[self.kind].zone

    @property
    def box(self) -> tuple[int, int]:
        kind, scale = KINDS[self.kind], SCALE[self.size]
        return round(kind.width * scale), round(kind.height * scale)

    @property
    def area(self) -> int:
        width, height = self.box
        return self.count * width * height


@dataclass(frozen=True, slots=True)
class Scene:
    seed: int
    number: int
    setting: str
    backdrop: int
    groups: tuple[Group, ...]

    @property
    def main(self) -> Group:
        """The group that takes most room: the one a description may not leave out."""
        return max(self.groups, key=lambda group: group.area)


@lru_cache(maxsize=1024)
def scene(seed: int, number: int) -> Scene:
    """The scene of that number: a variation of one of a few originals, most often of the first.

    Many scenes thus differ from another only in a colour, a count or a side.
    """
    rng = random.Random(f"scene {seed} {number}")
    original = min(int(30 * ((1 - rng.random()) ** -0.8 - 1)), 1_000_000)
    setting, groups = _original(seed, original)
    for _ in range(rng.choices((0, 1, 2, 3), weights=(1, 4, 3, 2))[0]):
        setting, groups = rng.choice(_CHANGES)(rng, setting, groups)
    placed = _place(rng, _fitting(groups))
    return Scene(seed, number, setting, rng.randrange(BACKDROPS), placed)


@lru_cache(maxsize=1024)
def _original(seed: int, number: int) -> tuple[str, tuple[Group, ...]]:
    rng = random.Random(f"original {seed} {number}")
    setting = rng.choice(SETTINGS)
    wanted = rng.choices((1, 2, 3), weights=(2, 5, 3))[0]
    groups: tuple[Group, ...] = ()
    while len(groups) < wanted or not _grounded(groups):
        groups = _with_one_more(rng, setting, groups)[1]
    return setting, groups


def _any_group(rng: random.Random, setting: str) -> Group:
    kind = KINDS[rng.choice(DWELLERS[setting])]
    return Group(
        kind=kind.name,
        colour=rng.choice(kind.colours),
        size=rng.choice(("small", "large")),
        count=rng.choices((1, 2, 3, 4), weights=(10, 6, 4, 2))[0],
        pose=rng.choice(kind.poses) if kind.poses else None,
        facing=rng.choice(("left", "right")) if kind.directed else None,
    )


def _grounded(groups: tuple[Group, ...]) -> bool:
    return any(group.zone == "ground" for group in groups)


Change = Callable[[random.Random, str, tuple[Group, ...]], tuple[str, tuple[Group, ...]]]


def _with_one_more(
    rng: random.Random, setting: str, groups: tuple[Group, ...]
) -> tuple[str, tuple[Group, ...]]:
    group = _any_group(rng, setting)
    in_zone = [other for other in groups if other.zone == group.zone]
    taken = any((other.kind, other.colour) == (group.kind, group.colour) for other in groups)
    if len(groups) == 3 or len(in_zone) == 2 or taken:
        return setting, groups
    return setting, (*groups, group)


def _with_one_less(
    rng: random.Random, setting: str, groups: tuple[Group, ...]
) -> tuple[str, tuple[Group, ...]]:
    gone = rng.randrange(len(groups))
    left = tuple(group for place, group in enumerate(groups) if place != gone)
    return setting, left if _grounded(left) else groups


def _recoloured(
    rng: random.Random, setting: str, groups: tuple[Group, ...]
) -> tuple[str, tuple[Group, ...]]:
    place = rng.randrange(len(groups))
    kind = groups[place].kind
    taken = {group.colour for group in groups if group.kind == kind}
    free = [colour for colour in KINDS[kind].colours if colour not in taken]
    return setting, _replaced(groups, place, replace(groups[place], colour=rng.choice(free)))


def _recounted(
    rng: random.Random, setting: str, groups: tuple[Group, ...]
) -> tuple[str, tuple[Group, ...]]:
    place = rng.randrange(len(groups))
    others = [count for count in (1, 2, 3, 4) if abs(count - groups[place].count) == 1]
    return setting, _replaced(groups, place, replace(groups[place], count=rng.choice(others)))


def _resized(
    rng: random.Random, setting: str, groups: tuple[Group, ...]
) -> tuple[str, tuple[Group, ...]]:
    place = rng.randrange(len(groups))
    other: Size = "small" if groups[place].size == "large" else "large"
    return setting, _replaced(groups, place, replace(groups[place], size=other))


def _turned(
    rng: random.Random, setting: str, groups: tuple[Group, ...]
) -> tuple[str, tuple[Group, ...]]:
    def turn(group: Group) -> Group:
        kind = KINDS[group.kind]
        return replace(
            group,
            pose=rng.choice(kind.poses) if kind.poses else None,
            facing=rng.choice(("left", "right")) if kind.directed else None,
        )

    return setting, tuple(turn(group) for group in groups)


def _swapped(
    rng: random.Random, setting: str, groups: tuple[Group, ...]
) -> tuple[str, tuple[Group, ...]]:
    return setting, groups[::-1]


def _moved(
    rng: random.Random, setting: str, groups: tuple[Group, ...]
) -> tuple[str, tuple[Group, ...]]:
    kinds = {group.kind for group in groups}
    return rng.choice([s for s in SETTINGS if kinds <= set(DWELLERS[s])]), groups


_CHANGES: tuple[Change, ...] = (
    _recoloured,
    _recoloured,
    _recounted,
    _recounted,
    _resized,
    _turned,
    _swapped,
    _moved,
    _with_one_more,
    _with_one_less,
)


def _replaced(groups: tuple[Group, ...], place: int, group: Group) -> tuple[Group, ...]:
    return (*groups[:place], group, *groups[place + 1 :])


def _room(groups: tuple[Group, ...]) -> int:
    return sum(group.count * (group.box[0] + GAP) + GAP for group in groups)


def _fitting(groups: tuple[Group, ...]) -> tuple[Group, ...]:
    """Fewer of the most numerous until each zone holds its groups side by side, none hidden."""
    fitted = list(groups)
    for zone in ("ground", "air"):
        while _room(tuple(g for g in fitted if g.zone == zone)) > WIDTH - 2 * MARGIN:
            crowd = max((g for g in fitted if g.zone == zone), key=lambda g: (g.count, g.area))
            fitted[fitted.index(crowd)] = replace(crowd, count=crowd.count - 1)
    return tuple(fitted)


def _place(rng: random.Random, groups: tuple[Group, ...]) -> tuple[Group, ...]:
    placed: dict[int, Group] = {}
    for zone in ("ground", "air"):
        mine = [place for place, group in enumerate(groups) if group.zone == zone]
        spare = WIDTH - 2 * MARGIN - _room(tuple(groups[place] for place in mine))
        things = sum(groups[place].count for place in mine)
        shares = _shares(rng, spare, 2 * len(mine) + things)
        left = MARGIN
        for place in mine:
            left += GAP + shares.pop()
            boxes = []
            for _ in range(groups[place].count):
                width, height = groups[place].box
                boxes.append(Thing(left, _top(rng, zone, height), width, height))
                left += width + GAP + shares.pop() // 3
            left += shares.pop()
            placed[place] = replace(groups[place], things=tuple(boxes))
    return tuple(placed[place] for place in range(len(groups)))


def _shares(rng: random.Random, total: int, parts: int) -> list[int]:
    weights = [rng.random() + 0.15 for _ in range(parts)]
    return [int(total * weight / sum(weights)) for weight in weights]


def _top(rng: random.Random, zone: Zone, height: int) -> int:
    if zone == "air":
        return rng.randint(16, max(16, 140 - height))
    return rng.randint(max(252, 160 + height), 344) - height
