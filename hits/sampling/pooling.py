"""ECCV Caption: what machines rank high goes to people, each pair once (§3.2)."""

from collections.abc import Collection, Iterable, Sequence
from random import Random
from typing import Literal, NamedTuple

from hits.sampling.errors import CannotSample

Direction = Literal["i2t", "t2i"]


class RankedList(NamedTuple):
    """What a machine found for one query, best first: captions for an image (i2t), or images."""

    machine: str
    direction: Direction
    query: int
    targets: Sequence[int]
    scores: Sequence[float]


class Pair(NamedTuple):
    image: int
    caption: int


class Source(NamedTuple):
    machine: str
    direction: Direction
    rank: int
    score: float


def pool(lists: Iterable[RankedList], depth: int) -> dict[Pair, list[Source]]:
    """Every pair within `depth` of some list, once, with all that proposed it."""
    if depth < 1:
        raise CannotSample("At least the first of each list is wanted.")
    pooled: dict[Pair, list[Source]] = {}
    seen: set[tuple[str, str, int]] = set()
    for ranked in lists:
        whose = (ranked.machine, ranked.direction, ranked.query)
        if whose in seen or len(set(ranked.targets)) < len(ranked.targets):
            raise CannotSample(f"{ranked.machine} ranks something twice for {ranked.query}.")
        seen.add(whose)
        best = zip(ranked.targets, ranked.scores, strict=True)
        for rank, (target, score) in zip(range(1, depth + 1), best, strict=False):
            source = Source(ranked.machine, ranked.direction, rank, score)
            pooled.setdefault(_pair(ranked, target), []).append(source)
    return {pair: sorted(pooled[pair]) for pair in sorted(pooled)}


def true_negatives(
    kept: Collection[Pair],
    originals: Collection[Pair],
    images: Collection[int],
    captions: Collection[int],
    number: int,
    random: Random,
) -> list[Pair]:
    """So many random pairs that are in no machine's kept list and are no original pair.

    `kept` is the pool of the lists at their whole depth, 25 in the paper.
    """
    rows, columns = sorted(set(images)), sorted(set(captions))
    excluded = _within({*kept, *originals}, set(rows), set(columns))
    size = len(rows) * len(columns)
    if number > size - len(excluded):
        raise CannotSample(f"Only {size - len(excluded)} pairs are in no machine's list.")
    if size < 2 * (len(excluded) + number):
        every = (Pair(image, caption) for image in rows for caption in columns)
        return random.sample([pair for pair in every if pair not in excluded], number)
    drawn: dict[Pair, None] = {}
    while len(drawn) < number:
        pair = Pair(random.choice(rows), random.choice(columns))
        if pair not in excluded:
            drawn[pair] = None
    return list(drawn)


def _pair(ranked: RankedList, target: int) -> Pair:
    if ranked.direction == "i2t":
        return Pair(ranked.query, target)
    return Pair(target, ranked.query)


def _within(pairs: set[Pair], images: set[int], captions: set[int]) -> set[Pair]:
    return {pair for pair in pairs if pair.image in images and pair.caption in captions}
