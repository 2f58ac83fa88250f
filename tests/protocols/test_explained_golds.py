"""A gold of an uploaded row may say why it is right, whatever the protocol."""

from collections.abc import Mapping
from random import Random
from typing import Any

import pytest

from hits.protocol import EXPLANATION, registry
from hits.records import CorpusImage
from tests.protocols.given import Given

IMAGE = CorpusImage(1, 640, 480, {11: "A boat.", 12: "Two boats."}, ())
WHY = "The boat on the left is red."
OBJECTS = [{"id": f"o{place}", "label": "boat", "box": [place, 0, 5, 5]} for place in range(5)]
PREDICTED = {name: [{"label": name, "box": [0, 0, 5, 5], "score": 1.0}] for name in ("a", "b")}
GOLDS: Mapping[str, dict[str, Any]] = {
    "bison_captions": {"positive": 1, "negative": 2, "gold": [11]},
    "bison_images": {"caption": 11, "positive": 1, "negative": 2, "gold": "positive"},
    "correctness": {"image": 1, "caption": 11, "gold": 4},
    "detailedness": {"caption": 11, "gold": 4},
    "detectors": {"image": 1, "systems": PREDICTED, "gold": "a"},
    "matching": {"image": 1, "caption": 11, "gold": "yes"},
    "preference": {"caption": 11, "outputs": {"a": [1], "b": [2]}, "gold": "a"},
    "prominence": {"image": 1, "objects": OBJECTS, "gold": {"o1": [3]}},
    "relevance": {"image": 1, "objects": OBJECTS, "gold": {"o1": [3]}},
    "renovation": {
        "image": 1, "caption": 11, "proposed": "A red boat.", "gold": {"choices": ["correct"]},
    },
    "retrieval_audit": {"image": 1, "caption": 11, "gold": False},
    "right_text": {"image": 1, "wrong": "A blue boat.", "right": "A red boat.", "gold": True},
    "sis": {"image1": 1, "image2": 2, "gold": {"low": 0, "high": 1}},
    "sits": {"image": 1, "caption": 11, "gold": {"low": 0, "high": 1}},
    "sts": {"caption1": 11, "caption2": 12, "gold": {"low": 0, "high": 1}},
}  # fmt: skip


@pytest.mark.parametrize("slug", sorted(registry()))
def test_a_gold_says_why_if_its_row_does(slug: str) -> None:
    kind = registry()[slug]
    assert kind.row_model is not None
    plain = kind.row_model.model_validate(GOLDS[slug]).model_dump()

    def golds(row: dict[str, Any]) -> list[Any]:
        given = Given(uploaded=[_with_numbers(row)], corpus=[IMAGE])
        return [unit.gold for unit in kind.units(given, kind.settings_model(), Random(0))]

    (without,), (with_it,) = golds(plain), golds({**plain, EXPLANATION: WHY})

    assert without is not None
    assert EXPLANATION not in without
    assert with_it == {**without, EXPLANATION: WHY}


def _with_numbers(value: Any) -> Any:
    """Ids of the corpus as they are stored: numbers, where a file has outside ids."""
    if isinstance(value, dict):
        return {name: _with_numbers(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_with_numbers(each) for each in value]
    return int(value) if type(value) is not str and isinstance(value, str) else value
