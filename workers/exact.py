"""Exact top-k by inner product, in blocks, over arrays that may be memory-mapped."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]
Found = tuple[NDArray[np.int64], NDArray[np.float32]]

# Components become integers, multiples of 2**-26, held in float64. A sum of products of two such
# vectors, and every partial sum of it, is then an integer below 2**53 by Cauchy-Schwarz as long as
# the norms are at most 1, so float64 holds it exactly. Whatever order the BLAS adds in, with
# whatever block size, thread count or processor, the score is the same bit for bit. What is lost
# against the float32 input, at most 2**-27 a component, is less than float32 sums would lose.
STEPS = 2.0**26
_LONGEST = 1.001


@dataclass(frozen=True)
class Block:
    """The finished queries start … start + len(indices) - 1."""

    start: int
    indices: NDArray[np.int64]
    scores: NDArray[np.float32]


def top_k(queries: Vectors, targets: Vectors, k: int, *, block: int = 1024) -> Found:
    """Best targets of every query, best first: indices and scores, (n, min(k, m)) each.

    Vectors have a norm of at most 1. Order is by float32 score, then by lower target index.
    """
    width = min(k, len(targets))
    indices = np.empty((len(queries), width), np.int64)
    scores = np.empty((len(queries), width), np.float32)
    for done in top_k_blocks(queries, targets, k, block=block):
        rows = slice(done.start, done.start + len(done.indices))
        indices[rows] = done.indices
        scores[rows] = done.scores
    return indices, scores


def top_k_both(queries: Vectors, targets: Vectors, k: int) -> tuple[Found, Found]:
    """Best targets of every query, and best queries of every target."""
    return top_k(queries, targets, k), top_k(targets, queries, k)


def top_k_blocks(
    queries: Vectors, targets: Vectors, k: int, *, block: int = 1024
) -> Iterator[Block]:
    """The same, one block of queries at a time; memory is some block * (block + d) numbers."""
    check_shapes(queries, targets, k)
    if block < 1:
        raise ValueError(f"block must be at least 1, not {block}")
    for start in range(0, len(queries), block):
        wanted = _as_integers(queries[start : start + block])
        best = np.empty((len(wanted), 0), np.int64)
        for first in range(0, len(targets), block):
            offered = _as_integers(targets[first : first + block])
            keys = sort_keys(wanted @ offered.T, np.arange(first, first + len(offered)))
            best = smallest(np.concatenate([best, keys], axis=1), k)
        best.sort(axis=1)
        yield Block(start, *of_sort_keys(best))


def check_shapes(queries: Vectors, targets: Vectors, k: int) -> None:
    if queries.ndim != 2 or targets.ndim != 2 or queries.shape[1] != targets.shape[1]:
        raise ValueError(f"queries {queries.shape} and targets {targets.shape} do not match")
    if k < 1:
        raise ValueError(f"k must be at least 1, not {k}")
    if len(targets) >= 2**32:
        raise ValueError("more targets than 32 bits can number")


def check_lengths(lengths: NDArray[np.float64]) -> None:
    if not (lengths <= _LONGEST).all():
        raise ValueError("a vector is longer than 1 or not finite")


def _as_integers(vectors: Vectors) -> NDArray[np.float64]:
    wide = vectors.astype(np.float64)
    check_lengths(np.sqrt(np.einsum("ij,ij->i", wide, wide)))
    wide *= STEPS
    return np.rint(wide, out=wide)


def sort_keys(products: NDArray[np.float64], targets: NDArray[np.int64]) -> NDArray[np.int64]:
    """One integer a pair: a smaller one is a better score or, at the same score, a lower index.

    `products` are those of integer vectors, and overwritten.
    """
    products *= 1 / STEPS**2
    return keys_of(targets, products.astype(np.float32))


def keys_of(indices: NDArray[np.int64], scores: NDArray[np.float32]) -> NDArray[np.int64]:
    """The sort keys of what was found, which merge with those of others by their size."""
    negated: NDArray[np.float32] = 0.0 - scores  # -0.0 and 0.0 are a tie
    keys = _swap_negative_order(negated.view(np.int32)).astype(np.int64)
    keys <<= 32
    keys |= indices
    return keys


def of_sort_keys(keys: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """The targets and the scores that were made into keys."""
    negated = _swap_negative_order((keys >> 32).astype(np.int32)).view(np.float32)
    scores: NDArray[np.float32] = 0.0 - negated
    return keys & 0xFFFFFFFF, scores


def _swap_negative_order(bits: NDArray[np.int32]) -> NDArray[np.int32]:
    """Float32 bits to integers of the same order, and back."""
    return bits ^ ((bits >> 31) & 0x7FFFFFFF)


def smallest(keys: NDArray[np.int64], k: int) -> NDArray[np.int64]:
    if keys.shape[1] <= k:
        return keys
    return np.partition(keys, k - 1, axis=1)[:, :k]
