"""Positive sets, BISON's predictions, right and wrong texts, and texts before and after."""

from collections.abc import Mapping, Sequence
from typing import Any

from hits.analysis.arrays import Floats
from hits.analysis.captions import forced_choice, text_statistics
from hits.analysis.errors import DegenerateInput
from hits.analysis.evaluations.contract import Given, entries_of, items_of, number_of, text_of
from hits.analysis.positives import precision_and_recall, predictions_changed
from hits.analysis.rankings import layout_of
from hits.analysis.retrieval import bison_accuracy
from hits.analysis.tables.intervals import HIGH, LOW, share_with_interval
from hits.analysis.tables.texts import statistics_table
from hits.records import Cell, Column, Table

WITH_ENDS = (Column("Value", "share"), Column(LOW, "share"), Column(HIGH, "share"))


def _line(name: str, values: Floats, what: str) -> tuple[list[Cell], str]:
    share, ends, remark = share_with_interval(values)
    return [name, share, *ends, len(values)], remark.replace("units", what)


def evaluate_positives(given: Given) -> list[Table]:
    sets = {
        name: {
            query: frozenset(items) for query, items in layout_of(given.files[name], name).items()
        }
        for name in ("dataset", "people", "verified")
    }
    found = precision_and_recall(sets["dataset"], sets["people"], sets["verified"])
    precision, remark = _line("Precision", found.precision, "queries")
    recall, _ = _line("Recall", found.recall, "queries")
    columns = [Column("Figure"), *WITH_ENDS, Column("Queries", "count")]
    note = (
        "Precision over queries with a pair of the set that people saw, recall over queries for "
        f"which people found a positive. {remark}"
    )
    return [Table("positives", "Precision and recall", note, columns, [precision, recall])]


def evaluate_bison(given: Given) -> list[Table]:
    read = given.files["annotations"]
    data = read.get("data") if isinstance(read, dict) else None
    examples = entries_of(data, "annotations, data", "bison_id", "true_image_id")
    true = _by_example(examples, "true_image_id", "annotations")
    predicted = _predictions(given, "predictions")
    row, remark = _line("Predictions", bison_accuracy(true, predicted), "examples")
    rows = [row]
    note = f"The share of examples whose true image was chosen. {remark}"
    if given.has("altered"):
        altered = _predictions(given, "altered")
        # Not every query can be altered: of the others, nothing is known.
        asked = true.keys() & altered.keys()
        if not asked:
            raise DegenerateInput("altered has no example of the annotations.")
        right = {example: true[example] for example in asked}
        rows.append(_line("Altered queries", bison_accuracy(right, altered), "examples")[0])
        changed = predictions_changed(
            {each: predicted[each] for each in asked}, {each: altered[each] for each in asked}
        )
        rows.append(_line("Changed by the alteration", changed, "examples")[0])
    columns = [Column("Of"), *WITH_ENDS, Column("Examples", "count")]
    return [Table("bison", "BISON accuracy", note, columns, rows)]


def _predictions(given: Given, name: str) -> dict[int, int]:
    entries = given.entries(name, "bison_id")
    chosen = [
        {
            "bison_id": entry["bison_id"],
            "predicted_image_id": chosen_image(entry, f"{name}: entry {n}"),
        }
        for n, entry in enumerate(entries, 1)
    ]
    return _by_example(chosen, "predicted_image_id", name)


def chosen_image(entry: Mapping[str, Any], where: str) -> Any:
    """The image that is named, or the one with the highest score; of equal ones, the first id."""
    if "predicted_image_id" in entry:
        return entry["predicted_image_id"]
    if "scores" not in entry:
        raise DegenerateInput(f"{where} has neither predicted_image_id nor scores.")
    scores = {
        image: number_of(score, f"{where}, scores")
        for image, score in items_of(entry["scores"], f"{where}, scores")
    }
    return min(scores, key=lambda image: (-scores[image], len(image), image))


def _by_example(entries: Sequence[Mapping[str, Any]], image: str, name: str) -> dict[int, int]:
    listed = {place: (each["bison_id"], each[image]) for place, each in enumerate(entries)}
    pairs = layout_of(listed, name, "has an id that is no number")
    found = {pair[0]: pair[1] for pair in pairs.values()}
    if len(found) < len(entries):
        raise DegenerateInput(f"{name} has an example twice.")
    return found


def evaluate_forced_choice(given: Given) -> list[Table]:
    by_model: dict[str, dict[str, tuple[float, float]]] = {}
    for place, line in enumerate(given.lines("scores", "right", "wrong"), 1):
        own = by_model.setdefault(text_of(line.get("model", "all"), f"Entry {place}, model"), {})
        right, wrong = (
            number_of(line[name], f"Entry {place}, {name}") for name in ("right", "wrong")
        )
        own[str(place)] = right, wrong
    rows, remark = [], ""
    for model, scores in by_model.items():
        given.heed()
        values = forced_choice(scores)
        row, remark = _line(model, values, "examples")
        rows.append([*row, int((values == 0.5).sum())])
    columns = [Column("Model"), *WITH_ENDS, Column("Examples", "count"), Column("Ties", "count")]
    note = f"How often the right text scores above the wrong one; a tie counts half. {remark}"
    return [Table("forced-choice", "Right or wrong text", note, columns, rows)]


def evaluate_texts(given: Given) -> list[Table]:
    lines = {
        name.capitalize(): text_statistics(_texts(given.files[name], name)).line()
        for name in ("before", "after")
        if given.has(name)
    }
    return [statistics_table(lines)]


def _texts(read: object, name: str) -> list[str]:
    found = []
    for image, texts in items_of(read, name):
        if not isinstance(texts, list):
            raise DegenerateInput(f"{name}: {image[:40]!r} has no list of texts.")
        found += [text_of(text, f"{name}, {image[:40]}") for text in texts]
    return found
