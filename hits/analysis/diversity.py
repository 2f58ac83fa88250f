"""How differently machines rank (ECCV Caption, App. A.2, Table A.1)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations

import numpy as np
from scipy import stats

from hits.analysis.errors import DegenerateInput

Lists = Mapping[int, Sequence[int]]


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
    """For each ordered pair of machines; an item that a list lacks stands at rank depth + 1."""
    if len(ranked) < 2 or depth < 1:
        raise DegenerateInput("Diversity needs at least two machines, and lists of some depth.")
    return {
        (one, two): _against(ranked[one], ranked[two], depth)
        for one, two in permutations(ranked, 2)
    }


def _against(one: Lists, two: Lists, depth: int) -> Diversity:
    queries = [query for query in one if query in two and one[query] and two[query]]
    if not queries:
        raise DegenerateInput("Two machines ranked no query in common.")
    taus, shared, firsts = [], [], []
    for query in queries:
        here, there = (_ranks(lists[query][:depth]) for lists in (one, two))
        tau = _tau(here, there, depth)
        if tau is not None:
            taus.append(tau)
        shared.append(len(here.keys() & there.keys()) / len(here))
        firsts.append(there.get(one[query][0], depth + 1))
    if not taus:
        raise DegenerateInput("No query has lists of more than one item.")
    return Diversity(
        float(np.mean(taus)), len(taus), float(np.mean(shared)), float(np.mean(firsts))
    )


def _ranks(items: Sequence[int]) -> dict[int, int]:
    ranks = {item: rank for rank, item in enumerate(items, 1)}
    if len(ranks) < len(items):
        raise DegenerateInput("A ranking names an item twice.")
    return ranks


def _tau(here: Mapping[int, int], there: Mapping[int, int], depth: int) -> float | None:
    every = sorted({*here, *there})
    if len(every) < 2:
        return None
    ranks = [[own.get(item, depth + 1) for item in every] for own in (here, there)]
    return float(stats.kendalltau(*ranks, variant="b").statistic)
