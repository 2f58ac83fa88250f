"""Sets of positive pairs: how they compare with people's, how they merge, how they convert."""

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from hits.analysis.arrays import Floats, Ints
from hits.analysis.errors import DegenerateInput

Positives = Mapping[int, Set[int]]


@dataclass(frozen=True)
class PrecisionRecall:
    """One value a query, and the queries that had one."""

    precision: Floats
    precision_queries: Ints
    recall: Floats
    recall_queries: Ints

    @property
    def mean_precision(self) -> float:
        return float(self.precision.mean())

    @property
    def mean_recall(self) -> float:
        return float(self.recall.mean())


def precision_and_recall(
    dataset: Positives, human: Positives, verified: Positives
) -> PrecisionRecall:
    """Of a dataset's positives against people's (ECCV Caption §3.3).

    With t_i people's positives, r_i the dataset's and h_i the pairs that people saw,
    r_i' = r_i ∩ h_i. Precision is the mean of |r_i' ∩ t_i| / |r_i'| over queries where r_i' is not
    empty, recall the mean of 1 - |t_i \\ r_i'| / |t_i| over queries where t_i is not.
    """
    kept = {query: dataset.get(query, set()) & seen for query, seen in verified.items()}
    judged = [query for query in verified if kept[query]]
    found = [query for query in verified if human.get(query)]
    if not judged or not found:
        raise DegenerateInput("No pair of the dataset was verified, or people found no positive.")
    precision = [len(kept[query] & human.get(query, set())) / len(kept[query]) for query in judged]
    recall = [1 - len(human[query] - kept[query]) / len(human[query]) for query in found]
    return PrecisionRecall(
        np.array(precision), np.array(judged, np.int64), np.array(recall), np.array(found, np.int64)
    )


def merged(one: Positives, other: Positives) -> dict[int, set[int]]:
    """Both sets of positives together, for the queries of the first."""
    return {query: set(items) | set(other.get(query, ())) for query, items in one.items()}


def number_of_pairs(positives: Mapping[int, Sequence[int] | Set[int]], among: Iterable[int]) -> int:
    """How many positives the given queries have in all (ECCV Caption, Table 3)."""
    asked = list(among)
    missing = [query for query in asked if query not in positives]
    if missing:
        raise DegenerateInput(f"{len(missing)} queries have no positives, such as {missing[0]}.")
    return sum(len(set(positives[query])) for query in asked)


def turned(positives: Mapping[int, Sequence[int] | Set[int]]) -> dict[int, set[int]]:
    """The same pairs with items as queries."""
    other: dict[int, set[int]] = {}
    for query, items in positives.items():
        for item in items:
            other.setdefault(item, set()).add(query)
    return other


@dataclass(frozen=True)
class Conversion:
    """How many of those that entered a stage left it."""

    entered: int
    left: int

    @property
    def percent(self) -> float:
        return 100 * self.left / self.entered


def conversions(counts: Sequence[int]) -> list[Conversion]:
    """Stage by stage, from the number before the first to that after the last (BISON, App. A)."""
    if len(counts) < 2:
        raise DegenerateInput("Conversion needs at least two counts.")
    for before, after in pairwise(counts):
        if before <= 0 or not 0 <= after <= before:
            raise DegenerateInput("A stage cannot let out more than came in, nor begin with none.")
    return [Conversion(before, after) for before, after in pairwise(counts)]


def predictions_changed(before: Mapping[int, int], after: Mapping[int, int]) -> Floats:
    """1 for each example whose prediction an alteration of the query changes, 0 otherwise; their
    mean is the share of BISON, App. F."""
    if not before or before.keys() != after.keys():
        raise DegenerateInput("Both sets of predictions need the same examples, and at least one.")
    return np.array([after[example] != chosen for example, chosen in before.items()], np.float64)
