"""Importance of objects, and detections, against what people said."""

from collections.abc import Mapping, Sequence
from typing import Any

from hits.analysis.arrays import Floats
from hits.analysis.detection import METRICS, Annotation, Detection, Detections
from hits.analysis.errors import AnalysisError, DegenerateInput
from hits.analysis.evaluations.contract import Given, entries_of, items_of, number_of, text_of
from hits.analysis.surveys import (
    agreement_with_people,
    at_frequencies_of,
    majority_of_votes,
    per_image_tau,
)
from hits.analysis.tables.intervals import HIGH, LOW, share_with_interval
from hits.analysis.tables.rated import tau_row, tau_table
from hits.records import Cell, Chart, Column, Table

Entries = Sequence[Mapping[str, Any]]
RATINGS = frozenset("123")
SIDES = frozenset("12")
MOST_THRESHOLDS = 20
PEOPLE = "Agreement with people"
NO_MAJORITY = "On no image did more people choose one system than the other."


def _entries(given: Given, name: str, part: str) -> Entries:
    """A list of entries, or that part of the AMT layout; the only one if it is another."""
    read = given.files[name]
    if isinstance(read, dict):
        read = read.get(part) or (next(iter(read.values())) if len(read) == 1 else None)
    return entries_of(read, name, "image_id")


def evaluate_surveys(given: Given) -> list[Table]:
    survey = _ratings(given, "survey", "Prominence")
    rows = []
    if given.has("other"):
        other = _ratings(given, "other", "Caption")
        rows.append(tau_row("The other survey", per_image_tau(survey, other)))
    if given.has("scores"):
        for scorer, by_image in items_of(given.files["scores"], "scores"):
            given.heed()
            scores = {
                str(image): [number_of(each, f"scores, {scorer}, {image}") for each in own]
                for image, own in items_of(by_image, f"scores, {scorer}")
                if isinstance(own, list)
            }
            asked = {image: own for image, own in scores.items() if image in survey}
            rows.append(tau_row(scorer, per_image_tau(at_frequencies_of(asked, survey), survey)))
    if not rows:
        raise DegenerateInput("Give another survey, or scores, to compare the survey with.")
    return [tau_table(rows)]


def _ratings(given: Given, name: str, part: str) -> dict[str, list[float]]:
    keys = _keys(given, f"{name}_keys", part) if given.has(f"{name}_keys") else None
    found: dict[str, list[float]] = {}
    for place, entry in enumerate(_entries(given, name, part)):
        image, digits = str(entry["image_id"]), entry.get("description")
        if not isinstance(digits, str) or not digits or set(digits) - RATINGS:
            raise DegenerateInput(f"{name}: image {image[:40]} has no ratings such as 32112.")
        if image in found:
            raise DegenerateInput(f"{name}: image {image[:40]} is rated twice.")
        order = range(len(digits)) if keys is None else _object_order(keys, place, digits, image)
        found[image] = [float(digits[letter]) for letter in order]
    return found


def _keys(given: Given, name: str, part: str) -> Entries:
    return _entries(given, name, part)


def _object_order(keys: Entries, place: int, digits: str, image: str) -> list[int]:
    """The letters in the order of the ids of their objects."""
    key = keys[place] if place < len(keys) else {}
    letters = sorted(key.keys() - {"image_id"})
    if str(key.get("image_id")) != image or len(letters) != len(digits):
        raise DegenerateInput(f"The keys do not fit the survey at image {image[:40]}.")
    ids = [_object_id(key[letter]) for letter in letters]
    return sorted(range(len(ids)), key=lambda letter: ids[letter])


def _object_id(value: object) -> str:
    return str(value["id"] if isinstance(value, dict) and "id" in value else value)


def evaluate_detection(given: Given) -> list[Table]:
    truth = [_annotation(each) for each in given.entries("annotations", *BOX)]
    systems = {
        name: [_detection(each, name) for each in given.entries(name, *BOX, "score")]
        for name in ("first", "second")
    }
    thresholds = _thresholds(str(given.settings["thresholds"]))
    chosen = _chosen(given) if given.has("choices") else {}
    overall: list[list[Cell]] = []
    agreed: list[list[Cell]] = []
    ends: list[list[Cell]] = []
    for threshold in thresholds:
        given.heed()
        try:
            matched = {
                name: Detections(truth, found, threshold=threshold)
                for name, found in systems.items()
            }
        except AnalysisError as error:
            raise DegenerateInput(f"Importance more than {threshold:g}: {error}") from error
        for name, each in matched.items():
            label = "System 1" if name == "first" else "System 2"
            overall.append([label, threshold, len(each.images), *each.metrics().values()])
        if chosen:
            shares = _agreement(matched, chosen)
            images = len(next(iter(shares.values())))
            agreed.append([threshold, images, *(float(each.mean()) for each in shares.values())])
            ends += [_interval(threshold, *each) for each in shares.items()]
    tables = [_metrics_table(overall)]
    if not given.has("choices"):
        return tables
    if not chosen:
        return [*tables, Table("people", PEOPLE, why=NO_MAJORITY)]
    return [*tables, _people_table(agreed), _interval_table(ends)]


BOX = ("image_id", "category_id", "bbox")


def _box(entry: Mapping[str, Any], name: str) -> dict[str, Any]:
    bbox = entry["bbox"]
    if not isinstance(bbox, list) or len(bbox) != 4:
        raise DegenerateInput(f"{name}: a bbox is [left, top, width, height].")
    box = tuple(number_of(each, f"{name}, bbox") for each in bbox)
    if min(box[2:]) < 0:
        raise DegenerateInput(f"{name}: a bbox has a negative width or height.")
    image, category = (number_of(entry[key], f"{name}, {key}") for key in BOX[:2])
    return {
        "image": int(image),
        "category": int(category),
        "box": box,
    }


def _annotation(entry: Mapping[str, Any]) -> Annotation:
    importance = number_of(entry.get("importance", 1.0), "annotations, importance")
    return Annotation(**_box(entry, "annotations"), importance=importance)


def _detection(entry: Mapping[str, Any], name: str) -> Detection:
    return Detection(**_box(entry, name), score=number_of(entry["score"], f"{name}, score"))


def _thresholds(text: str) -> list[float]:
    found = [number_of(part.strip(), "Thresholds") for part in text.split(",") if part.strip()]
    if not 0 < len(found) <= MOST_THRESHOLDS:
        raise DegenerateInput(f"Give one to {MOST_THRESHOLDS} thresholds.")
    return found


def _chosen(given: Given) -> dict[str, str]:
    """The system that most people chose, "1" or "2", by image."""
    keys = _entries(given, "keys", "Comparison") if given.has("keys") else None
    names = {
        str(given.settings["first_name"]): "1",
        str(given.settings["second_name"]): "2",
    }
    votes: dict[str, list[str]] = {}
    for place, entry in enumerate(_entries(given, "choices", "Comparison")):
        side = text_of(entry.get("description", ""), "choices, description")
        if side not in SIDES:
            raise DegenerateInput('choices: a description is "1" or "2".')
        if keys is not None:
            key = keys[place] if place < len(keys) else {}
            system = str(key.get(side))
            if str(key.get("image_id")) != str(entry["image_id"]) or system not in names:
                raise DegenerateInput(
                    f"The keys do not fit at entry {place + 1}: say what the systems are called."
                )
            side = names[system]
        votes.setdefault(str(entry["image_id"]), []).append(side)
    return majority_of_votes(votes)


def _agreement(matched: Mapping[str, Detections], chosen: Mapping[str, str]) -> dict[str, Floats]:
    """Of each metric, on which images it prefers what people chose."""
    by_image = {
        name: each.by_image(lambda image: str(image) in chosen) for name, each in matched.items()
    }
    found = {}
    for metric in METRICS:
        first, second = (
            {str(image): metrics[metric] for image, metrics in by_image[name].items()}
            for name in ("first", "second")
        )
        found[metric] = agreement_with_people(chosen, first, second)[0]
    return found


def _interval(threshold: float, metric: str, values: Floats) -> list[Cell]:
    share, ends, _ = share_with_interval(values)
    return [threshold, metric, share, *ends, len(values)]


def _interval_table(rows: Sequence[Sequence[Cell]]) -> Table:
    columns = [
        Column("Importance over", "number"),
        Column("Metric"),
        Column("Agreement", "share"),
        Column(LOW, "share"),
        Column(HIGH, "share"),
        Column("Images", "count"),
    ]
    note = "The same with intervals, which resample images. One image has none."
    return Table("intervals", "Intervals of the agreement", note, columns, rows)


def _metrics_table(rows: Sequence[Sequence[Cell]]) -> Table:
    columns = [
        Column("System"),
        Column("Importance over", "number"),
        Column("Images", "count"),
        *(Column(name, "share") for name in METRICS),
    ]
    note = "Over all images that keep an object. mAR1_50: mAR¹ at an IOU of 0.5; F1 with mAP50."
    return Table("detection", "Detection metrics", note, columns, rows)


def _people_table(rows: Sequence[Sequence[Cell]]) -> Table:
    columns = [
        Column("Importance over", "number"),
        Column("Images", "count"),
        *(Column(name, "share") for name in METRICS),
    ]
    note = (
        "The share of images on which a metric prefers the system that most people chose; "
        "undecided counts half. Images without a majority are left out."
    )
    places = tuple(range(2, 2 + len(METRICS)))
    chart = Chart(
        "lines", (0,), places, "Importance over", "Agreement with people",
        f"{rows[0][1]:,} images at the first threshold",
    )  # fmt: skip
    return Table("people", PEOPLE, note, columns, rows, chart=chart)
