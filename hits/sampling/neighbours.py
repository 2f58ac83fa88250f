"""BISON, stage 1: images that are described alike (§3.1)."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np

from hits.sampling.arrays import Floats, Ints, Vectors
from hits.sampling.errors import CannotSample
from hits.sampling.nearest import Nearest


class Described(NamedTuple):
    """Images, in the order of their ids, with their vectors; and those without a known word."""

    images: Ints
    vectors: Floats
    without: list[int]


class NeighbourPair(NamedTuple):
    positive: int
    negative: int
    score: float


def described(
    words_of: Mapping[int, Iterable[str]], word_vectors: Mapping[str, Vectors]
) -> Described:
    """The mean of the vectors of all words of all captions of an image.

    A word counts as often as it stands there; words without a vector do not count.
    """
    found, without = {}, []
    for image in sorted(words_of):
        # The order of words must not change the last bits of their sum.
        known = sorted(word for word in words_of[image] if word in word_vectors)
        if known:
            found[image] = np.mean([word_vectors[word] for word in known], axis=0, dtype=np.float64)
        else:
            without.append(image)
    if not found:
        raise CannotSample("No image has a caption with a known word.")
    return Described(np.array(list(found), np.int64), np.stack(list(found.values())), without)


def neighbour_pairs(found: Nearest, number: int | None = None) -> list[NeighbourPair]:
    """Each image as positive with its neighbours as negatives: all first neighbours before any
    second one, among those the closest first. `number` cuts the list there.
    """
    positives = np.repeat(found.queries, found.ids.shape[1])
    ranks = np.tile(np.arange(found.ids.shape[1]), len(found.queries))
    negatives, scores = found.ids.ravel(), found.scores.ravel()
    order = np.lexsort((positives, -scores, ranks))[:number]
    columns = (each[order].tolist() for each in (positives, negatives, scores))
    return [NeighbourPair(*row) for row in zip(*columns, strict=True)]
