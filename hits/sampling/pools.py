"""MSCOCO-FG: a pool of images that are hard to tell apart, and coarse texts (§3.1, §3.2)."""

from collections.abc import Collection, Mapping, Sequence
from itertools import chain, zip_longest
from typing import NamedTuple

from hits.sampling.errors import CannotSample
from hits.sampling.nearest import Nearest

Lists = Mapping[int, Sequence[int]]


class ImagePool(NamedTuple):
    """The similar images of each target, itself first, and all of them without repeats."""

    sets: dict[int, list[int]]
    images: list[int]


def by_captions(found: Nearest, image_of: Mapping[int, int]) -> dict[int, list[int]]:
    """The images found for an image's captions, by the best score that one of them gave."""
    best: dict[int, dict[int, float]] = {}
    for caption, images, scores in found.scored():
        own = best.setdefault(image_of[caption], {})
        for image, score in zip(images, scores, strict=True):
            own[image] = max(score, own.get(image, score))
    return {
        target: sorted(scores, key=lambda image: (-scores[image], image))
        for target, scores in sorted(best.items())
    }


def image_pool(
    targets: Collection[int],
    by_image: Lists,
    by_text: Lists,
    split_of: Mapping[int, str],
    allowed: Collection[str],
    size: int = 10,
) -> ImagePool:
    """For each target itself and the nearest by image and by text in turn, `size` in all.

    Only images of the allowed splits; one that both lists name counts once.
    """
    splits = set(allowed)
    sets = {
        target: _similar(target, by_image[target], by_text[target], split_of, splits, size)
        for target in sorted(set(targets))
    }
    return ImagePool(sets, sorted(set(chain.from_iterable(sets.values()))))


def _similar(
    target: int,
    by_image: Sequence[int],
    by_text: Sequence[int],
    split_of: Mapping[int, str],
    allowed: Collection[str],
    size: int,
) -> list[int]:
    if split_of[target] not in allowed:
        raise CannotSample(f"Target {target} is of the split {split_of[target]}.")
    in_turn = (
        image
        for image in chain.from_iterable(zip_longest(by_image, by_text))
        if image is not None and split_of[image] in allowed
    )
    similar = list(dict.fromkeys(chain([target], in_turn)))[:size]
    if len(similar) < size:
        raise CannotSample(f"Target {target} has {len(similar)} images of {size}: longer lists.")
    return similar


def coarse_texts(ranked_images: Lists, image_of: Mapping[int, int]) -> dict[int, bool]:
    """Of each caption, whether another image than its own is ranked first for it."""
    return {
        caption: not ranked_images[caption] or ranked_images[caption][0] != image_of[caption]
        for caption in sorted(ranked_images)
    }
