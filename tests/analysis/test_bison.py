from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hits.analysis.bison import confirmed_by_worker, conversion, is_longest
from hits.analysis.errors import DegenerateInput
from hits.analysis.positives import predictions_changed
from hits.analysis.retrieval import bison_accuracy
from hits.protocol import protocol
from hits.records import JudgedUnit, OutsideCaption, OutsideImage

CAPTIONS = {1: "A dog.", 2: "A brown dog runs.", 3: "A dog that runs."}


def judged(slug: str, payload: dict[str, Any], *answers: dict[str, Any]) -> JudgedUnit:
    return JudgedUnit(
        key="k",
        protocol=slug,
        pool="unit",
        payload=payload,
        images=(OutsideImage("7", "7.jpg"), OutsideImage("8", "8.jpg")),
        captions=tuple(OutsideCaption(str(pk), text) for pk, text in CAPTIONS.items()),
        aggregate=protocol(slug).aggregate(answers),
        answers=answers,
        shown=[None] * len(answers),
    )


def pair(*chosen: int | None) -> JudgedUnit:
    answers: list[dict[str, Any]] = [
        {"choice": "none"} if caption is None else {"choice": "caption", "caption": caption}
        for caption in chosen
    ]
    payload = {"positive": 7, "negative": 8, "captions": list(CAPTIONS)}
    return judged("bison_captions", payload, *answers)


def example(*choices: str) -> JudgedUnit:
    return judged("bison_images", {}, *({"choice": choice} for choice in choices))


def test_a_pair_is_converted_by_a_caption_and_an_example_by_everybody() -> None:
    captions = conversion([pair(1), pair(2), pair(None), pair(3)])
    assert (captions.entered, captions.left, captions.percent) == (4, 3, 75)
    images = conversion([example("positive", "positive"), example("positive", "both")])
    assert (images.entered, images.left, images.percent) == (2, 1, 50)


def test_the_longest_caption_is_told_by_its_words_and_ties_are_longest() -> None:
    payload = {"captions": list(CAPTIONS), "texts": list(CAPTIONS.values())}
    assert [is_longest({"caption": each}, payload) for each in CAPTIONS] == [False, True, True]


def test_without_judgments_there_is_no_share() -> None:
    with pytest.raises(DegenerateInput):
        conversion([])


def test_a_worker_s_quality_is_what_the_next_stage_confirms_of_their_captions() -> None:
    chosen = [("ada", "1"), ("ada", "2"), ("bo", "3"), ("bo", "not looked at yet"), ("cy", "x")]
    found = confirmed_by_worker(chosen, {"1": True, "2": False, "3": True})
    assert found == {"ada": (2, 1), "bo": (1, 1)}


@given(st.dictionaries(st.integers(0, 99), st.tuples(st.integers(0, 3), st.integers(0, 3))))
def test_accuracy_is_the_share_of_true_images_and_knows_no_order(
    examples: dict[int, tuple[int, int]],
) -> None:
    true = {example: image for example, (image, _) in examples.items()}
    predicted = {example: image for example, (_, image) in reversed(examples.items())}
    if not examples:
        with pytest.raises(DegenerateInput):
            bison_accuracy(true, predicted)
        return
    values = bison_accuracy(true, predicted)
    assert values.sum() == sum(one == two for one, two in examples.values())
    assert bison_accuracy(true, true).mean() == 1
    assert predictions_changed(true, predicted).mean() == pytest.approx(1 - values.mean())


@given(st.lists(st.text("ab ", min_size=1), min_size=1, max_size=5))
def test_some_caption_is_the_longest_and_none_is_longer_than_it(texts: list[str]) -> None:
    payload = {"captions": list(range(len(texts))), "texts": texts}
    longest = [is_longest({"caption": each}, payload) for each in range(len(texts))]
    words = [len(text.split()) for text in texts]
    assert {size for size, is_one in zip(words, longest, strict=True) if is_one} == {max(words)}
