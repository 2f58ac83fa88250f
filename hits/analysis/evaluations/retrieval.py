"""Rankings of a model against a ground truth."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from statistics import fmean

import numpy as np

from hits.analysis import retrieval
from hits.analysis.arrays import Floats, Ints, coded
from hits.analysis.errors import AnalysisError, DegenerateInput
from hits.analysis.evaluations.contract import Given
from hits.analysis.heeding import Heed
from hits.analysis.positives import turned
from hits.analysis.rankings import (
    GroundTruth,
    Rankings,
    ground_truth,
    layout_of,
    rankings_from_array,
    rankings_from_layout,
    rankings_from_scores,
)
from hits.analysis.tables.intervals import HIGH, LOW, share_with_interval
from hits.records import Cell, Chart, Column, Table

DIRECTIONS = {"image_to_text": "Image to text", "text_to_image": "Text to image"}
ROWS_OF = {"image_to_text": "images", "text_to_image": "captions"}
COLUMNS_OF = {"image_to_text": "captions", "text_to_image": "images"}
Metric = Callable[[Rankings, GroundTruth], Floats]
SHARES: Mapping[str, Metric] = {
    **{f"R@{k}": partial(retrieval.recall, k=k) for k in retrieval.RECALLS},
    "R-Precision": retrieval.r_precision,
    "mAP@R": retrieval.average_precision_at_r,
}


@dataclass
class _Direction:
    """One direction's rankings with its truth; each value a query, or why there is none."""

    title: str
    rankings: Rankings
    truth: GroundTruth
    values: dict[str, Floats] = field(default_factory=dict)
    why: dict[str, str] = field(default_factory=dict)

    def compute(self, name: str, metric: Metric) -> None:
        try:
            self.values[name] = metric(self.rankings, self.truth)
        except AnalysisError as error:
            self.why[name] = str(error)

    def mean(self, name: str) -> float | None:
        return float(self.values[name].mean()) if name in self.values else None


def evaluate(given: Given) -> list[Table]:
    ids = _ids(given)
    directions = {
        way: _Direction(title, _rankings(given, way, ids), _truth(given, way))
        for way, title in DIRECTIONS.items()
        if given.has(way) or given.has("scores")
        if given.has(f"{way}_truth") or given.has(way)
    }
    if not directions:
        raise DegenerateInput(
            "Give the rankings of a direction or a matrix of scores, and its ground truth."
        )
    asked: dict[str, Metric] = {**SHARES, "Median rank": partial(_first_ranks, heed=given.heed)}
    for each in directions.values():
        for name, metric in asked.items():
            given.heed()
            each.compute(name, metric)
        if not each.values:
            raise DegenerateInput(f"{each.title}: {next(iter(each.why.values()))}")
    return [
        _metrics(directions, _plausible(given, directions)),
        _intervals(directions, _image_of(given) if given.has("originals") else {}),
        _recalls(given, directions),
    ]


def _first_ranks(rankings: Rankings, truth: GroundTruth, *, heed: Heed) -> Floats:
    return retrieval.first_ranks(rankings, truth, heed=heed).astype(np.float64)


def _ids(given: Given) -> Mapping[str, Ints] | None:
    if not given.has("ids"):
        return None
    read = given.files["ids"]
    wanted = {"images", "captions"}
    if not isinstance(read, dict) or not wanted <= read.keys():
        raise DegenerateInput('ids is not {"images": [ids], "captions": [ids]}.')
    lists = layout_of({place: read[name] for place, name in enumerate(sorted(wanted))}, "ids")
    found = {name: np.array(lists[place], np.int64) for place, name in enumerate(sorted(wanted))}
    for name, own in found.items():
        if len(np.unique(own)) < len(own):
            raise DegenerateInput(f"ids names some of its {name} twice.")
    return found


def _truth(given: Given, way: str) -> GroundTruth:
    name = f"{way}_truth"
    if not given.has(name):
        raise DegenerateInput(f"{DIRECTIONS[way]}: there are rankings, but no ground truth.")
    return ground_truth(layout_of(given.files[name], name))


def _rankings(given: Given, way: str, ids: Mapping[str, Ints] | None) -> Rankings:
    if given.has(way):
        read = given.files[way]
        if isinstance(read, np.ndarray):
            queries = ids[ROWS_OF[way]] if ids else _truth(given, way).queries
            gallery = ids[COLUMNS_OF[way]] if ids else None
            return rankings_from_array(read, queries, gallery, heed=given.heed)
        layout = layout_of(read, way)
        if any(len(set(items)) < len(items) for items in layout.values()):
            raise DegenerateInput(f"{way}: a ranking names an item twice.")
        return rankings_from_layout(layout)
    if ids is None:
        raise DegenerateInput("A matrix of scores needs the ids of its rows and columns.")
    scores = given.files["scores"]
    turned_round = scores if way == "image_to_text" else scores.T
    return rankings_from_scores(
        turned_round, ids[ROWS_OF[way]], ids[COLUMNS_OF[way]], heed=given.heed
    )


def _metrics(
    directions: Mapping[str, _Direction], plausible: Mapping[str, float | str | None]
) -> Table:
    columns = [Column("Direction"), Column("Queries", "count")]
    columns += [Column(name, "share") for name in SHARES]
    columns += [Column("PMRP", "share"), Column("Median rank", "number")]
    rows: list[list[Cell]] = []
    remarks = []
    for way, each in directions.items():
        found = plausible[way]
        middle = each.values.get("Median rank")
        rows.append(
            [
                each.title,
                len(each.truth.queries),
                *(each.mean(name) for name in SHARES),
                None if isinstance(found, str) else found,
                None if middle is None else float(np.median(middle)),
            ]
        )
        remarks += [f"{each.title}, {name}: {why}" for name, why in each.why.items()]
        remarks += [f"{each.title}, PMRP: {found}"] if isinstance(found, str) else []
    note = " ".join(["Means over the queries of the ground truth.", *remarks])
    chart = Chart(
        "bars",
        (0,),
        tuple(range(2, 2 + len(SHARES))),
        "Direction",
        "Mean over queries",
        " and ".join(f"{len(each.truth.queries):,} queries" for each in directions.values()),
    )
    return Table("retrieval", "Retrieval metrics", note, columns, rows, chart=chart)


def _plausible(given: Given, directions: Mapping[str, _Direction]) -> dict[str, float | str | None]:
    """PMRP of each direction (ζ = 0, R cut at 50); None where it was not asked for."""
    if not given.has("classes"):
        return dict.fromkeys(directions)
    if not given.has("originals"):
        raise DegenerateInput("PMRP needs the original pairs beside the object classes.")
    listed = layout_of(given.files["classes"], "classes")
    images = {image: frozenset(own) for image, own in listed.items()}
    captions = {}
    for caption, image in _image_of(given).items():
        if image not in images:
            raise DegenerateInput(f"classes has nothing on image {image}.")
        captions[caption] = images[image]
    ends = {"image_to_text": (images, captions), "text_to_image": (captions, images)}
    found: dict[str, float | str | None] = {}
    for way, each in directions.items():
        try:
            truth = retrieval.plausible_match_truth(*ends[way], 0, heed=given.heed)
            found[way] = retrieval.pmrp(each.rankings, [truth])
        except AnalysisError as error:
            found[way] = str(error)
    return found


def _image_of(given: Given) -> dict[int, int]:
    listed = layout_of(given.files["originals"], "originals")
    if any(len(images) != 1 for images in listed.values()):
        raise DegenerateInput("originals has a caption that is not of one image.")
    return {caption: images[0] for caption, images in listed.items()}


def _intervals(directions: Mapping[str, _Direction], image_of: Mapping[int, int]) -> Table:
    """Captions of one image are no more independent than the answers of one person."""
    rows: list[list[Cell]] = []
    remark, together = "", False
    for way, each in directions.items():
        units = _images_of(each.truth.queries, image_of) if way == "text_to_image" else None
        together |= units is not None
        for name in SHARES:
            if name in each.values:
                share, ends, remark = share_with_interval(each.values[name], units=units)
                rows.append([each.title, name, share, *ends, len(each.values[name])])
    columns = [
        Column("Direction"),
        Column("Metric"),
        Column("Value", "share"),
        Column(LOW, "share"),
        Column(HIGH, "share"),
        Column("Queries", "count"),
    ]
    why = "" if rows else "No metric could be computed."
    note = remark.replace("units", "images, captions with theirs" if together else "queries")
    return Table("intervals", "Intervals", note, columns, rows, why)


def _images_of(captions: Ints, image_of: Mapping[int, int]) -> Ints | None:
    """Codes of the captions' images; None where they are not told of all."""
    images = [image_of.get(caption) for caption in captions.tolist()]
    return None if None in images else coded(images)[0]


def _recalls(given: Given, directions: Mapping[str, _Direction]) -> Table:
    """R@K and RSUM over all items, and over folds of the original pairs."""
    lines: dict[str, dict[str, dict[int, float]]] = {}
    plain = {
        way: {k: fmean(each.values[f"R@{k}"]) for k in retrieval.RECALLS}
        for way, each in directions.items()
        if all(f"R@{k}" in each.values for k in retrieval.RECALLS)
    }
    if plain:
        lines["All items"] = plain
    if given.has("originals"):
        number = int(given.settings["folds"])
        lines[f"Mean of {number} folds"] = _fold_recalls(given, directions, number)
    names = [f"{end} R@{k}" for end in ("To text", "To image") for k in retrieval.RECALLS]
    columns = [Column("Set"), *(Column(name, "share") for name in names), Column("RSUM", "number")]
    rows: list[list[Cell]] = []
    for name, found in lines.items():
        cells = [found.get(way, {}).get(k) for way in DIRECTIONS for k in retrieval.RECALLS]
        rows.append([name, *cells, retrieval.rsum(*found.values()) if len(found) == 2 else None])
    note = "RSUM is the sum of all six, in percent. Folds count the original pairs alone."
    return Table("recalls", "Recalls and RSUM", note, columns, rows, "" if rows else "No R@K.")


def _fold_recalls(
    given: Given, directions: Mapping[str, _Direction], number: int
) -> dict[str, dict[int, float]]:
    image_of = _image_of(given)
    made = retrieval.folds(list(image_of), image_of, number)
    pairs = {caption: [image] for caption, image in image_of.items()}
    both = {
        "image_to_text": (
            {i: sorted(c) for i, c in turned(pairs).items()},
            made.images,
            made.captions,
        ),
        "text_to_image": (pairs, made.captions, made.images),
    }
    found = {}
    for way, each in directions.items():
        layout, queries, items = both[way]
        found[way] = retrieval.fold_recalls(
            each.rankings, ground_truth(layout), queries, items, heed=given.heed
        )
    return found
