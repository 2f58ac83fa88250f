"""Search: exact top-25 with torch against faiss-cpu and numpy; then growing, both ways."""

import argparse
import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench import machine, report, timing
from bench.cluster import BenchError

Vectors = NDArray[np.float32]
K = 25
# Multiples of 2**-12 with a norm below 1: every float32 sum of their products is exact, whatever
# its order, so that three libraries must agree to the last place.
STEPS = 2.0**12
SIZES = [(5_000, 25_000), (20_000, 100_000), (40_000, 200_000)]
WHOLE_COCO = 123_287 * 616_767


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--queries", type=int, default=5_000)
    parser.add_argument("--targets", type=int, default=25_000)
    parser.add_argument("--dimension", type=int, default=512)
    parser.add_argument("--times", type=int, default=5)
    parser.add_argument("--largest", type=int, default=len(SIZES), help="how many sizes to grow to")
    parser.add_argument("--only", help=argparse.SUPPRESS)


def run(options: argparse.Namespace) -> dict[str, Any]:
    for package in ("torch", "faiss"):
        if importlib.util.find_spec(package) is None:
            report.say(f"{package} is not installed: the search is not measured.")
            return {}
    if options.only:
        return _grown(*map(int, options.only.split("x")))
    figures = _against_peers(options)
    grown = [_in_a_process(*size) for size in SIZES[: options.largest]]
    if grown:
        figures |= {"sizes": grown, "whole_coco_hours": _tell_growth(grown)}
    return figures


def _against_peers(options: argparse.Namespace) -> dict[str, Any]:
    import faiss
    import torch

    from workers import search

    queries = made(options.queries, options.dimension, seed=1)
    targets = made(options.targets, options.dimension, seed=2)
    forward, backward = faiss.IndexFlatIP(options.dimension), faiss.IndexFlatIP(options.dimension)
    forward.add(targets)
    backward.add(queries)
    ways = {
        "product alone (torch)": lambda: _product(torch, queries, targets),
        "ours": lambda: search.top_k(queries, targets, K),
        "faiss IndexFlatIP": lambda: forward.search(queries, K)[::-1],
        "numpy": lambda: _numpy(queries, targets),
        "ours, both ways": lambda: search.top_k_both(queries, targets, K),
        "faiss, the way back": lambda: backward.search(targets, K)[::-1],
    }
    found, times = _in_turns(ways, options.times)
    forth, back = found["ours, both ways"]
    swapped = {
        "faiss IndexFlatIP": _tied_places(found["ours"], found["faiss IndexFlatIP"]),
        "numpy": _tied_places(found["ours"], found["numpy"]),
        "faiss, the way back": _tied_places(back, found["faiss, the way back"]),
        "ours, both ways": _tied_places(found["ours"], forth),
    }
    times["faiss, both ways"] = {
        unit: times["faiss IndexFlatIP"][unit] + times["faiss, the way back"][unit]
        for unit in ("seconds", "cpu_seconds")
    }
    _tell(options, times)
    places = ", ".join(f"{name} {count}" for name, count in swapped.items())
    report.note(f"All scores are equal. Ids that differ, all among equal scores: {places}.")
    return {"times": times, "gemm_share": _share(times), "tied_places": swapped}


def _in_turns(
    ways: dict[str, Any], times: int
) -> tuple[dict[str, Any], dict[str, dict[str, float]]]:
    """Each in turn, so that what else the machine does disturbs all alike; the best run counts."""
    found: dict[str, Any] = {}
    taken: dict[str, list[dict[str, float]]] = {name: [] for name in ways}
    for _ in range(times):
        for name, way in ways.items():
            found[name], time = timing.timed(way)
            taken[name].append(time)
    return found, {
        name: {unit: min(run[unit] for run in runs) for unit in runs[0]}
        for name, runs in taken.items()
    }


def made(count: int, dimension: int, *, seed: int) -> Vectors:
    rng = np.random.default_rng(seed)
    vectors = rng.standard_normal((count, dimension), np.float32)
    vectors *= 0.99 / np.linalg.norm(vectors, axis=1, keepdims=True)
    steps: Vectors = np.rint(vectors * np.float32(STEPS)) / np.float32(STEPS)
    return steps


def _product(torch: Any, queries: Vectors, targets: Vectors) -> None:
    """The blocks that our search multiplies, and nothing else."""
    from workers import search

    asked, offered = torch.from_numpy(queries), torch.from_numpy(targets)
    room = torch.empty(search.ROWS * search.COLUMNS)
    for start in range(0, len(asked), search.ROWS):
        for first in range(0, len(offered), search.COLUMNS):
            rows, columns = asked[start : start + search.ROWS], offered[first:][: search.COLUMNS]
            out = room[: len(rows) * len(columns)].view(len(rows), len(columns))
            torch.mm(rows, columns.T, out=out)


def _numpy(queries: Vectors, targets: Vectors) -> tuple[NDArray[np.int64], Vectors]:
    parts = [_numpy_part(queries[at : at + 1024], targets) for at in range(0, len(queries), 1024)]
    indices, scores = zip(*parts, strict=True)
    return np.concatenate(indices), np.concatenate(scores)


def _numpy_part(queries: Vectors, targets: Vectors) -> tuple[NDArray[np.int64], Vectors]:
    scores = queries @ targets.T
    best = np.argpartition(scores, -K, axis=1)[:, -K:]
    values = np.take_along_axis(scores, best, axis=1)
    order = np.lexsort((best, -values), axis=1)
    return np.take_along_axis(best, order, axis=1), np.take_along_axis(values, order, axis=1)


def _tied_places(ours: Any, other: Any) -> int:
    """In how many places ids differ: only where a score occurs twice, which promises no order."""
    (indices, scores), (other_indices, other_scores) = ours, other
    if not np.array_equal(scores, other_scores):
        raise BenchError("Scores differ.")
    differing = np.argwhere(indices != other_indices)
    for row, place in differing:
        if not _is_tie(scores[row], place):
            raise BenchError(f"Query {row} differs at {place}, without a tie.")
    tied = np.diff(scores, axis=1) == 0
    if not (np.diff(indices, axis=1)[tied] > 0).all():
        raise BenchError("Ties are not in the order of ids.")
    return len(differing)


def _is_tie(scores: NDArray[np.float32], place: int) -> bool:
    # The last place may be tied with one that was left out.
    neighbours = scores[max(place - 1, 0) : place + 2]
    return bool((neighbours == scores[place]).sum() > 1) or place == len(scores) - 1


def _share(times: dict[str, dict[str, float]]) -> dict[str, float]:
    alone = times["product alone (torch)"]
    return {unit: alone[unit] / times["ours"][unit] for unit in alone}


def _tell(options: argparse.Namespace, times: dict[str, dict[str, float]]) -> None:
    size = f"{options.queries:,} × {options.targets:,} × {options.dimension}"
    rows = [
        [
            name,
            *(f"{time[unit]:.2f}" for unit in ("seconds", "cpu_seconds")),
            *(f"{time[unit] / times['ours'][unit]:.2f}" for unit in ("seconds", "cpu_seconds")),
        ]
        for name, time in times.items()
    ]
    columns = ["", "seconds", "CPU seconds", "by ours, by the clock", "in CPU"]
    report.table(f"Top-{K} of {size}", columns, rows)
    share = _share(times)
    report.note(
        f"Ours reaches {share['seconds']:.0%} of the product's speed by the clock, "
        f"{share['cpu_seconds']:.0%} in CPU."
    )


def _in_a_process(queries: int, targets: int) -> dict[str, Any]:
    """Peak memory is that of one size alone."""
    command = [sys.executable, "-m", "bench", "search", "--only", f"{queries}x{targets}"]
    told = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    grown: dict[str, Any] = json.loads(told.splitlines()[-1])
    return grown


def _grown(queries: int, targets: int) -> dict[str, Any]:
    from workers import search

    asked, offered = made(queries, 512, seed=1), made(targets, 512, seed=2)
    # Making the vectors took more than holding them: the peak is counted from here.
    Path("/proc/self/clear_refs").write_text("5")
    before = machine.peak_memory_mb(os.getpid())
    _, time = timing.timed(lambda: search.top_k_both(asked, offered, K))
    after = machine.peak_memory_mb(os.getpid())
    return {"queries": queries, "targets": targets, "before_mb": before, "peak_mb": after, **time}


def _tell_growth(grown: list[dict[str, Any]]) -> float:
    rows = []
    for one in grown:
        pairs = one["queries"] * one["targets"]
        rows.append(
            [
                f"{one['queries']:,} × {one['targets']:,}",
                f"{one['seconds']:.1f}",
                f"{one['cpu_seconds']:.1f}",
                f"{one['cpu_seconds'] / pairs * 1e9:.1f}",
                f"{one['before_mb']:.0f}",
                f"{one['peak_mb'] - one['before_mb']:.0f}",
            ]
        )
    columns = ["", "seconds", "CPU seconds", "CPU ns a pair", "MB before", "MB more at most"]
    report.table(f"Top-{K} both ways from one product, 512 numbers a vector", columns, rows)
    last = grown[-1]
    hours = float(last["seconds"] / (last["queries"] * last["targets"]) * WHOLE_COCO / 3600)
    report.note(
        f"At that rate the {WHOLE_COCO / 1e9:.0f} billion pairs of COCO: {hours:.1f} hours."
    )
    return hours
