"""The importance that was released for the surveys' images, against what is computed here.

An entry of generated_COCO_survey_score.json has an image's COCO annotations, each with the released
I_P as its "weight". docs/importance.md says what comes out.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from hits import sampling
from hits.analysis.arrays import Floats, coded
from hits.analysis.captions import words_of
from hits.sampling.errors import CannotSample
from hits.sampling.importance import Object, closeness, heat_kernel, importance, surveyed
from hits.sampling.regions import polygons

COCO_WORDS = Path(sampling.__file__).with_name("coco_words.json")
# pygsp estimates the largest eigenvalue; the estimate moves the weights by no more than this.
AS_RELEASED = 0.001
Entry = Mapping[str, Any]


class ByTable(NamedTuple):
    """Images whose I_P is the released one, and the share of the released five objects found."""

    images: int
    as_released: int
    five_found: float


def furthest_from_any_typicality(entries: Iterable[Entry]) -> tuple[float, int]:
    """How far released weights are from H I_O for the typicality that suits them best, and in how
    many images this can be said: typicality is all that the file leaves open.
    """
    furthest, images = 0.0, 0
    for objects, weights in _outlined(entries):
        kinds, categories = coded([each["category_id"] for each in objects])
        if len(objects) < len(categories) + 3:
            continue
        areas = np.array([each["area"] for each in objects])
        by_area = np.zeros((len(objects), len(categories)))
        by_area[np.arange(len(objects)), kinds] = areas / np.bincount(kinds, weights=areas)[kinds]
        kernel = heat_kernel(closeness([polygons(each["segmentation"]) for each in objects]))
        warmed = kernel @ by_area
        typical = np.linalg.lstsq(warmed, weights, rcond=None)[0]
        furthest = max(furthest, float(np.abs(warmed @ typical - weights).max()))
        images += 1
    return furthest, images


def by_table(entries: Iterable[Entry], captions: Mapping[int, Sequence[str]]) -> ByTable:
    """Importance from the captions by the table of words for COCO's categories."""
    rows = json.loads(COCO_WORDS.read_text(encoding="utf-8"))
    names = {row["id"]: row["name"] for row in rows}
    table = {word: row["name"] for row in rows for word in row["words"]}
    as_released, found = 0, []
    for anns, weights in _outlined(entries):
        objects = [
            Object(
                each["id"],
                names[each["category_id"]],
                each["area"],
                polygons(each["segmentation"]),
            )
            for each in anns
        ]
        texts = captions[anns[0]["image_id"]]
        try:
            ours = importance([words_of(text) for text in texts], table, objects).spread
        except CannotSample:
            found.append(0.0)
            continue
        as_released += bool(np.abs(ours - weights).max() < AS_RELEASED)
        found.append(len(_five(objects, ours) & _five(objects, weights)) / 5)
    return ByTable(len(found), as_released, float(np.mean(found)) if found else 0.0)


def _outlined(entries: Iterable[Entry]) -> Iterator[tuple[list[Any], Floats]]:
    """Images all of whose objects have polygons (crowds have a mask), and have weights."""
    for entry in entries:
        weights = np.array([each["weight"] for each in entry["anns"]])
        outlined = all(isinstance(each["segmentation"], list) for each in entry["anns"])
        if outlined and np.isfinite(weights).all():
            yield entry["anns"], weights


def _five(objects: Sequence[Object], scores: Floats) -> set[int]:
    own = {each.id: score for each, score in zip(objects, scores.tolist(), strict=True)}
    return set(surveyed({0: own}).get(0, own))
