"""Retrieval: all metrics on full rankings of COCO's 5K set, against eccv_caption.Metrics."""

import argparse
import importlib.util
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from bench import report, timing
from bench.cluster import BenchError
from hits.analysis import rankings, retrieval
from hits.analysis.rankings import GroundTruth, Rankings

DIRECTIONS = {"i2t": "image_to_caption", "t2i": "caption_to_image"}
DATASETS = ("original", "cxc", "eccv")
CLOSE = 1e-12


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--seed", type=int, default=0)


def run(options: argparse.Namespace) -> dict[str, Any]:
    data = _data()
    ranked = _rankings(data, options.seed)
    ours, our_time = timing.best_of(3, lambda: _ours(data, ranked))
    lists = {way: _lists(each) for way, each in ranked.items()}
    theirs, their_time = timing.timed(lambda: _theirs(lists))
    furthest = max(abs(theirs[name] - value) for name, value in ours.items())
    if ours.keys() != theirs.keys() or furthest > CLOSE:
        raise BenchError(f"The metrics differ by {furthest}.")
    rows = [
        timing.row("ours, ground truth read from its files", our_time, our_time),
        timing.row("eccv_caption 0.1.0", their_time, our_time),
    ]
    title = f"{len(ours)} metrics on full rankings: COCO 1K and 5K, CxC, ECCV"
    report.table(title, timing.COLUMNS, rows)
    report.note(f"The largest difference between the two is {furthest:.1e}.")
    return {"ours": our_time, "eccv_caption": their_time, "largest_difference": furthest}


def _data() -> Path:
    package = importlib.util.find_spec("eccv_caption")
    if package is None or not package.submodule_search_locations:
        raise BenchError("eccv_caption is not installed.")
    return Path(package.submodule_search_locations[0]) / "data"


def _truth(data: Path, dataset: str, way: str) -> GroundTruth:
    return rankings.read_ground_truth(data / f"{dataset}_{DIRECTIONS[way]}.json")


def _rankings(data: Path, seed: int) -> dict[str, Rankings]:
    rng = np.random.default_rng(seed)
    images, captions = (_truth(data, "original", way).queries for way in DIRECTIONS)
    made = {}
    for way, queries, gallery in (("i2t", images, captions), ("t2i", captions, images)):
        items = np.empty((len(queries), len(gallery)), np.int32)
        for row in items:
            row[:] = gallery
            rng.shuffle(row)
        made[way] = Rankings(queries, items)
    return made


def _ours(data: Path, ranked: dict[str, Rankings]) -> dict[str, float]:
    captions = _truth(data, "original", "t2i")
    image_of = dict(zip(captions.queries.tolist(), captions.firsts.tolist(), strict=True))
    folds = retrieval.folds(np.load(data / "coco_test_ids.npy").tolist(), image_of)
    fold_of = {"i2t": (folds.images, folds.captions), "t2i": (folds.captions, folds.images)}
    found: dict[str, float] = {}
    for way, each in ranked.items():
        truths = {dataset: _truth(data, dataset, way) for dataset in DATASETS}
        for k, value in retrieval.fold_recalls(each, truths["original"], *fold_of[way]).items():
            found[f"coco_1k_r{k}_{way}"] = value
        for name, dataset in (("coco_5k", "original"), ("cxc", "cxc"), ("eccv", "eccv")):
            for k, values in retrieval.recalls(each, truths[dataset]).items():
                found[f"{name}_r{k}_{way}"] = float(values.mean())
        average = retrieval.average_precision_at_r(each, truths["eccv"])
        found[f"eccv_map_at_r_{way}"] = float(average.mean())
        precision = retrieval.r_precision(each, truths["eccv"])
        found[f"eccv_rprecision_{way}"] = float(precision.mean())
    return found


def _lists(ranked: Rankings) -> dict[int, list[int]]:
    """Lists of ints, as the reference wants them; each int is there once, to spare memory."""
    highest = int(ranked.items[0].max()) + 1
    table = np.empty(highest, object)
    table[:] = range(highest)
    return {
        query: table[row].tolist()
        for query, row in zip(ranked.queries.tolist(), ranked.items, strict=True)
    }


def _theirs(lists: dict[str, dict[int, list[int]]]) -> dict[str, float]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import eccv_caption
    metrics = eccv_caption.Metrics()
    found: dict[str, float] = {}
    for name in ("coco_1k", "coco_5k", "cxc", "eccv"):
        for k in retrieval.RECALLS:
            for way, value in getattr(metrics, f"{name}_recalls")(lists, "all", K=k).items():
                found[f"{name}_r{k}_{way}"] = float(value)
    graded = metrics.eccv_metrics(lists, "all")
    for name in ("eccv_map_at_r", "eccv_rprecision"):
        for way, value in graded[name].items():
            found[f"{name}_{way}"] = float(value)
    return found
