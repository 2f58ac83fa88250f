"""Crisscrossed Captions: pairs within a modality by the other one, and across by ratings (§2).

Similar items come as lists, best first, an item itself never among them: of `nearest` on image
vectors for `c2c_isim`, and on the mean vector of each image's captions, by each text encoder, for
`i2i_csim`.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from random import Random
from typing import Literal, NamedTuple

import numpy as np

from hits.sampling.arrays import Floats, Ints, Vectors
from hits.sampling.errors import CannotSample

Similar = Mapping[int, Sequence[int]]
CaptionsOf = Mapping[int, Collection[int]]


class CaptionPair(NamedTuple):
    first: int
    second: int


class ImagePair(NamedTuple):
    """The image that was asked about, and the one that was found, by these text encoders."""

    first: int
    second: int
    encoders: tuple[str, ...]


class Rated(NamedTuple):
    first: int
    second: int
    score: float


class CaptionImage(NamedTuple):
    caption: int
    image: int


class Chosen(NamedTuple):
    """A pair across, the ratings that it was chosen by and the rated pair that it comes from."""

    caption: int
    image: int
    by: Literal["sts", "sis"]
    source: Rated


def caption_groups(
    captions_of: CaptionsOf, caption_ids: Sequence[int], vectors: Vectors
) -> tuple[Ints, Floats]:
    """The images, in the order of their ids, and the mean of the vectors of each one's captions."""
    place = {caption: row for row, caption in enumerate(caption_ids)}
    images = sorted(image for image in captions_of if captions_of[image])
    means = np.empty((len(images), vectors.shape[1]))
    for row, image in enumerate(images):
        own = [place[caption] for caption in sorted(captions_of[image])]
        means[row] = vectors[own].mean(axis=0, dtype=np.float64)
    return np.array(images, np.int64), means


def c2c_isim(
    similar_images: Similar, captions_of: CaptionsOf, random: Random, each: int = 5
) -> list[CaptionPair]:
    """A random caption of each of two images of which one is among the other's `each` nearest.

    Two images that are each among the other's nearest give one pair.
    """
    pairs: dict[frozenset[int], CaptionPair] = {}
    for one, other in _proposed(similar_images, each):
        both = frozenset((one, other))
        if both not in pairs:
            pairs[both] = CaptionPair(
                _any_caption(captions_of, one, random), _any_caption(captions_of, other, random)
            )
    return list(pairs.values())


def c2c_cocaption(captions_of: CaptionsOf, random: Random) -> list[CaptionPair]:
    """The captions of an image in a ring in random order, each with the next.

    So are the released pairs: five for each image, every caption in two of them.
    """
    pairs: list[CaptionPair] = []
    for image in sorted(captions_of):
        ring = sorted(set(captions_of[image]))
        random.shuffle(ring)
        if len(ring) == 2:
            pairs.append(CaptionPair(*ring))
        elif len(ring) > 2:
            pairs += map(CaptionPair, ring, ring[1:] + ring[:1])
    return pairs


def i2i_csim(similar_groups: Mapping[str, Similar], each: int = 5) -> list[ImagePair]:
    """For each text encoder, each image with those of the `each` nearest groups of captions.

    What two encoders propose alike is one pair; (i, j) and (j, i) are two.
    """
    found: dict[tuple[int, int], list[str]] = {}
    for encoder in sorted(similar_groups):
        for pair in _proposed(similar_groups[encoder], each):
            found.setdefault(pair, []).append(encoder)
    return [ImagePair(*pair, tuple(found[pair])) for pair in sorted(found)]


def c2i_intrasim(
    caption_pairs: Iterable[Rated],
    image_pairs: Iterable[Rated],
    captions_of: CaptionsOf,
    number: int,
    random: Random,
) -> list[Chosen]:
    """(a caption of k, image j) for rated pairs (j, k): half by STS rank, half by SIS rank.

    A rated pair of captions gives its second caption with the image of its first; of a rated pair
    of images the second gives a random caption. The better rated come first. By SIS rank, what
    STS has chosen is skipped. Original pairs are never among them; a half whose ratings run out
    stays short.
    """
    image_of = {caption: image for image, own in captions_of.items() for caption in own}
    chosen: dict[CaptionImage, Chosen] = {}
    for rated in _best_first(caption_pairs):
        if len(chosen) >= (number + 1) // 2:
            break
        pair = CaptionImage(rated.second, image_of[rated.first])
        if image_of[pair.caption] != pair.image:
            chosen.setdefault(pair, Chosen(*pair, "sts", rated))
    wanted = len(chosen) + number // 2
    for rated in _best_first(image_pairs):
        if len(chosen) >= wanted:
            break
        if rated.first != rated.second:
            pair = CaptionImage(_any_caption(captions_of, rated.second, random), rated.first)
            chosen.setdefault(pair, Chosen(*pair, "sis", rated))
    return list(chosen.values())


def c2i_original(captions_of: CaptionsOf) -> list[CaptionImage]:
    """Every caption with its own image."""
    return sorted(CaptionImage(c, image) for image, own in captions_of.items() for c in set(own))


def _proposed(similar: Similar, each: int) -> Iterable[tuple[int, int]]:
    if each < 1:
        raise CannotSample("At least one similar item is wanted of each.")
    for one in sorted(similar):
        others = [other for other in similar[one] if other != one]
        if len(set(others)) < len(others):
            raise CannotSample(f"The list of item {one} names another twice.")
        for other in others[:each]:
            yield one, other


def _any_caption(captions_of: CaptionsOf, image: int, random: Random) -> int:
    captions = sorted(captions_of.get(image, ()))
    if not captions:
        raise CannotSample(f"Image {image} has no captions.")
    return random.choice(captions)


def _best_first(pairs: Iterable[Rated]) -> list[Rated]:
    return sorted(pairs, key=lambda rated: (-rated.score, rated.first, rated.second))
