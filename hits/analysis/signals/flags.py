"""All signals of a study's work, and the pages that they propose to look at. Nothing is dropped."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from hits.analysis.errors import AnalysisError
from hits.analysis.signals.alone import gold_record, page_golds, patterns, sides, times, variation
from hits.analysis.signals.rules import Rules
from hits.analysis.signals.together import confirmation, copies, disagreement, reliability
from hits.analysis.signals.work import Signal, Work

SIGNALS: Mapping[str, Callable[[Work, Rules], Iterator[Signal]]] = {
    "page golds": page_golds,
    "gold record": gold_record,
    "time": times,
    "variation": variation,
    "pattern": patterns,
    "side": sides,
    "disagreement": disagreement,
    "copies": copies,
    "reliability": reliability,
    "confirmation": confirmation,
}


@dataclass(frozen=True)
class Proposal:
    """A page, how far it is to be doubted, and what was raised on it or on its person."""

    page: int
    person: int
    doubt: float
    raised: tuple[Signal, ...]

    @property
    def is_flagged(self) -> bool:
        return bool(self.raised)


@dataclass(frozen=True)
class Flags:
    """Every page, the most doubtful first; every signal; and why some kinds say nothing."""

    pages: tuple[Proposal, ...]
    signals: tuple[Signal, ...]
    silent: Mapping[str, str]


def flags(work: Work, rules: Rules) -> Flags:
    """A page is doubted as much as the strongest signal on it or on its person."""
    found: list[Signal] = []
    silent = {}
    for name, signal in SIGNALS.items():
        try:
            given = list(signal(work, rules))
        except AnalysisError as why:
            silent[name] = str(why)
            continue
        found += given
        if not given:
            silent[name] = f"Nobody has {rules.fewest_judgments} judgments for it."
    return Flags(_proposals(work, found), tuple(found), silent)


def _proposals(work: Work, signals: list[Signal]) -> tuple[Proposal, ...]:
    about = defaultdict(list)
    for signal in signals:
        about[signal.subject, signal.key].append(signal)
    proposals = []
    pages, first = np.unique(work.pages, return_index=True)
    for page, person in zip(pages.tolist(), work.people[first].tolist(), strict=True):
        own = sorted(
            about["page", page] + about["person", person],
            key=lambda signal: (-signal.doubt, signal.name, signal.subject),
        )
        raised = tuple(signal for signal in own if signal.is_raised)
        proposals.append(Proposal(page, person, own[0].doubt if own else 0.0, raised))
    return tuple(sorted(proposals, key=lambda one: (-one.doubt, one.page)))
