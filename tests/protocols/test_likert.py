import csv
from io import StringIO
from random import Random
from typing import Any

import pytest
from pydantic import ValidationError

from hits.protocol import FieldErrors, protocol
from hits.protocols.likert import SCORES, ImageScaleRow, ScaleRow, ScaleSettings
from hits.records import (
    CorpusImage,
    ImageShown,
    Items,
    JudgedUnit,
    OutsideCaption,
    OutsideImage,
    UnitDraft,
)
from tests.protocols.given import Given, Released

CORRECTNESS, DETAILEDNESS = protocol("correctness"), protocol("detailedness")
both = pytest.mark.parametrize("kind", [CORRECTNESS, DETAILEDNESS], ids=lambda kind: kind.slug)
CORPUS = [CorpusImage(7, 640, 480, {1: "A cat.", 2: "A dog."}, ())]
OWN = ScaleSettings(own_pairs=True)


def units(kind: Any, source: Given, settings: ScaleSettings = OWN) -> list[UnitDraft]:
    return list(kind.units(source, settings, Random(0)))


def test_the_corpus_s_own_captions_are_asked_about_with_and_without_their_image() -> None:
    source = Given(corpus=CORPUS)
    assert [unit.payload for unit in units(CORRECTNESS, source)] == [
        {"image": 7, "caption": 1},
        {"image": 7, "caption": 2},
    ]
    assert [unit.payload for unit in units(DETAILEDNESS, source)] == [
        {"caption": 1},
        {"caption": 2},
    ]


@both
def test_the_corpus_is_not_asked_about_unless_that_is_wanted(kind: Any) -> None:
    assert not units(kind, Given(corpus=CORPUS), ScaleSettings())
    assert kind.asks_corpus(OWN)
    assert not kind.asks_corpus(ScaleSettings())


def test_rows_bring_captions_of_the_corpus_or_texts_of_systems() -> None:
    rows: list[dict[str, Any]] = [
        {"image": 7, "caption": 1},
        {"image": 7, "text": "A tabby cat."},
        {"image": 8, "text": "A tabby cat."},
    ]
    found = units(CORRECTNESS, Given(uploaded=rows))
    assert [unit.payload for unit in found] == rows
    assert len({unit.key for unit in found}) == 3
    assert max(len(unit.key) for unit in found) <= 100


def test_a_row_names_a_caption_or_gives_a_text() -> None:
    ImageScaleRow.model_validate({"image": "7", "caption": 12, "gold": 4})
    ScaleRow.model_validate({"text": "A cat."})
    for wrong in ({}, {"text": "A cat.", "caption": "1"}, {"text": ""}, {"text": "A", "gold": 6}):
        with pytest.raises(ValidationError):
            ScaleRow.model_validate(wrong)


@pytest.mark.parametrize(
    ("known", "tolerance", "passing"),
    [(5, 1, {4, 5}), (3, 0, {3}), (1, 1, {1, 2}), (3, 2, {1, 2, 3, 4, 5})],
)
def test_a_gold_takes_answers_near_the_known_one(
    known: int, tolerance: int, passing: set[int]
) -> None:
    source = Given(uploaded=[{"caption": 1, "gold": known}])
    (unit,) = units(DETAILEDNESS, source, ScaleSettings(gold_tolerance=tolerance))
    assert unit.pool == "gold"
    assert unit.gold is not None
    found = {score for score in range(1, 6) if DETAILEDNESS.check({"score": score}, unit.gold)}
    assert found == passing


def test_a_gold_is_described_by_its_two_ends() -> None:
    wording = CORRECTNESS.wording_model()
    assert CORRECTNESS.describe({"low": 4, "high": 5}, wording) == "Mostly Correct to Correct"
    assert CORRECTNESS.describe({"low": 5, "high": 5}, wording) == "Correct"
    assert CORRECTNESS.describe({"score": 2}, wording) == "Mostly Incorrect"


@both
@pytest.mark.parametrize("score", SCORES)
def test_the_number_is_stored(kind: Any, score: str) -> None:
    answer = kind.parse({"score": [score]}, {}, None, ScaleSettings())
    assert answer == {"score": int(score)}
    assert kind.row(answer) == (int(score),)


@both
@pytest.mark.parametrize("sent", [[], [""], ["0"], ["6"], ["3.5"], ["Correct"]])
def test_there_are_five_answers(kind: Any, sent: list[str]) -> None:
    with pytest.raises(FieldErrors) as wrong:
        kind.parse({"score": sent}, {}, None, ScaleSettings())
    assert set(wrong.value.errors) == {"score"}


@both
@pytest.mark.parametrize(
    ("scores", "mean", "label"), [([4], 4, "4"), ([1, 5], 3, "3"), ([4, 4, 5], 13 / 3, "4.33")]
)
def test_the_score_is_the_mean(kind: Any, scores: list[int], mean: float, label: str) -> None:
    aggregate = kind.aggregate([{"score": score} for score in scores])
    assert (aggregate.value, aggregate.label) == (mean, label)
    assert aggregate.distribution == {
        score: scores.count(int(score)) for score in ("1", "2", "3", "4", "5")
    }


def test_the_five_labels_are_those_of_the_study() -> None:
    labels = [
        option.label for option in CORRECTNESS.form(OWN, CORRECTNESS.wording_model())["choices"]
    ]
    assert labels == [
        "Incorrect",
        "Mostly Incorrect",
        "Partially Correct",
        "Mostly Correct",
        "Correct",
    ]


def test_detailedness_shows_no_image() -> None:
    items = Items({7: ImageShown("/images/7", 4, 3)}, {1: "A cat."})
    assert DETAILEDNESS.show({"caption": 1}, None, items) == {"caption": "A cat."}
    assert DETAILEDNESS.items({"caption": 1}) == ([], [1])
    shown = CORRECTNESS.show({"image": 7, "text": "A tabby."}, None, items)
    assert (shown["caption"], shown["image"].url) == ("A tabby.", "/images/7")


def judged(
    payload: dict[str, Any], captions: tuple[OutsideCaption, ...], *scores: int
) -> JudgedUnit:
    answers = [{"score": score} for score in scores]
    return JudgedUnit(
        "k", "correctness", "unit", payload, (OutsideImage("391895", "a.jpg"),), captions,
        CORRECTNESS.aggregate(answers), answers, [None] * len(answers),
    )  # fmt: skip


def test_the_release_has_each_caption_with_its_text_its_mean_and_what_was_said() -> None:
    source = Released(
        [
            judged({"image": 7, "caption": 1}, (OutsideCaption("770337", "A cat, asleep."),), 4, 5),
            judged({"image": 7, "text": "A tabby."}, (), 1),
        ]
    )
    (pieces,) = CORRECTNESS.export(source, OWN).values()
    found = list(csv.DictReader(StringIO("".join(pieces))))
    first = {"image_id": "391895", "caption_id": "770337", "caption": "A cat, asleep."}
    counts = {"1": "0", "2": "0", "3": "0", "4": "1", "5": "1"}
    assert found[0] == {**first, "mean": "4.5000", "judgments": "2", **counts}
    assert (found[1]["caption_id"], found[1]["caption"], found[1]["1"]) == ("", "A tabby.", "1")
