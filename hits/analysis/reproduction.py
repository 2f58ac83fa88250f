"""Published figures, computed anew: from the papers' printed tables (published/*.json), from the
installed eccv_caption package, and from released files in a folder.
"""

import csv
import importlib.util
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from hits.analysis.agreement import rated_both_ways
from hits.analysis.arrays import Floats, coded
from hits.analysis.bias import bias
from hits.analysis.comparisons import fit_wins
from hits.analysis.correlation import correlation_table
from hits.analysis.positives import conversions, number_of_pairs, turned
from hits.analysis.rankings import ground_truth, rankings_from_layout, read_layout
from hits.analysis.released_importance import (
    AS_RELEASED,
    by_table,
    furthest_from_any_typicality,
)
from hits.analysis.retrieval import average_precision_at_r
from hits.analysis.surveys import per_image_tau
from hits.analysis.workers import Band
from hits.sampling.rankings import five_rankings

PUBLISHED = Path(__file__).with_name("published")


@dataclass(frozen=True)
class Row:
    """A figure as it was published and as it is computed.

    `matches` is None where a file is wanted. `holds` is False where it is known, and shown in
    docs/reproduction.md, that the publication is at odds with its own data.
    """

    figure: str
    published: str
    computed: str
    matches: bool | None
    holds: bool = True

    @property
    def is_as_expected(self) -> bool:
        return self.matches is None or self.matches == self.holds


class FileWanted(Exception):
    """A row needs a released file that is not there; the message says which."""


@dataclass(frozen=True)
class Released:
    """Files that were released with the papers, anywhere below one folder."""

    folder: Path | None

    def find(self, name: str, origin: str) -> Path:
        found = sorted(self.folder.rglob(name)) if self.folder else []
        if not found:
            raise FileWanted(f"{name}, from {origin}")
        return found[0]

    def eccv_caption(self, name: str) -> Path:
        package = importlib.util.find_spec("eccv_caption")
        if package is None or not package.submodule_search_locations:
            raise FileWanted("the Python package eccv_caption 0.1.0")
        return Path(package.submodule_search_locations[0]) / "data" / name


Rows = Callable[[Released], Iterator[Row]]
# What reading raises where a file of that name holds something else.
UNREADABLE = (ValueError, LookupError, TypeError, AttributeError, EOFError, OSError)


def reproduce(released: Released) -> list[Row]:
    """All rows, with those among them whose files are missing or are not what they should be."""
    rows: list[Row] = []
    for figure, compute in FIGURES.items():
        try:
            rows += compute(released)
        except FileWanted as wanted:
            rows.append(Row(figure, "", f"wants {wanted}", None))
        except UNREADABLE as fault:
            told = f"cannot be read: {type(fault).__name__}, {str(fault)[:100]}"
            rows.append(Row(figure, "", told, False))
    return rows


def published(paper: str) -> Any:
    return json.loads((PUBLISHED / f"{paper}.json").read_text(encoding="utf-8"))


def _number(figure: str, said: float, found: float, digits: int) -> Row:
    return Row(
        figure,
        f"{said:.{digits}f}",
        f"{found:.{digits}f}",
        f"{found:.{digits}f}" == f"{said:.{digits}f}",
    )


def _count(figure: str, said: int, found: int, *, holds: bool = True) -> Row:
    return Row(figure, f"{said:,}", f"{found:,}", said == found, holds)


def _preferences(_released: Released) -> Iterator[Row]:
    """Scores match as a list; which system each belongs to is another matter."""
    table = published("eccv_caption")["table D.1"]
    wins = np.array(table["preferred"], np.float64)
    model = fit_wins(table["systems"], wins)
    by_score = sorted(zip(model.scores, model.names, strict=True), reverse=True)
    said = sorted(table["scores"].values(), reverse=True)
    for (score, name), value in zip(by_score, said, strict=True):
        yield _number(f"ECCV Table D.1, Bradley–Terry score of printed row {name}", value, score, 2)
    system_c = row_of_system_c(model.names, wins)
    yield Row(
        "ECCV Table D.1, the row with 296 answers a pair, which is system C",
        "printed row C",
        f"printed row {system_c}",
        system_c == "C",
        holds=False,
    )
    place = [name for _, name in by_score].index(system_c)
    yield Row(
        "ECCV §4.1, preference follows mAP@R: place of system C",
        "third",
        ("first", "second", "third", "fourth", "fifth")[place],
        place == 2,
        holds=False,
    )


def row_of_system_c(names: Sequence[str], wins: Floats) -> str:
    """Answers with five positives were moved from system C to E, and E–E counts them: the row
    whose every pair lacks as many as that. Printed last, E is the only row with a diagonal."""
    asked = wins + wins.T
    moved = wins[-1, -1]
    usual = np.median(asked[np.triu_indices(len(names), 1)])
    lacking = (asked == usual - moved).sum(axis=1) == len(names) - 1
    return ", ".join(name for name, lacks in zip(names, lacking, strict=True) if lacks)


def _map_at_r(_released: Released) -> Iterator[Row]:
    said = published("eccv_caption")["mAP@R of 8 positives"]
    truth = ground_truth({0: range(8)})
    for name, ranked in five_rankings(range(8), range(8, 16)).items():
        found = average_precision_at_r(rankings_from_layout({0: ranked}), truth)
        yield _number(f"ECCV §4.1, mAP@R of system {name}", said[name], 100 * found[0], 1)


def _positives(released: Released) -> Iterator[Row]:
    table = published("eccv_caption")["table 3"]
    directions = ("caption_to_image", "image_to_caption")
    queries = {way: read_layout(released.eccv_caption(f"eccv_{way}.json")) for way in directions}
    for dataset, said in table.items():
        for way, value in zip(directions, said, strict=True):
            positives = read_layout(released.eccv_caption(f"{dataset}_{way}.json"))
            what = "images" if way == "caption_to_image" else "captions"
            found = number_of_pairs(positives, queries[way])
            yield _count(f"ECCV Table 3, positive {what} of {dataset}", value, found)


def _rank_correlations(_released: Released) -> Iterator[Row]:
    eccv = published("eccv_caption")
    values = np.array(list(eccv["table 4"]["models"].values()))
    columns = dict(zip(eccv["table 4"]["columns"], values.T.tolist(), strict=True))
    found = correlation_table(columns)
    for one, two, said in eccv["table 5"]:
        tau = found[(one, two)] if (one, two) in found else found[(two, one)]
        yield Row(
            f"ECCV Table 5, {one} and {two}",
            f"{said:.2f}",
            f"{tau:.3f}",
            bool(abs(tau - said) < WITHIN),
        )


WITHIN = 0.01


def _bias(_released: Released) -> Iterator[Row]:
    eccv = published("eccv_caption")
    scores = eccv["table E.1a"]["scores"]
    alone = eccv["table E.1a"]["machines"].index("PVSE")
    found = bias(
        {machine: row[alone] for machine, row in scores.items()},
        {machine: row[-1] for machine, row in scores.items()},
        ["PVSE"],
    )
    values = (found.bias, found.self_bias, found.non_self_bias)
    for (name, said), value in zip(eccv["equation E.6"].items(), values, strict=True):
        assert value is not None
        yield _number(f"ECCV Eq. E.6, {name} of PVSE", said, value, 1)


def _workers(_released: Released) -> Iterator[Row]:
    eccv = published("eccv_caption")
    bands = [(Band(*row[:4]), row[4]) for row in eccv["table B.1"]]
    for band, said in bands:
        assert band.percent is not None
        yield _number(f"ECCV Table B.1, approved % at {band.label} HITs", said, band.percent, 1)
    approved = sum(band.approved for band, _ in bands)
    yield _count(
        "ECCV Table B.1, approved HITs in all", eccv["approved HITs"], approved, holds=False
    )


CXC = "google-research-datasets/Crisscrossed-Captions"


def _ratings(path: Path) -> tuple[list[dict[str, str]], list[str]]:
    with path.open(newline="", encoding="utf-8") as lines:
        reader = csv.DictReader(lines)
        return list(reader), list(reader.fieldnames or [])


def _similarity(task: str) -> Rows:
    def rows_of(released: Released) -> Iterator[Row]:
        said = published("crisscrossed_captions")
        rows, columns = _ratings(released.find(f"{task}_val.csv", CXC))
        yield _count(
            f"CxC validation, {task.upper()} pairs", said["validation pairs"][task], len(rows)
        )
        scores = np.array([float(row["agg_score"]) for row in rows])
        methods = np.array([row["sampling_method"] for row in rows])
        if task == "sits":
            original = float(scores[methods == "c2i_original"].mean())
            yield _number(
                "CxC, mean of original pairs", said["mean of original pairs"], original, 2
            )
        if task == "sts":
            together = float(scores[methods == "c2c_cocaption"].mean())
            yield _number("CxC, mean of co-captions", said["mean of co-captions"], together, 2)
        if task == "sis":
            images, _ = coded([row[column] for column in columns[:2] for row in rows])
            retest = rated_both_ways(images[: len(rows)], images[len(rows) :], scores)
            pairs = said["image pairs rated both ways"]
            yield _count("CxC, image pairs rated both ways", pairs, retest.pairs)
            apart = retest.mean_absolute_difference
            yield _number("CxC, their mean difference", said["mean difference"], apart, 2)

    return rows_of


def _cxc_in_eccv_caption(released: Released) -> Iterator[Row]:
    said = published("crisscrossed_captions")["positives in the test split"]
    of_images = read_layout(released.eccv_caption("cxc_image_to_caption.json"))
    of_captions = read_layout(released.eccv_caption("cxc_caption_to_image.json"))
    pairs = number_of_pairs(of_images, of_images)
    yield _count("CxC positives in eccv_caption, image to caption", said, pairs)
    same = turned(of_images) == {query: set(items) for query, items in of_captions.items()}
    yield Row(
        "CxC positives in eccv_caption, both ways",
        "identical",
        "identical" if same else "differ",
        same,
    )


def _cxc_test(released: Released) -> Iterator[Row]:
    rows, _ = _ratings(released.find("sits_test.csv", CXC))
    of_captions = read_layout(released.eccv_caption("cxc_caption_to_image.json"))
    listed = {(caption, image) for caption, images in of_captions.items() for image in images}
    rated = {
        (int(row["caption"].rsplit(":", 1)[1]), int(row["image"].rsplit("_", 1)[1].split(".")[0]))
        for row in rows
        if float(row["agg_score"]) >= 3
    }
    same = rated == listed
    told = "identical" if same else f"{len(rated ^ listed):,} pairs differ"
    yield Row("CxC SITS test pairs rated 3 or more, and eccv_caption's", "identical", told, same)


def _bison(_released: Released) -> Iterator[Row]:
    bison = published("bison")
    audit = bison["table 1"]
    found = conversions([audit["errors"], audit["correct"]])[0].percent
    yield _number("BISON Table 1, errors that are right, %", audit["percent"], found, 1)
    stages = conversions(bison["conversion"]["counts"])
    for stage, (said, each) in enumerate(
        zip(bison["conversion"]["percent"], stages, strict=True), 2
    ):
        figure = f"BISON App. A, stage {stage}: {each.entered:,} to {each.left:,}, %"
        yield _number(figure, said, each.percent, 2)


VL = "JoshuaFeinglass/VL-detector-eval"


def _surveys(released: Released) -> Iterator[Row]:
    said = published("vl_detectors")
    answers = json.loads(released.find("AMT_responses.json", VL).read_text(encoding="utf-8"))
    ratings = {
        survey: {
            row["image_id"]: [int(digit) for digit in row["description"]] for row in answers[survey]
        }
        for survey in ("Prominence", "Caption")
    }
    found = per_image_tau(ratings["Prominence"], ratings["Caption"])
    yield _number(
        "VL surveys 1 and 2, mean tau-b", said["tau-b between surveys 1 and 2"], found.mean, 2
    )
    images = len(found.images) + len(found.without)
    yield _count("VL surveys 1 and 2, images in both", said["images in both surveys"], images)
    yield _count(
        "VL surveys 1 and 2, images without tau-b", said["images without tau-b"], len(found.without)
    )
    responses = sum(map(len, answers.values()))
    yield _count("VL surveys, responses released", said["responses"], responses, holds=False)


def _released_importance(released: Released) -> Iterator[Row]:
    path = released.find("generated_COCO_survey_score.json", VL)
    furthest, images = furthest_from_any_typicality(json.loads(path.read_text(encoding="utf-8")))
    yield Row(
        f"VL Eq. 8–10, released I_P of {images} images, largest difference",
        "as released",
        f"{furthest:.4f}",
        furthest < AS_RELEASED and images > 0,
    )


def _importance_by_words(released: Released) -> Iterator[Row]:
    """The paper's words become categories by vectors and a parser, ours by a table."""
    scored = released.find("generated_COCO_survey_score.json", VL)
    described = json.loads(released.find("captions_val2017.json", "COCO").read_text("utf-8"))
    captions: dict[int, list[str]] = {}
    for each in described["annotations"]:
        captions.setdefault(each["image_id"], []).append(each["caption"])
    found = by_table(json.loads(scored.read_text(encoding="utf-8")), captions)
    yield _count(
        "VL Eq. 7–10 by a table of words, images with the released I_P",
        found.images,
        found.as_released,
        holds=False,
    )
    yield Row(
        "VL Eq. 7–10 by a table of words, released five objects found",
        "100%",
        f"{found.five_found:.0%}",
        found.five_found == 1,
        holds=False,
    )


FG = "cwj1412/MSCOCO-Flikcr30K_FG"


def _pool(name: str) -> Rows:
    def rows_of(released: Released) -> Iterator[Row]:
        said = published("mscoco_fg")["image pools"][name]
        path = released.find(f"{name}_FG_img_filenames.npy", FG)
        try:
            names = np.load(path, allow_pickle=False)
        except ValueError:
            raise FileWanted(
                f"{path.name} as plain text: what is there would have to be unpickled"
            ) from None
        yield _count(f"MSCOCO-FG Table 2, pool of {name}", said, len(np.unique(names)))

    return rows_of


FIGURES: dict[str, Rows] = {
    "ECCV Table D.1": _preferences,
    "ECCV §4.1, mAP@R": _map_at_r,
    "ECCV Table 3": _positives,
    "ECCV Table 5": _rank_correlations,
    "ECCV Eq. E.6": _bias,
    "ECCV Table B.1": _workers,
    "CxC validation, STS pairs": _similarity("sts"),
    "CxC validation, SIS pairs": _similarity("sis"),
    "CxC validation, SITS pairs": _similarity("sits"),
    "CxC positives in eccv_caption": _cxc_in_eccv_caption,
    "CxC SITS test pairs rated 3 or more, and eccv_caption's": _cxc_test,
    "BISON": _bison,
    "VL surveys 1 and 2": _surveys,
    "VL Eq. 8–10": _released_importance,
    "VL Eq. 7–10 by a table of words": _importance_by_words,
    "MSCOCO-FG Table 2, pool of MSCOCO": _pool("MSCOCO"),
    "MSCOCO-FG Table 2, pool of Flickr30K": _pool("Flickr30K"),
}
