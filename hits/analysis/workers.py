"""Workers by how many HITs they did."""

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass

from hits.analysis.errors import DegenerateInput


@dataclass(frozen=True)
class Band:
    """Workers who did so many HITs: how many they are, what they submitted, what was approved."""

    label: str
    workers: int
    submitted: int
    approved: int

    @property
    def percent(self) -> float | None:
        return 100 * self.approved / self.submitted if self.submitted else None


BANDS = ((1, 1), (2, 5), (6, 10), (11, 15), (16, 25), (26, None))


def worker_table(
    assignments: Iterable[tuple[Hashable, bool]],
    bands: Sequence[tuple[int, int | None]] = BANDS,
) -> list[Band]:
    """From rows of (worker, approved), one an assignment (ECCV Caption, Table B.1)."""
    submitted: Counter[Hashable] = Counter()
    approved: Counter[Hashable] = Counter()
    for worker, is_approved in assignments:
        submitted[worker] += 1
        approved[worker] += is_approved
    if not submitted:
        raise DegenerateInput("Nobody has submitted anything.")
    table = []
    for low, high in bands:
        members = [
            worker
            for worker, done in submitted.items()
            if done >= low and (high is None or done <= high)
        ]
        label = f">{low - 1}" if high is None else f"{low}" if low == high else f"{low}–{high}"
        table.append(
            Band(
                label,
                len(members),
                sum(submitted[worker] for worker in members),
                sum(approved[worker] for worker in members),
            )
        )
    return table
