"""A study rehearsed on simulated crowds: how good its positives would be, how the quality rules
would fare, and how long people would work."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from hits.analysis.arrays import Bools, Floats
from hits.analysis.behaviour import MANNERS
from hits.analysis.crowd import Settings, Simulated, simulate
from hits.analysis.errors import DegenerateInput
from hits.analysis.signals.flags import flags
from hits.analysis.signals.rules import Rules
from hits.analysis.signals.work import NO_GOLD

# A larger study is rehearsed on a part of it, with as many fewer people.
MOST_JUDGMENTS = 6_000
FEWEST_PEOPLE = 12
RUNS = 10
# The middle of the four choices stands for no and for yes.
NEAR = 0.5


@dataclass(frozen=True)
class Design:
    """What is known of a study and assumed of its people. `seconds` is a careful person's median
    for a judgment, `positives` the share of units whose right answer is a yes."""

    units: int
    judgments: int
    page_units: int
    page_golds: int
    people: int
    bad_share: float = 0.1
    seconds: float = 8.0
    positives: float = 0.3

    def __post_init__(self) -> None:
        if min(self.units, self.judgments, self.page_units, self.people) < 1:
            raise DegenerateInput("A rehearsal needs units, judgments, pages and people.")
        if self.people < self.judgments:
            raise DegenerateInput(
                f"{self.people} people cannot give {self.judgments} judgments of a unit each."
            )
        if not 0 < self.positives < 1 or not 0 <= self.bad_share <= 1 or self.seconds <= 0:
            raise DegenerateInput("Shares lie between 0 and 1, and a judgment takes some seconds.")


@dataclass(frozen=True)
class Range:
    """The mean over simulated studies, and between which values nine in ten of them lie."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class Rehearsed:
    """`positives` are of the majority of all judgments; `checked` of what is left when flagged
    pages are not used. Shares of pages are of the quality rules."""

    positives: Mapping[str, Range]
    checked: Mapping[str, Range]
    rules: Mapping[str, Range]
    page_seconds: Range
    runs: int
    judgments_a_run: int


def rehearse(design: Design, seed: int, rules: Rules | None = None, runs: int = RUNS) -> Rehearsed:
    settings = _settings(design)
    measured = [_measured(simulate(settings, seed + run), rules or Rules()) for run in range(runs)]
    return Rehearsed(
        positives=_ranges([each.plain for each in measured]),
        checked=_ranges([each.checked for each in measured]),
        rules=_ranges([each.rules for each in measured]),
        page_seconds=_range(np.array([each.page_seconds for each in measured])),
        runs=runs,
        judgments_a_run=settings.units * settings.judgments,
    )


def _settings(design: Design) -> Settings:
    part = min(1.0, MOST_JUDGMENTS / (design.units * design.judgments))
    people = max(FEWEST_PEOPLE, design.judgments + 1, round(design.people * part))
    slower = design.seconds / MANNERS["careful"].seconds
    manners = {
        kind: replace(
            manner,
            seconds=manner.seconds * slower,
            seconds_at_last=manner.seconds_at_last and manner.seconds_at_last * slower,
        )
        for kind, manner in MANNERS.items()
    }
    yes, no = design.positives, 1 - design.positives
    return Settings(
        people=people,
        bad_share=design.bad_share,
        units=max(1, round(design.units * part)),
        judgments=design.judgments,
        page_units=design.page_units,
        page_golds=design.page_golds,
        truth=(yes * NEAR, yes * (1 - NEAR), no * (1 - NEAR), no * NEAR),
        manners=manners,
    )


@dataclass(frozen=True)
class _Measured:
    plain: dict[str, float]
    checked: dict[str, float]
    rules: dict[str, float]
    page_seconds: float


def _measured(crowd: Simulated, rules: Rules) -> _Measured:
    found = flags(crowd.work, rules)
    flagged = np.zeros(len(crowd.bad_pages), dtype=bool)
    flagged[[each.page for each in found.pages if each.is_flagged]] = True
    everything = np.ones(len(crowd.work.units), dtype=bool)
    totals = np.bincount(crowd.work.pages, weights=crowd.work.seconds)
    return _Measured(
        plain=_positives(crowd, everything),
        checked=_positives(crowd, ~flagged[crowd.work.pages]),
        rules=_found(crowd.bad_pages, flagged),
        page_seconds=float(np.median(totals)),
    )


def _positives(crowd: Simulated, used: Bools) -> dict[str, float]:
    """Precision and recall of the units that more than half of the judgments call positive."""
    work, half = crowd.work, 2
    rows = used & (work.golds == NO_GOLD)
    said = np.bincount(work.units[rows], minlength=len(crowd.truth))
    yes = np.bincount(work.units[rows & (work.values < half)], minlength=len(crowd.truth))
    judged = said > 0
    positive, truth = judged & (2 * yes > said), judged & (crowd.truth < half)
    right = float((positive & truth).sum())
    return {
        "precision": right / max(1, int(positive.sum())),
        "recall": right / max(1, int(truth.sum())),
    }


def _found(bad: Bools, flagged: Bools) -> dict[str, float]:
    caught = int((bad & flagged).sum())
    return {
        "flagged": float(flagged.mean()),
        "precision": caught / flagged.sum() if flagged.any() else 1.0,
        "recall": caught / bad.sum() if bad.any() else 1.0,
        "good_set_aside": float((~bad & flagged).sum() / max(1, (~bad).sum())),
        "bad_got_through": float((bad & ~flagged).sum() / max(1, (~flagged).sum())),
    }


def _ranges(measured: Sequence[Mapping[str, float]]) -> dict[str, Range]:
    return {name: _range(np.array([each[name] for each in measured])) for name in measured[0]}


def _range(values: Floats) -> Range:
    low, high = np.quantile(values, [0.05, 0.95])
    return Range(float(values.mean()), float(low), float(high))
