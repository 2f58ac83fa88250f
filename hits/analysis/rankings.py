"""Rankings and ground truth, from the files that researchers have.

A ground truth is the eccv_caption layout, {"query id": [positive ids …]}. A ranking is the same
layout with items best first, an array of item ids with a row a query, or an array of scores.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hits.analysis.arrays import NOT_NPY, Bools, Ints
from hits.analysis.errors import DegenerateInput
from hits.analysis.heeding import Heed, go_on

NOTHING = -1
CELLS_AT_ONCE = 8_000_000
MOST_CELLS = 250_000_000
LARGEST_ID = 2**62
NO_LAYOUT = 'is not in the layout {"query id": [item ids …]}'

Layout = Mapping[int, Sequence[int]]


def read_layout(path: Path) -> dict[int, list[int]]:
    """A JSON file in the eccv_caption layout, with ids as numbers."""
    try:
        read = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise DegenerateInput(f"{path.name} {NO_LAYOUT}: {error}") from error
    return layout_of(read, path.name)


def layout_of(read: object, name: str, fault: str = NO_LAYOUT) -> dict[int, list[int]]:
    """What was read from JSON, in the layout, with ids as numbers."""
    if not isinstance(read, dict):
        raise DegenerateInput(f"{name} {fault}.")
    try:
        found = {_id(query): _ids(items) for query, items in read.items()}
    except _NoIds as error:
        raise DegenerateInput(f"{name} {fault}: {error}") from error
    if len(found) < len(read):
        raise DegenerateInput(f"{name} names a query twice.")
    largest = max((max(items, default=0) for items in found.values()), default=0)
    if max(largest, *found, 0) > LARGEST_ID:
        raise DegenerateInput(f"{name} has an id that is too large.")
    least = min((min(items, default=0) for items in found.values()), default=0)
    if min(least, *found, 0) < 0:
        raise DegenerateInput(f"{name} has a negative id.")
    return found


class _NoIds(Exception):
    """In words, what stands where ids should."""


def _ids(items: object) -> list[int]:
    # A text would be taken for a list of its digits.
    if not isinstance(items, list | tuple | range):
        raise _NoIds(f"{str(items)[:40]!r} is no list of ids.")
    return [item if type(item) is int else _id(item) for item in items]


def _id(value: Any) -> int:
    try:
        number = int(value)
    except (ValueError, TypeError, OverflowError):
        raise _NoIds(f"{str(value)[:40]!r} is no id.") from None
    if isinstance(value, bool) or (isinstance(value, float) and number != value):
        raise _NoIds(f"{value!r} is no id.")
    return number


@dataclass(frozen=True)
class GroundTruth:
    """Positives of each query, without repeats: those of query q are at starts[q]:starts[q + 1]."""

    queries: Ints
    starts: Ints
    positives: Ints

    @property
    def sizes(self) -> Ints:
        return np.diff(self.starts)

    @property
    def firsts(self) -> Ints:
        return self.positives[self.starts[:-1]]


def ground_truth(layout: Layout) -> GroundTruth:
    if not layout:
        raise DegenerateInput("The ground truth has no query.")
    lists = [list(dict.fromkeys(items)) for items in layout.values()]
    sizes = np.array([len(items) for items in lists], np.int64)
    queries = np.fromiter(layout, np.int64, len(layout))
    if not sizes.all():
        raise DegenerateInput(f"Query {queries[sizes == 0][0]} has no positive.")
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    positives = np.fromiter((item for items in lists for item in items), np.int64, int(starts[-1]))
    if positives.min() < 0:
        raise DegenerateInput("Ids are not negative.")
    return GroundTruth(queries, starts, positives)


def read_ground_truth(path: Path) -> GroundTruth:
    return ground_truth(read_layout(path))


@dataclass(frozen=True)
class Rankings:
    """A row of item ids a query, best first; rows that are shorter end in NOTHING.

    `complete` says that a row holds the whole gallery, so that nothing comes after its end.
    """

    queries: Ints
    items: NDArray[np.integer]
    complete: bool = False

    def __post_init__(self) -> None:
        if self.items.ndim != 2 or len(self.items) != len(self.queries):
            raise DegenerateInput("A ranking has one row of items for each query.")
        if self.items.shape[1] == 0:
            raise DegenerateInput("The rankings are empty.")

    @property
    def depth(self) -> int:
        return int(self.items.shape[1])

    def rows_of(self, queries: Ints) -> Ints:
        """Where the rankings of these queries are; each must be there."""
        order = np.argsort(self.queries, kind="stable")
        known = self.queries[order]
        if (known[1:] == known[:-1]).any():
            raise DegenerateInput("A query is ranked twice.")
        places = np.minimum(np.searchsorted(known, queries), len(known) - 1)
        missing = queries[known[places] != queries]
        if missing.size:
            raise DegenerateInput(
                f"{missing.size} queries of the ground truth have no ranking, such as {missing[0]}."
            )
        rows: Ints = order[places]
        return rows


def rankings_from_layout(layout: Layout, *, complete: bool = False) -> Rankings:
    if not layout:
        raise DegenerateInput("The rankings are empty.")
    depth = max(map(len, layout.values()))
    if len(layout) * depth > MOST_CELLS:
        raise DegenerateInput(f"{len(layout):,} rankings of up to {depth:,} items are too many.")
    items = np.full((len(layout), depth), NOTHING, np.int64)
    for row, ranked in enumerate(layout.values()):
        items[row, : len(ranked)] = ranked
    return Rankings(np.fromiter(layout, np.int64, len(layout)), items, complete)


def rankings_from_scores(
    scores: NDArray[np.floating],
    queries: Ints,
    gallery: Ints,
    *,
    depth: int | None = None,
    heed: Heed = go_on,
) -> Rankings:
    """The items of highest score first; equal scores keep the gallery's order."""
    if scores.shape != (len(queries), len(gallery)):
        raise DegenerateInput("Scores have a row for each query and a column for each item.")
    if scores.size > MOST_CELLS:
        raise DegenerateInput(f"{len(queries):,} × {len(gallery):,} scores are too many.")
    kept = len(gallery) if depth is None else min(depth, len(gallery))
    ids = _in_little_memory(gallery)
    items = np.empty((len(queries), kept), ids.dtype)
    at_once = max(1, CELLS_AT_ONCE // max(len(gallery), 1))
    for start in range(0, len(queries), at_once):
        heed()
        part = np.asarray(scores[start : start + at_once])
        if np.isnan(part).any():
            raise DegenerateInput("Some scores are not numbers.")
        order = np.argsort(_falling(part), axis=1, kind="stable")[:, :kept]
        items[start : start + at_once] = ids[order]
    return Rankings(np.asarray(queries, np.int64), items, kept == len(gallery))


def _in_little_memory(ids: Ints) -> NDArray[np.integer]:
    """In half of it, where no id is too large: there is one for every score."""
    largest = np.iinfo(np.int32).max
    return ids.astype(np.int32) if ids.size and ids.max() < largest else np.asarray(ids, np.int64)


def _falling(scores: NDArray[Any]) -> NDArray[Any]:
    """What sorts the highest first. Not every whole number has a negative of its type."""
    turned: NDArray[Any] = ~scores if scores.dtype.kind in "iu" else -scores
    return turned


def read_array(path: Path) -> NDArray[Any]:
    """A plain array of numbers from an npy file, which is never unpickled and stays on disk."""
    try:
        array = np.lib.format.open_memmap(path, mode="r")
    except NOT_NPY as error:
        raise DegenerateInput(
            "This is no plain array in an .npy file: it is another file, a broken one, or one of "
            "Python objects, which are never read."
        ) from error
    if not isinstance(array, np.ndarray) or array.dtype.kind not in "iuf" or array.ndim != 2:
        raise DegenerateInput("This is no array of numbers in rows and columns.")
    return array


def rankings_from_array(
    array: NDArray[Any], queries: Ints, gallery: Ints | None, *, heed: Heed = go_on
) -> Rankings:
    """Whole numbers are ids of items, best first; with a gallery, others are scores."""
    if array.size > MOST_CELLS:
        raise DegenerateInput(f"{len(array):,} rows of {array.shape[1]:,} items are too many.")
    if array.dtype.kind in "iu":
        return Rankings(np.asarray(queries, np.int64), array)
    if gallery is None:
        raise DegenerateInput("An array of scores needs the ids of its columns.")
    return rankings_from_scores(array, queries, gallery, heed=heed)


class Lookup:
    """From ids to numbers from 0 on; ids that are not known become NOTHING."""

    DENSE = 20_000_000

    def __init__(self, ids: Ints) -> None:
        self.known = np.unique(ids)
        self.dense: NDArray[np.int32] | None = None
        if self.known[-1] < self.DENSE:
            # One place before the first id and one after the last stand for all others.
            self.dense = np.full(int(self.known[-1]) + 3, NOTHING, np.int32)
            self.dense[self.known + 1] = np.arange(len(self.known), dtype=np.int32)

    def __len__(self) -> int:
        return len(self.known)

    def __call__(self, ids: NDArray[np.integer]) -> NDArray[np.integer]:
        if self.dense is not None:
            return self.dense.take(ids + 1, mode="clip")
        places = np.minimum(np.searchsorted(self.known, ids), len(self.known) - 1)
        return np.where(self.known[places] == ids, places, NOTHING)


def matches(items: NDArray[np.integer], truth: GroundTruth, asked: Ints) -> Bools:
    """Which items of each row are positives; `asked` are the places of the rows' queries."""
    sizes = truth.sizes[asked]
    most = int(sizes.max(initial=0))
    # Comparing with each positive reads less than marking the positives among all items would.
    if most * items.shape[1] <= len(truth.positives):
        found = np.zeros(items.shape, np.bool_)
        for place in range(most):
            own = truth.positives[truth.starts[asked] + np.minimum(place, sizes - 1)]
            found |= items == own[:, None]
        return found
    return _marked(items, truth, asked)


def _marked(items: NDArray[np.integer], truth: GroundTruth, asked: Ints) -> Bools:
    lookup = Lookup(truth.positives)
    positives = lookup(truth.positives)
    found = np.empty(items.shape, np.bool_)
    at_once = max(1, CELLS_AT_ONCE // (len(lookup) + 1))
    for start in range(0, len(asked), at_once):
        own = asked[start : start + at_once]
        sizes = truth.sizes[own]
        is_positive = np.zeros((len(own), len(lookup) + 1), np.bool_)
        places = _ranges(truth.starts[own], sizes)
        is_positive[np.repeat(np.arange(len(own)), sizes), positives[places]] = True
        ranked = lookup(items[start : start + at_once]).astype(np.int64)
        found[start : start + at_once] = np.take_along_axis(is_positive, ranked, axis=1)
    return found


def _ranges(starts: Ints, sizes: Ints) -> Ints:
    """starts[0] … starts[0] + sizes[0] - 1, then the same for the others."""
    ends = np.cumsum(sizes)
    every: Ints = np.arange(ends[-1]) + np.repeat(starts - (ends - sizes), sizes)
    return every


def require_no_repeats(items: NDArray[np.integer]) -> None:
    """An item that stands twice in one ranking would be counted twice."""
    ordered = np.sort(items, axis=1)
    if ((ordered[:, 1:] == ordered[:, :-1]) & (ordered[:, 1:] != NOTHING)).any():
        raise DegenerateInput("A ranking names an item twice.")
