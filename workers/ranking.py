"""Exact top-k by what is installed: with torch or without, the result is the same bytes.

A shard is some of the queries against all targets. Its lists are kept as sort keys of
`workers.exact`, one integer a pair, so that what shards found for a target merges by their size.
"""

from collections.abc import Iterator, Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workers import exact
from workers.exact import Block, Vectors

Keys = NDArray[np.int64]
ROWS = 1 << 14


def _best_installed() -> Any:
    return exact if find_spec("torch") is None else import_module("workers.search")


def top_k_blocks(queries: Vectors, targets: Vectors, k: int) -> Iterator[Block]:
    blocks: Iterator[Block] = _best_installed().top_k_blocks(queries, targets, k)
    return blocks


def shard(
    queries: Vectors, targets: Vectors, k: int, *, first_query: int, both: bool
) -> tuple[Keys, Keys]:
    """Keys of the best targets of each query and, where both are asked for, the other way."""
    search = _best_installed()
    if not both:
        found = search.top_k(queries, targets, k)
        return exact.keys_of(*found), np.empty((0, 0), np.int64)
    forth, (of_targets, scores) = search.top_k_both(queries, targets, k)
    return exact.keys_of(*forth), exact.keys_of(of_targets + first_query, scores)


def merged(parts: Sequence[Keys], k: int) -> Iterator[Block]:
    """The best of what shards found for the same items, in memory that does not grow."""
    for start in range(0, len(parts[0]), ROWS):
        keys = np.concatenate([part[start : start + ROWS] for part in parts], axis=1)
        keys.sort(axis=1)
        yield Block(start, *exact.of_sort_keys(keys[:, :k]))


def one_after_another(parts: Sequence[Keys]) -> Iterator[Block]:
    """Lists of shards that have other queries each."""
    start = 0
    for part in parts:
        for first in range(0, len(part), ROWS):
            keys = np.array(part[first : first + ROWS])
            yield Block(start + first, *exact.of_sort_keys(keys))
        start += len(part)
