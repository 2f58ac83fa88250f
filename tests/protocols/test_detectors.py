import json
from random import Random
from typing import Any

import pytest
from pydantic import ValidationError

from hits.analysis.surveys import majority_of_votes, unanimity
from hits.protocol import FieldErrors, protocol
from hits.protocols.detectors import DetectorsRow, Settings
from hits.records import ImageShown, Items, Json, JudgedUnit, UnitDraft
from tests.protocols.given import Given, Released
from tests.protocols.releasing import judged

DETECTORS = protocol("detectors")


def found(*labels: str) -> list[Json]:
    return [
        {"label": label, "box": [place * 10, 0, 8, 8], "score": place / 10}
        for place, label in enumerate(labels)
    ]


def units(*rows: Json, **settings: Any) -> list[UnitDraft]:
    return list(DETECTORS.units(Given(uploaded=rows), Settings(**settings), Random(0)))


def test_the_five_most_confident_predictions_are_drawn() -> None:
    row = {"image": 1, "systems": {"one": found(*"abcdefg"), "two": found("a")}}
    (unit,) = units(row)
    assert [each["label"] for each in unit.payload["outputs"][0]["objects"]] == list("gfedc")


def test_only_images_with_different_labels_are_asked_about() -> None:
    same = {"image": 1, "systems": {"one": found("a", "b"), "two": found("b", "a")}}
    other = {"image": 2, "systems": {"one": found("a", "a"), "two": found("a")}}
    assert [unit.payload["image"] for unit in units(same, other)] == [2]
    assert len(units(same, other, only_different=False)) == 2


def test_labels_beyond_the_drawn_predictions_make_no_difference() -> None:
    row = {"image": 1, "systems": {"one": found("z", *"abcde"), "two": found(*"abcde")}}
    assert not units(row)


def test_three_systems_give_three_pairs_and_a_gold_only_its_own() -> None:
    row = {"image": 1, "systems": {name: found(name) for name in ("one", "two", "three")}}
    assert len({unit.key for unit in units(row)}) == 3
    golds = units(row | {"gold": "two"})
    assert [(unit.pool, unit.gold) for unit in golds] == [("gold", {"chosen": "two"})] * 2


@pytest.mark.parametrize(
    "row",
    [
        {"image": "1", "systems": {"one": found("a")}},
        {"image": "1", "systems": {"one": found("a"), "two": [{"label": "b"}]}},
        {"image": "1", "systems": {"one": found("a"), "two": found("b")}, "gold": "three"},
        {"image": "1", "systems": {"one": found("a"), "undecided": found("b")}},
        {"systems": {"one": found("a"), "two": found("b")}},
    ],
)
def test_a_row_that_cannot_be_asked_about_is_refused(row: Json) -> None:
    with pytest.raises(ValidationError):
        DetectorsRow.model_validate(row)


PAIR: Json = {
    "image": 1,
    "outputs": [
        {"system": "fcos", "objects": found("cat")},
        {"system": "fovea", "objects": found("dog", "tie")},
    ],
}


def test_each_copy_has_the_boxes_of_its_system_and_no_name() -> None:
    items = Items(images={1: ImageShown("/images/1", 640, 480)}, captions={})
    shown = DETECTORS.show(PAIR, {"left": "fovea", "right": "fcos"}, items)
    labels = [[mark.label for mark in side["marks"]] for side in shown["sides"]]
    assert labels == [["dog", "tie"], ["cat"]]
    assert "fovea" not in repr(shown)


def test_a_choice_is_stored_as_the_system() -> None:
    arranged = [DETECTORS.arrange(PAIR, turn, Random(0)) for turn in (0, 1)]
    sent = {"choice": ["left"]}
    stored = [DETECTORS.parse(sent, PAIR, shown, Settings()) for shown in arranged]
    assert stored == [{"chosen": "fcos"}, {"chosen": "fovea"}]
    with pytest.raises(FieldErrors):
        DETECTORS.parse({"choice": ["tie"]}, PAIR, arranged[0], Settings())


def compared(votes: str, image: int) -> JudgedUnit:
    said = []
    for turn, vote in enumerate(votes):
        chosen = {"chosen": "fcos" if vote == "f" else "fovea"}
        said.append((DETECTORS.arrange(PAIR, turn, Random(0)), chosen))
    return judged("detectors", PAIR | {"image": image}, said)


def test_the_majority_of_three_people_comes_back_from_the_release() -> None:
    finished = [compared("fff", 1), compared("fvv", 2), compared("vvv", 3), compared("vfv", 4)]
    files = DETECTORS.export(Released(finished), Settings())
    responses = json.loads("".join(files["AMT_responses.json"]))["Comparison"]
    keys = json.loads("".join(files["AMT_keys.json"]))["Comparison"]
    assert [row["description"] for row in responses[:3]] == ["1", "2", "1"]
    votes: dict[str, list[str]] = {}
    for response, key in zip(responses, keys, strict=True):
        assert response["image_id"] == key["image_id"]
        votes.setdefault(response["image_id"], []).append(key[response["description"]])
    majority = majority_of_votes(votes)
    assert majority == {unit.images[0].id: unit.aggregate.label for unit in finished}
    assert list(majority.values()) == ["fcos", "fovea", "fovea", "fovea"]
    assert unanimity(votes, 3) == 0.5
