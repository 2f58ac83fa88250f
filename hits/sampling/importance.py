"""Importance of objects from captions (Feinglass and Yang, VL detectors, §3.4, Eq. 7–10).

What agrees with the released weights, and what cannot, is in docs/importance.md.
"""

from collections.abc import Mapping, Sequence, Set
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from hits.sampling.arrays import Floats
from hits.sampling.errors import CannotSample
from hits.sampling.regions import Region, distance

ALLOWANCE = 1.01


class Object(NamedTuple):
    id: int
    category: str
    area: float
    region: Region


class Importance(NamedTuple):
    """Of an image's objects, in their given order: I_O, and I_P that sums to 1."""

    shared: Floats
    spread: Floats


def importance(
    captions: Sequence[Sequence[str]],
    categories: Mapping[str, str],
    objects: Sequence[Object],
    tau: float = 1.0,
) -> Importance:
    """I_O and I_P of an image's objects, from the words of its captions and a table of words."""
    typical = typicality([categories_in(words, categories) for words in captions])
    shared = shared_by_area(
        typical, [each.category for each in objects], [each.area for each in objects]
    )
    return Importance(shared, spread(shared, closeness([each.region for each in objects]), tau))


def surveyed(scores: Mapping[int, Mapping[int, float]], number: int = 5) -> dict[int, list[int]]:
    """The most important objects of each image that has at least so many, the first first.

    `scores` are those of objects by id, by image; between equal ones the lower id comes first.
    """
    return {
        image: sorted(own, key=lambda each: (-own[each], each))[:number]
        for image, own in sorted(scores.items())
        if len(own) >= number
    }


def categories_in(words: Sequence[str], categories: Mapping[str, str]) -> set[str]:
    """The categories that a caption's words stand for, by a table from words to categories.

    The table may have terms of several words, with spaces: a "hot dog" is then no dog.
    """
    longest = max((term.count(" ") + 1 for term in categories), default=1)
    found: set[str] = set()
    place = 0
    while place < len(words):
        for length in range(min(longest, len(words) - place), 0, -1):
            term = " ".join(words[place : place + length])
            if term in categories:
                found.add(categories[term])
                break
        else:
            length = 1
        place += length
    return found


def typicality(captions: Sequence[Set[str]]) -> dict[str, float]:
    """I_C(c) = df(c) / |S| (Eq. 7): the share of an image's captions that speak of category c."""
    if not captions:
        raise CannotSample("An image without captions has no typicality.")
    named = set().union(*captions)
    return {c: sum(c in caption for caption in captions) / len(captions) for c in sorted(named)}


def shared_by_area(
    typical: Mapping[str, float], categories: Sequence[str], areas: Sequence[float]
) -> Floats:
    """I_O(b) = area(b) I_C(c) / Σ_{a in c} area(a) (Eq. 8), for objects of the given categories."""
    sizes = _finite(areas, "areas")
    if len(categories) != len(sizes) or (sizes <= 0).any():
        raise CannotSample("Every object has a category and an area of more than 0.")
    names = np.array(categories)
    shares = np.zeros(len(sizes))
    for category in set(categories):
        own = names == category
        shares[own] = sizes[own] * typical.get(category, 0.0) / sizes[own].sum()
    if not shares.any():
        raise CannotSample("No caption speaks of any of the image's objects.")
    return shares


def closeness(regions: Sequence[Region]) -> Floats:
    """W_ij = 1 / max(d(b_i, b_j), 1), and 0 for i = j (Eq. 9)."""
    weights = np.zeros((len(regions), len(regions)))
    for i, one in enumerate(regions):
        for j in range(i):
            weights[i, j] = weights[j, i] = 1 / max(distance(one, regions[j]), 1.0)
    return weights


def spread(shared: Floats, weights: Floats, tau: float = 1.0) -> Floats:
    """I_P = H I_O, normalised to sum 1 (Eq. 10), with the heat kernel H = U exp(-τ Λ / λ_max) Uᵀ.

    U and Λ are the eigenvectors and eigenvalues of the graph's Laplacian D - W, and λ_max is the
    largest eigenvalue with PyGSP's allowance of 1%: with it the weights that were released for the
    survey's images come out.
    """
    values = _finite(shared, "importances")
    if len(values) != len(weights):
        raise CannotSample("Closeness is a matrix with a row for each object.")
    if (values < 0).any() or not values.any():
        raise CannotSample("Importance is not negative, and some of it is more than 0.")
    warmed = heat_kernel(weights, tau) @ values
    shares: Floats = warmed / warmed.sum()
    return shares


def heat_kernel(weights: Floats, tau: float = 1.0) -> Floats:
    if weights.ndim != 2 or weights.shape != weights.T.shape or not np.allclose(weights, weights.T):
        raise CannotSample("Closeness is a symmetric matrix with a row for each object.")
    if (weights < 0).any() or tau < 0:
        raise CannotSample("Closeness and τ are not negative.")
    values, vectors = np.linalg.eigh(np.diag(weights.sum(axis=1)) - weights)
    largest = ALLOWANCE * values[-1] if values[-1] > 0 else 1.0
    kernel: Floats = (vectors * np.exp(-tau * values / largest)) @ vectors.T
    return kernel


def _finite(values: ArrayLike, what: str) -> Floats:
    numbers = np.asarray(values, dtype=np.float64)
    if numbers.ndim != 1 or numbers.size == 0:
        raise CannotSample(f"There are no {what}.")
    if not np.isfinite(numbers).all():
        raise CannotSample(f"Some {what} are not finite numbers.")
    return numbers
