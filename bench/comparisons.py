"""Comparisons: Bradley–Terry from 1,000,000 comparisons of 500 systems, against choix's."""

import argparse
import json
import subprocess
import sys
import venv
from pathlib import Path
from typing import Any

import choix
import numpy as np

from bench import report, timing
from bench.cluster import FOLDER, ROOT, BenchError
from hits.analysis.comparisons import Comparisons, fit
from hits.analysis.likelihood import LEFT

COMPARISONS, SYSTEMS = 1_000_000, 500
CROWD_KIT = "crowd-kit 1.4.2"
CLOSE = 1e-6


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--comparisons", type=int, default=COMPARISONS)
    parser.add_argument("--systems", type=int, default=SYSTEMS)
    parser.add_argument("--peer", choices=["crowd-kit"], help="crowd-kit too, in this run")


def run(options: argparse.Namespace) -> dict[str, Any]:
    given = _comparisons(options.comparisons, options.systems)
    ours, our_time = timing.best_of(3, lambda: fit(given).strengths)
    won = np.where(given.outcome == LEFT, given.left, given.right)
    lost = np.where(given.outcome == LEFT, given.right, given.left)
    pairs = list(zip(won.tolist(), lost.tolist(), strict=True))
    theirs, their_time = timing.timed(lambda: choix.ilsr_pairwise(options.systems, pairs))
    furthest = float(np.abs(ours - theirs).max())
    if furthest > CLOSE:
        raise BenchError(f"The strengths differ by {furthest}.")
    figures: dict[str, Any] = {
        "ours": our_time,
        "choix": their_time,
        "largest_difference": furthest,
    }
    rows = [
        timing.row("ours, from columns of comparisons", our_time, our_time),
        timing.row("choix 0.4.1, ilsr_pairwise on a list", their_time, our_time),
    ]
    if options.peer:
        figures[CROWD_KIT] = _crowd_kit(given, ours)
        rows.append(timing.row(f"{CROWD_KIT}, 100 rounds", figures[CROWD_KIT], our_time))
    title = f"Bradley–Terry, {options.comparisons:,} comparisons of {options.systems} systems"
    report.table(title, timing.COLUMNS, rows)
    report.note(f"Log strengths differ from choix's by at most {furthest:.1e}.")
    if options.peer:
        differs = figures[CROWD_KIT]["largest_difference"]
        report.note(f"Those of {CROWD_KIT} differ by {differs:.1e} after 100 rounds.")
    return figures


def _comparisons(number: int, systems: int) -> Comparisons:
    rng = np.random.default_rng(0)
    strengths = rng.normal(size=systems)
    left = rng.integers(0, systems, number)
    right = (left + rng.integers(1, systems, number)) % systems
    wins_left = rng.random(number) < 1 / (1 + np.exp(strengths[right] - strengths[left]))
    names = tuple(f"system {place}" for place in range(systems))
    return Comparisons(names, left, right, (~wins_left).astype(np.int64))


def _crowd_kit(given: Comparisons, ours: np.ndarray[Any, Any]) -> dict[str, Any]:
    """In an environment of its own: it brings some 700 MB with it."""
    folder = FOLDER / "crowd-kit"
    python = folder / "bin" / "python"
    if not python.exists():
        venv.create(folder, with_pip=True)
    quietly = ["--quiet", "--disable-pip-version-check"]
    install: list[str | Path] = [python, "-m", "pip", "install", *quietly, "crowd-kit==1.4.2"]
    subprocess.run(install, check=True, stdout=sys.stderr)
    source = FOLDER / "comparisons.npz"
    np.savez(source, left=given.left, right=given.right, outcome=given.outcome)
    done = subprocess.run(
        [python, "-m", "bench.peers.crowd_kit", source],
        check=True,
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )
    figures: dict[str, Any] = json.loads(done.stdout)
    strengths = np.log(np.array(figures.pop("scores")))
    figures["largest_difference"] = float(np.abs(strengths - strengths.mean() - ours).max())
    return figures
