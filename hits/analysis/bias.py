"""Machine bias: how a dataset favours the machines that proposed it (ECCV Caption, App. E.3)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from hits.analysis.arrays import Floats
from hits.analysis.errors import DegenerateInput

Subset = frozenset[str]


@dataclass(frozen=True)
class Proposal:
    """A machine ranked this item for this query, at this rank from 1 on."""

    query: int
    item: int
    machine: str
    rank: int


@dataclass(frozen=True)
class Bias:
    """Mean distances from the scores on the dataset of all machines (Eq. E.5).

    `self_bias` is over the machines that proposed the dataset, `non_self_bias` over the others;
    None where there are none.
    """

    bias: float
    self_bias: float | None
    non_self_bias: float | None


def bias(
    scores: Mapping[str, float], of_all: Mapping[str, float], proposed_by: Iterable[str]
) -> Bias:
    """B_Θ = 1/|All| Σ_φ |s_Θ(φ) - s_All(φ)|, and the same over φ in Θ and φ not in Θ."""
    own = set(proposed_by)
    if not own or scores.keys() != of_all.keys() or not own <= scores.keys():
        raise DegenerateInput("Bias needs the scores of the same machines on both datasets.")
    distances = {machine: abs(score - of_all[machine]) for machine, score in scores.items()}
    inside = [distance for machine, distance in distances.items() if machine in own]
    outside = [distance for machine, distance in distances.items() if machine not in own]
    return Bias(
        float(np.mean(list(distances.values()))),
        float(np.mean(inside)),
        float(np.mean(outside)) if outside else None,
    )


class MachineBias:
    """Scores of each machine on the dataset that each subset of machines would have given.

    `grades` hold how far each judged pair matches: 1 for a yes, 0.5 for a partial yes, 0 else
    (Eq. E.4). A dataset's pairs are those that one of its machines has in its top `depth`; a pair
    outside them counts as no match.
    """

    def __init__(
        self,
        proposals: Iterable[Proposal],
        grades: Mapping[tuple[int, int], float],
        *,
        depth: int = 5,
    ) -> None:
        ranked: dict[str, dict[int, dict[int, int]]] = {}
        for proposal in proposals:
            ranks = ranked.setdefault(proposal.machine, {}).setdefault(proposal.query, {})
            if ranks.setdefault(proposal.rank, proposal.item) != proposal.item:
                raise DegenerateInput(
                    f"{proposal.machine} has two items at rank {proposal.rank} of query "
                    f"{proposal.query}."
                )
        if not ranked:
            raise DegenerateInput("There are no proposals.")
        self.machines = tuple(sorted(ranked))
        self.queries = sorted({query for lists in ranked.values() for query in lists})
        self.ranked = ranked
        self.grades = grades
        self.depth = depth

    def recall_at_1(self, proposed_by: Iterable[str]) -> dict[str, float]:
        """The mean grade of each machine's first item, in percent (Table E.1a)."""
        grades = self._dataset(proposed_by)
        return {
            machine: 100
            * float(
                np.mean([self._matched(machine, query, 1, grades).sum() for query in self.queries])
            )
            for machine in self.machines
        }

    def r_precision(self, proposed_by: Iterable[str]) -> dict[str, float]:
        """1/R Σ_{i ≤ R} m_i over queries with R > 0 positives, in percent (Table E.1b)."""
        grades = self._dataset(proposed_by)
        sizes = {
            query: sum(grade > 0 for grade in grades[query].values()) for query in self.queries
        }
        asked = [query for query in self.queries if sizes[query]]
        if not asked:
            raise DegenerateInput("No query has a positive in this dataset.")
        return {
            machine: 100
            * float(
                np.mean(
                    [
                        self._matched(machine, query, sizes[query], grades).sum() / sizes[query]
                        for query in asked
                    ]
                )
            )
            for machine in self.machines
        }

    def _dataset(self, proposed_by: Iterable[str]) -> dict[int, dict[int, float]]:
        own = list(proposed_by)
        grades: dict[int, dict[int, float]] = {query: {} for query in self.queries}
        for machine in own:
            for query, ranks in self.ranked[machine].items():
                for rank, item in ranks.items():
                    grade = self.grades.get((query, item))
                    if rank <= self.depth and grade is not None:
                        grades[query][item] = grade
        return grades

    def _matched(
        self, machine: str, query: int, last: int, grades: Mapping[int, Mapping[int, float]]
    ) -> Floats:
        ranks = self.ranked[machine].get(query, {})
        own = grades[query]
        return np.array([own.get(ranks.get(rank, -1), 0.0) for rank in range(1, last + 1)])


def subsets(machines: Sequence[str]) -> list[Subset]:
    """All but the empty one, small ones first."""
    return [
        frozenset(chosen)
        for size in range(1, len(machines) + 1)
        for chosen in combinations(machines, size)
    ]


def bias_by_size(
    scores: Mapping[Subset, Mapping[str, float]], machines: Sequence[str]
) -> dict[int, Bias]:
    """Bias averaged over all subsets of each size but the last (Fig. E.2)."""
    wanted = subsets(machines)
    if missing := [chosen for chosen in wanted if chosen not in scores]:
        raise DegenerateInput(f"Scores of {len(missing)} subsets are missing.")
    of_all = scores[frozenset(machines)]
    found: dict[int, Bias] = {}
    for size in range(1, len(machines)):
        own = [bias(scores[one], of_all, one) for one in wanted if len(one) == size]
        found[size] = Bias(
            float(np.mean([each.bias for each in own])),
            float(np.mean([each.self_bias for each in own if each.self_bias is not None])),
            float(np.mean([each.non_self_bias for each in own if each.non_self_bias is not None])),
        )
    return found
