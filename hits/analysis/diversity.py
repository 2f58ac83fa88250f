"""How differently machines rank (ECCV Caption, App. A.2, Table A.1)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from hits.analysis.arrays import Floats
from hits.analysis.errors import DegenerateInput

Lists = Mapping[int, Sequence[int]]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]
# So that the signs of all pairs of a chunk's items are some ten million numbers.
SIGNS = 10_000_000
NOTHING = -1


@dataclass(frozen=True)
class Diversity:
    """Of one machine against another, over the queries that both ranked.

    `tau` is the mean of tau-b, `shared` the mean share of a list that the other list has too, and
    `rank_of_first` the mean rank that the other gives to this machine's first item.
    """

    tau: float
    queries_with_tau: int
    shared: float
    rank_of_first: float


def diversity(ranked: Mapping[str, Lists], depth: int) -> dict[tuple[str, str], Diversity]:
    """For each ordered pair of machines with a query in common; an item that a list lacks stands
    at rank depth + 1."""
    if len(ranked) < 2 or depth < 1:
        raise DegenerateInput("Diversity needs at least two machines, and lists of some depth.")
    found = {}
    for one, two in combinations(ranked, 2):
        if queries := _in_common(ranked[one], ranked[two]):
            between = _between(ranked[one], ranked[two], queries, depth)
            found[one, two], found[two, one] = between
    if not found:
        raise DegenerateInput("The machines ranked no query in common.")
    return found


def _in_common(one: Lists, two: Lists) -> list[int]:
    return [query for query in one if query in two and one[query] and two[query]]


def _between(
    one: Lists, two: Lists, queries: Sequence[int], depth: int
) -> tuple[Diversity, Diversity]:
    chunk = max(SIGNS // (2 * depth) ** 2, 1)
    parts = [
        _of_queries(one, two, queries[start : start + chunk], depth)
        for start in range(0, len(queries), chunk)
    ]
    taus, *figures = (np.concatenate(column) for column in zip(*parts, strict=True))
    known = taus[~np.isnan(taus)]
    if not len(known):
        raise DegenerateInput("No query has lists of more than one item.")
    tau, counted = float(known.mean()), len(known)
    shared_one, shared_two, first_one, first_two = (float(column.mean()) for column in figures)
    return (
        Diversity(tau, counted, shared_one, first_one),
        Diversity(tau, counted, shared_two, first_two),
    )


def _of_queries(one: Lists, two: Lists, queries: Sequence[int], depth: int) -> list[Floats]:
    """A query's tau-b, what each list has of the other, and the rank of each one's first there."""
    here, there = (_table(lists, queries, depth) for lists in (one, two))
    same = (here[:, :, None] == there[:, None, :]) & (here != NOTHING)[:, :, None]
    ranks_there, ranks_here = _ranks(same, depth), _ranks(same.swapaxes(1, 2), depth)
    own = np.broadcast_to(np.arange(1, depth + 1), here.shape)
    only_there = (there != NOTHING) & (ranks_here > depth)
    x = np.concatenate([own, np.full(there.shape, depth + 1)], axis=1)
    y = np.concatenate([ranks_there, own], axis=1)
    is_item = np.concatenate([here != NOTHING, only_there], axis=1)
    both = same.any(axis=2).sum(axis=1)
    return [
        _tau_b(x, y, is_item),
        both / (here != NOTHING).sum(axis=1),
        both / (there != NOTHING).sum(axis=1),
        ranks_there[:, 0].astype(np.float64),
        ranks_here[:, 0].astype(np.float64),
    ]


def _table(lists: Lists, queries: Sequence[int], depth: int) -> Ints:
    table = np.full((len(queries), depth), NOTHING, np.int64)
    for row, query in enumerate(queries):
        items = lists[query][:depth]
        if len(set(items)) < len(items):
            raise DegenerateInput("A ranking names an item twice.")
        table[row, : len(items)] = items
    return table


def _ranks(same: Flags, depth: int) -> Ints:
    """Where each item of a list stands in the other."""
    return np.where(same.any(axis=2), same.argmax(axis=2) + 1, depth + 1)


def _tau_b(x: Ints, y: Ints, is_item: Flags) -> Floats:
    """Kendall's tau-b a row: (concordant - discordant) / sqrt(pairs untied in x * in y)."""
    pairs = is_item[:, :, None] & is_item[:, None, :]
    signs_x = np.sign(x[:, :, None] - x[:, None, :]).astype(np.int8) * pairs
    signs_y = np.sign(y[:, :, None] - y[:, None, :]).astype(np.int8) * pairs
    balance = (signs_x * signs_y).sum(axis=(1, 2), dtype=np.int64)
    untied = np.abs(signs_x).sum(axis=(1, 2), dtype=np.int64) * np.abs(signs_y).sum(
        axis=(1, 2), dtype=np.int64
    )
    return np.where(untied > 0, balance / np.sqrt(np.maximum(untied, 1)), np.nan)
