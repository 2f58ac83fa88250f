"""Importance of objects from captions (Feinglass and Yang, VL detectors, §3.4, Eq. 7–10)."""

from collections.abc import Collection, Mapping, Sequence, Set

import numpy as np

from hits.analysis.arrays import Floats, finite, same_length
from hits.analysis.errors import DegenerateInput
from hits.analysis.regions import Region, distance

ALLOWANCE = 1.01


def categories_in(words: Collection[str], categories: Mapping[str, str]) -> set[str]:
    """The categories that a caption's words stand for, by a table from words to categories."""
    return {categories[word] for word in words if word in categories}


def typicality(captions: Sequence[Set[str]]) -> dict[str, float]:
    """I_C(c) = df(c) / |S| (Eq. 7): the share of an image's captions that speak of category c."""
    if not captions:
        raise DegenerateInput("An image without captions has no typicality.")
    named = set().union(*captions)
    return {c: sum(c in caption for caption in captions) / len(captions) for c in sorted(named)}


def shared_by_area(
    typical: Mapping[str, float], categories: Sequence[str], areas: Sequence[float]
) -> Floats:
    """I_O(b) = area(b) I_C(c) / Σ_{a in c} area(a) (Eq. 8), for objects of the given categories."""
    sizes = finite(areas, "areas")
    if len(categories) != len(sizes) or (sizes <= 0).any():
        raise DegenerateInput("Every object has a category and an area of more than 0.")
    names = np.array(categories)
    importance = np.zeros(len(sizes))
    for category in set(categories):
        own = names == category
        importance[own] = sizes[own] * typical.get(category, 0.0) / sizes[own].sum()
    if not importance.any():
        raise DegenerateInput("No caption speaks of any of the image's objects.")
    return importance


def closeness(regions: Sequence[Region]) -> Floats:
    """W_ij = 1 / max(d(b_i, b_j), 1), and 0 for i = j (Eq. 9)."""
    weights = np.zeros((len(regions), len(regions)))
    for i, one in enumerate(regions):
        for j in range(i):
            weights[i, j] = weights[j, i] = 1 / max(distance(one, regions[j]), 1.0)
    return weights


def spread(importance: Floats, weights: Floats, tau: float = 1.0) -> Floats:
    """I_P = H I_O, normalised to sum 1 (Eq. 10), with the heat kernel H = U exp(-τ Λ / λ_max) Uᵀ.

    U and Λ are the eigenvectors and eigenvalues of the graph's Laplacian D - W, and λ_max is the
    largest eigenvalue with PyGSP's allowance of 1%: with it the weights that were released for the
    survey's images come out.
    """
    same_length(importance=finite(importance, "importances"), weights=weights)
    if (importance < 0).any() or not importance.any():
        raise DegenerateInput("Importance is not negative, and some of it is more than 0.")
    warmed = heat_kernel(weights, tau) @ importance
    shares: Floats = warmed / warmed.sum()
    return shares


def heat_kernel(weights: Floats, tau: float = 1.0) -> Floats:
    if weights.ndim != 2 or weights.shape != weights.T.shape or not np.allclose(weights, weights.T):
        raise DegenerateInput("Closeness is a symmetric matrix with a row for each object.")
    if (weights < 0).any() or tau < 0:
        raise DegenerateInput("Closeness and τ are not negative.")
    values, vectors = np.linalg.eigh(np.diag(weights.sum(axis=1)) - weights)
    largest = ALLOWANCE * values[-1] if values[-1] > 0 else 1.0
    kernel: Floats = (vectors * np.exp(-tau * values / largest)) @ vectors.T
    return kernel
