"""Shares of answers by machine and rank, and of reasons by machine (ECCV Caption, Table B.2, B.3).

A pair that several machines proposed counts for each of them.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from hits.analysis.errors import DegenerateInput


@dataclass(frozen=True)
class Row:
    """Answers of one group and how often each was given."""

    counts: Mapping[str, int]

    @property
    def total(self) -> int:
        return sum(self.counts.values())

    def percent(self, answer: str) -> float:
        return 100 * self.counts[answer] / self.total


def choice_shares(
    answers: Iterable[tuple[str, int, str]], choices: Sequence[str]
) -> dict[str, dict[int, Row]]:
    """By machine and rank, from rows of (machine, rank, choice)."""
    counted: dict[str, dict[int, Counter[str]]] = {}
    for machine, rank, choice in answers:
        if choice not in choices:
            raise DegenerateInput(f"{choice!r} is none of the choices.")
        counted.setdefault(machine, {}).setdefault(rank, Counter())[choice] += 1
    if not counted:
        raise DegenerateInput("There are no answers.")
    return {
        machine: {rank: _row(ranks[rank], choices) for rank in sorted(ranks)}
        for machine, ranks in counted.items()
    }


def over_ranks(rows: Mapping[int, Row], choices: Sequence[str]) -> dict[str, float]:
    """The mean over ranks of a machine's percentages: the line "Avg." of Table B.2."""
    if not rows:
        raise DegenerateInput("There are no ranks to take the mean of.")
    return {
        choice: sum(row.percent(choice) for row in rows.values()) / len(rows) for choice in choices
    }


def reason_shares(
    ticked: Iterable[tuple[str, Iterable[str]]], reasons: Sequence[str]
) -> dict[str, Row]:
    """By machine, from rows of (machine, reasons ticked): shares of all ticks, not of answers."""
    counted: dict[str, Counter[str]] = {}
    for machine, chosen in ticked:
        for reason in chosen:
            if reason not in reasons:
                raise DegenerateInput(f"{reason!r} is none of the reasons.")
            counted.setdefault(machine, Counter())[reason] += 1
    if not counted:
        raise DegenerateInput("No reason was ticked.")
    return {machine: _row(counts, reasons) for machine, counts in counted.items()}


def _row(counts: Counter[str], names: Sequence[str]) -> Row:
    return Row({name: counts[name] for name in names})
