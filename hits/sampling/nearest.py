"""Nearest neighbours by cosine, block by block: nothing of the size n × n is ever held."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from hits.sampling.arrays import Floats, Ints, Vectors
from hits.sampling.errors import CannotSample

SCORES_A_BLOCK = 2**22
# Cosines that agree in so many decimals are a tie, whatever the order of the sums was.
DECIMALS = 6
# The quick product is exact enough to say what lies this far below the last place.
SLACK = 1e-5
MARGIN = 8


@dataclass(frozen=True)
class Nearest:
    """For each query, in the order of their ids, the ids of its neighbours, best first."""

    queries: Ints
    ids: Ints
    scores: Floats

    def lists(self) -> dict[int, list[int]]:
        return dict(zip(self.queries.tolist(), self.ids.tolist(), strict=True))

    def scored(self) -> Iterator[tuple[int, list[int], list[float]]]:
        yield from zip(self.queries.tolist(), self.ids.tolist(), self.scores.tolist(), strict=True)


@dataclass(frozen=True)
class _Directions:
    ids: Ints
    rows: NDArray[np.float32]


def nearest(ids: Sequence[int], vectors: Vectors, k: int) -> Nearest:
    """The k nearest others of each item; all others where there are fewer."""
    items = _directions(ids, vectors)
    return _search(items, items, k, without_self=True)


def nearest_to(
    query_ids: Sequence[int],
    queries: Vectors,
    target_ids: Sequence[int],
    targets: Vectors,
    k: int,
) -> Nearest:
    """The k targets nearest to each query; all of them where there are fewer."""
    found = _directions(query_ids, queries), _directions(target_ids, targets)
    if found[0].rows.shape[1] != found[1].rows.shape[1]:
        raise CannotSample("Queries and targets have vectors of different lengths.")
    return _search(*found, k, without_self=False)


def _directions(ids: Sequence[int], vectors: Vectors) -> _Directions:
    names = np.asarray(ids, np.int64)
    if vectors.ndim != 2 or names.ndim != 1 or len(names) != len(vectors) or not len(names):
        raise CannotSample("There is one vector for each item, and at least one item.")
    order = np.argsort(names, kind="stable")
    names = names[order]
    if (names[1:] == names[:-1]).any():
        raise CannotSample("An item is given twice.")
    lengths = np.linalg.norm(vectors.astype(np.float64, copy=False), axis=1)[order]
    if not np.isfinite(lengths).all() or (lengths == 0).any():
        wrong = names[~np.isfinite(lengths) | (lengths == 0)][0]
        raise CannotSample(f"The vector of item {wrong} has no direction.")
    return _Directions(names, (vectors[order] / lengths[:, None]).astype(np.float32))


def _search(queries: _Directions, targets: _Directions, k: int, *, without_self: bool) -> Nearest:
    available = len(targets.ids) - without_self
    if k < 1 or available < 1:
        raise CannotSample("At least one neighbour is asked for, and there is at least one.")
    k = min(k, available)
    rows_a_block = max(1, SCORES_A_BLOCK // len(targets.ids))
    ids = np.empty((len(queries.ids), k), np.int64)
    scores = np.empty((len(queries.ids), k))
    for start in range(0, len(queries.ids), rows_a_block):
        block = slice(start, start + rows_a_block)
        rows = queries.rows[block]
        quick = rows @ targets.rows.T
        if without_self:
            quick[np.arange(len(rows)), np.arange(start, start + len(rows))] = -np.inf
        ids[block], scores[block] = _best_of_block(rows, quick, targets, k, available)
    return Nearest(queries.ids, ids, scores)


def _best_of_block(
    rows: NDArray[np.float32],
    quick: NDArray[np.float32],
    targets: _Directions,
    k: int,
    available: int,
) -> tuple[Ints, Floats]:
    """The first k by exact score, then id, out of the k + MARGIN first by the quick product.

    Where more than those could share the last place, out of all that could.
    """
    kept = min(k + MARGIN, available)
    top = np.argpartition(quick, quick.shape[1] - kept, axis=1)[:, -kept:]
    ids, scores = _in_order(rows, top, targets)
    ids, scores = ids[:, :k], scores[:, :k]
    if kept < available:
        lowest = np.take_along_axis(quick, top, axis=1).min(axis=1)
        for place in np.flatnonzero(lowest >= scores[:, -1] - SLACK):
            tied = np.flatnonzero(quick[place] >= scores[place, -1] - SLACK)
            found = _in_order(rows[place : place + 1], tied[None], targets)
            ids[place], scores[place] = found[0][0, :k], found[1][0, :k]
    return ids, scores


def _in_order(
    rows: NDArray[np.float32], places: NDArray[np.intp], targets: _Directions
) -> tuple[Ints, Floats]:
    exact = np.einsum(
        "qd,qkd->qk", rows, targets.rows[places], dtype=np.float64, casting="same_kind"
    )
    scores = exact.round(DECIMALS)
    ids = targets.ids[places]
    order = np.lexsort((ids, -scores), axis=1)
    return np.take_along_axis(ids, order, axis=1), np.take_along_axis(scores, order, axis=1)
