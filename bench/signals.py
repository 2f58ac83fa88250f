"""Signals: what the quality rules find in simulated crowds, against the plain gold rule alone."""

import argparse
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from bench import report, roc
from hits.analysis.arrays import Bools, Floats
from hits.analysis.behaviour import DEALT
from hits.analysis.crowd import Settings, Simulated, simulate
from hits.analysis.signals.flags import SIGNALS, flags
from hits.analysis.signals.rules import Rules
from hits.analysis.signals.work import Signal

BAD_SHARES = (0.1, 0.3)
# As many judgments in all. With one a unit nobody is compared with others, as in ECCV Caption.
DESIGNS = {
    "five judgments a unit": (5, 1200),
    "one judgment a unit": (1, 6000),
}
STUDIES, FIRST_SEED = 20, 2000
PLAIN = "page golds"
RULES: dict[str, tuple[str, ...]] = {
    "plain gold rule": (PLAIN,),
    "signals without it": tuple(name for name in SIGNALS if name != PLAIN),
    "signals with it": tuple(SIGNALS),
}
REPLICATES = 1000


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--studies", type=int, default=STUDIES)
    parser.add_argument("--plot", type=Path, help="where to write the ROC curves, as SVG")


def run(options: argparse.Namespace) -> dict[str, Any]:
    figures: dict[str, Any] = {}
    panels = {}
    for (design, (judgments, units)), bad_share in product(DESIGNS.items(), BAD_SHARES):
        title = f"{design}, {bad_share:.0%} bad people"
        settings = Settings(bad_share=bad_share, judgments=judgments, units=units)
        seeds = range(FIRST_SEED, FIRST_SEED + options.studies)
        judged = [_judged(simulate(settings, seed)) for seed in seeds]
        figures[title] = _tell(title, judged)
        panels[title] = {rule: _curve(judged, rule) for rule in RULES}
    report.note(
        f"Each row: the same {options.studies} simulated studies, seeds {FIRST_SEED} on; settings "
        "and rules as they come in hits/analysis. In brackets 95% intervals, studies resampled."
    )
    if options.plot:
        options.plot.write_text(roc.drawn(panels))
    return figures


@dataclass(frozen=True)
class Judged:
    """A study's pages: whether each is bad, its person's kind, and its doubt by each rule."""

    bad: Bools
    kinds: list[str]
    doubts: dict[str, Floats]


def _judged(crowd: Simulated) -> Judged:
    found = flags(crowd.work, Rules())
    people = {proposal.page: proposal.person for proposal in found.pages}
    pages = sorted(people)
    kinds: list[str] = [crowd.kinds[people[page]] for page in pages]
    doubts = {}
    for rule, names in RULES.items():
        strongest = _strongest(signal for signal in found.signals if signal.name in names)
        doubts[rule] = np.array(
            [max(strongest["page", page], strongest["person", people[page]]) for page in pages]
        )
    return Judged(crowd.bad_pages[pages], kinds, doubts)


def _strongest(signals: Iterable[Signal]) -> defaultdict[tuple[str, int], float]:
    doubts: defaultdict[tuple[str, int], float] = defaultdict(float)
    for signal in signals:
        about = signal.subject, signal.key
        doubts[about] = max(doubts[about], signal.doubt)
    return doubts


def _tell(title: str, judged: Sequence[Judged]) -> dict[str, Any]:
    measured = {rule: _measured(judged, rule) for rule in RULES}
    names = list(next(iter(measured.values())))
    report.table(
        f"Pages flagged: {title}",
        ["", *(name.replace("_", " ") for name in names)],
        [[rule, *(_told(of[name]) for name in names)] for rule, of in measured.items()],
    )
    by_kind = {rule: _recall_by_kind(judged, rule) for rule in RULES}
    report.table(
        f"Bad pages that were flagged, by kind of person: {title}",
        ["", *dict.fromkeys(DEALT)],
        [[rule, *(f"{share:.0%}" for share in of.values())] for rule, of in by_kind.items()],
    )
    return {rule: measured[rule] | {"recall_by_kind": by_kind[rule]} for rule in RULES}


def _told(figure: dict[str, float]) -> str:
    if "low" not in figure:
        return f"{figure['estimate']:.3f}"
    return f"{figure['estimate']:.1%} ({figure['low']:.1%}–{figure['high']:.1%})"


def _measured(judged: Sequence[Judged], rule: str) -> dict[str, dict[str, float]]:
    counts = np.array([_counts(one.bad, one.doubts[rule] >= 1) for one in judged], dtype=float)
    rng = np.random.default_rng(0)
    drawn = rng.multinomial(len(counts), np.full(len(counts), 1 / len(counts)), REPLICATES)
    whole, replicates = _shares(counts.sum(axis=0)[None]), _shares(drawn @ counts)
    measured = {}
    for name, (estimate,) in whole.items():
        low, high = np.quantile(replicates[name], [0.025, 0.975])
        measured[name] = {"estimate": float(estimate), "low": float(low), "high": float(high)}
    curve = _curve(judged, rule)
    return measured | {"area_under_roc": {"estimate": float(np.trapezoid(curve.true, curve.false))}}


def _counts(bad: Bools, flagged: Bools) -> tuple[int, int, int, int]:
    """Bad and flagged, good and flagged, bad and not, good and not."""
    return (
        int((bad & flagged).sum()),
        int((~bad & flagged).sum()),
        int((bad & ~flagged).sum()),
        int((~bad & ~flagged).sum()),
    )


def _shares(counts: Floats) -> dict[str, Floats]:
    caught, wronged, missed, kept = counts.T
    return {
        "precision": caught / (caught + wronged),
        "recall": caught / (caught + missed),
        "good_work_set_aside": wronged / (wronged + kept),
        "bad_among_what_got_through": missed / (missed + kept),
    }


def _recall_by_kind(judged: Sequence[Judged], rule: str) -> dict[str, float]:
    recalls: dict[str, float] = {}
    for kind in dict.fromkeys(DEALT):
        flagged = [
            doubt >= 1
            for one in judged
            for bad, of, doubt in zip(one.bad, one.kinds, one.doubts[rule], strict=True)
            if bad and of == kind
        ]
        recalls[kind] = float(np.mean(flagged))
    return recalls


def _curve(judged: Sequence[Judged], rule: str) -> roc.Curve:
    """Shares of good and of bad pages at or above each doubt, and where the threshold lies."""
    bad = np.concatenate([one.bad for one in judged])
    doubts = np.concatenate([one.doubts[rule] for one in judged])
    levels = np.unique(doubts)[::-1]
    true, false = (
        np.array([0.0, *(np.mean(doubts[chosen] >= level) for level in levels)])
        for chosen in (bad, ~bad)
    )
    flagged = doubts >= 1
    return roc.Curve(false, true, (float(flagged[~bad].mean()), float(flagged[bad].mean())))
