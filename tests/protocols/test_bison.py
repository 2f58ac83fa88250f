import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as tried
from hypothesis import strategies as st

from hits.analysis.retrieval import bison_accuracy
from hits.protocol import FieldErrors, protocol
from hits.protocols.bison_captions import CaptionsRow, CaptionsSettings, chosen_caption
from hits.protocols.bison_images import ImagesRow, ImagesSettings
from hits.records import (
    Candidate,
    CorpusImage,
    ImageShown,
    Items,
    JudgedUnit,
    OutsideCaption,
    OutsideImage,
    Query,
    UnitDraft,
)
from tests.protocols.given import Given, Released

CAPTIONS = protocol("bison_captions")
IMAGES = protocol("bison_images")
TEXTS = {11: "A dog.", 12: "A brown dog.", 13: "A dog runs.", 14: "Grass.", 15: "A pet.", 16: "X."}
CORPUS = [
    CorpusImage(1, 640, 480, TEXTS, ()),
    CorpusImage(2, 640, 480, {21: "A cat."}, ()),
    CorpusImage(3, 640, 480, {}, ()),
]
PAIR = {"positive": 1, "negative": 2, "captions": [11, 12, 13], "texts": ["a", "b", "c"]}
TRIPLE = {"caption": 12, "positive": 1, "negative": 2}


def neighbours(image: int, *lists: Sequence[int]) -> Query:
    candidates = [
        Candidate(machine, target, rank, 1 / rank)
        for machine, ranked in enumerate(lists, 1)
        for rank, target in enumerate(ranked, 1)
    ]
    return Query(image, "i2i", tuple(candidates), ())


def pairs(source: Given, **settings: Any) -> list[UnitDraft]:
    return list(CAPTIONS.units(source, CaptionsSettings(**settings), Random(0)))


# Stage 2


def test_an_image_is_paired_with_its_nearest_and_has_its_first_five_captions() -> None:
    (unit,) = pairs(Given(proposed=[neighbours(1, [2, 3])], corpus=CORPUS))
    assert (unit.key, unit.pool, unit.gold) == ("1:2", "unit", None)
    assert unit.payload == {
        "positive": 1,
        "negative": 2,
        "captions": [11, 12, 13, 14, 15],
        "texts": [TEXTS[caption] for caption in (11, 12, 13, 14, 15)],
    }


def test_how_many_neighbours_and_captions_there_are_is_a_setting() -> None:
    source = Given(proposed=[neighbours(1, [2, 3])], corpus=CORPUS)
    found = pairs(source, judged_depth=2, captions_shown=6)
    assert [(unit.key, len(unit.payload["captions"])) for unit in found] == [("1:2", 6), ("1:3", 6)]


def test_a_pair_that_two_machines_propose_is_one_unit_that_remembers_both() -> None:
    found = pairs(Given(proposed=[neighbours(1, [2, 3], [3, 2])], corpus=CORPUS), judged_depth=2)
    assert {unit.key: [(c.proposal_id, c.rank) for c in unit.sources] for unit in found} == {
        "1:2": [(1, 1), (2, 2)],
        "1:3": [(1, 2), (2, 1)],
    }


def test_the_turned_pair_is_another_unit_and_an_image_without_captions_makes_none() -> None:
    asked = [neighbours(1, [2]), neighbours(2, [1]), neighbours(3, [1])]
    assert [unit.key for unit in pairs(Given(proposed=asked, corpus=CORPUS))] == ["1:2", "2:1"]


def test_an_image_is_never_paired_with_itself() -> None:
    assert not pairs(Given(proposed=[neighbours(1, [1])], corpus=CORPUS))


def test_rows_bring_pairs_and_golds() -> None:
    rows: list[dict[str, Any]] = [
        {"positive": 1, "negative": 2, "captions": [12, 13]},
        {"positive": 1, "negative": 3, "captions": [12, 13], "gold": [13]},
        {"positive": 2, "negative": 2, "gold": []},
    ]
    asked, known, none = pairs(Given(uploaded=rows, corpus=CORPUS))
    assert (asked.pool, asked.payload["captions"]) == ("unit", [12, 13])
    assert (known.pool, known.gold) == ("gold", {"captions": [13], "texts": ["A dog runs."]})
    assert (none.pool, none.gold) == ("gold", {"captions": [], "texts": []})


def test_a_row_is_read_as_it_is_uploaded() -> None:
    row = CaptionsRow.model_validate({"positive": 391895, "negative": "522418", "gold": ["7"]})
    assert (row.positive, row.negative, row.gold) == ("391895", "522418", ["7"])
    ImagesRow.model_validate({"caption": 1, "positive": 2, "negative": 3, "gold": "both"})
    with pytest.raises(ValueError, match="gold"):
        ImagesRow.model_validate({"caption": 1, "positive": 2, "negative": 3, "gold": "left"})


def test_captions_stand_in_an_order_by_chance_that_is_stored() -> None:
    arranged = [CAPTIONS.arrange(PAIR, 0, Random(seed)) for seed in range(60)]
    orders = Counter(tuple(each["captions"]) for each in arranged if each)
    assert len(orders) == 6
    assert all(sorted(order) == [11, 12, 13] for order in orders)


def shown(payload: dict[str, Any], arranged: dict[str, Any] | None, kind: Any) -> dict[str, Any]:
    images = {pk: ImageShown(f"/images/{pk}", 4, 3) for pk in (1, 2)}
    return kind.show(payload, arranged, Items(images, TEXTS))  # type: ignore[no-any-return]


def test_the_positive_is_on_the_left_and_captions_are_as_arranged() -> None:
    page = shown(PAIR, {"captions": [13, 11, 12]}, CAPTIONS)
    assert (page["left"].url, page["right"].url) == ("/images/1", "/images/2")
    assert page["captions"] == ["A dog runs.", "A dog.", "A brown dog."]


@tried(deadline=None)
@given(order=st.permutations([11, 12, 13]), place=st.integers(1, 3))
def test_what_is_stored_is_the_caption_wherever_it_stood(order: list[int], place: int) -> None:
    answer = CAPTIONS.parse(
        {"choice": [str(place)]}, PAIR, {"captions": order}, CAPTIONS.settings_model()
    )
    caption = order[place - 1]
    text = dict(zip(PAIR["captions"], PAIR["texts"], strict=True))[caption]  # type: ignore[call-overload]
    assert answer == {"choice": "caption", "caption": caption, "text": text}
    assert CAPTIONS.row(answer) == ("caption", caption, text)


def test_none_is_an_answer_without_a_caption() -> None:
    answer = CAPTIONS.parse({"choice": ["none"]}, PAIR, None, CAPTIONS.settings_model())
    assert answer == {"choice": "none"}
    assert CAPTIONS.row(answer) == ("none", "", "")


@pytest.mark.parametrize("sent", [[], [""], ["0"], ["4"], ["11"], ["caption"], ["-1"], ["²"]])
def test_a_caption_that_is_not_on_the_page_is_no_answer(sent: list[str]) -> None:
    with pytest.raises(FieldErrors) as wrong:
        CAPTIONS.parse(
            {"choice": sent}, PAIR, {"captions": [11, 12, 13]}, CAPTIONS.settings_model()
        )
    assert set(wrong.value.errors) == {"choice"}


@pytest.mark.parametrize(("right", "passing"), [([12, 13], {12, 13}), ([], {None}), ([11], {11})])
def test_a_gold_takes_the_captions_it_names_or_none(
    right: list[int], passing: set[int | None]
) -> None:
    answers = [{"choice": "caption", "caption": pk} for pk in (11, 12, 13)] + [{"choice": "none"}]
    gold = {"captions": right, "texts": [TEXTS[pk] for pk in right]}
    assert {answer.get("caption") for answer in answers if CAPTIONS.check(answer, gold)} == passing
    assert CAPTIONS.describe(gold, CAPTIONS.wording_model())


@pytest.mark.parametrize(
    ("said", "caption"),
    [
        ([12], 12),
        ([None], None),
        ([12, 13], 12),
        ([12, None], None),
        ([12, 12, None], 12),
        ([13, 12, 13], 13),
    ],
)
def test_the_caption_most_people_chose_goes_on_and_none_wins_a_tie(
    said: list[int | None], caption: int | None
) -> None:
    answers: list[dict[str, Any]] = [
        {"choice": "none"} if each is None else {"choice": "caption", "caption": each}
        for each in said
    ]
    assert chosen_caption(answers) == caption
    aggregate = CAPTIONS.aggregate(answers)
    assert aggregate.label == ("none" if caption is None else "caption")
    assert aggregate.positive == (caption is not None)
    assert aggregate.distribution == {
        "caption": sum(each is not None for each in said),
        "none": sum(each is None for each in said),
    }


# Stage 3


def judged_pair(*said: int | None) -> JudgedUnit:
    answers: list[dict[str, Any]] = [
        {"choice": "none"} if each is None else {"choice": "caption", "caption": each}
        for each in said
    ]
    return JudgedUnit(
        "1:2", "bison_captions", "unit", PAIR, (), (), CAPTIONS.aggregate(answers), answers, [None]
    )


def test_the_chosen_caption_and_its_pair_go_on_and_none_does_not() -> None:
    source = Given(finished=[judged_pair(12), judged_pair(None), judged_pair(12, None)])
    found = list(IMAGES.units(source, ImagesSettings(), Random(0)))
    assert [(unit.key, unit.pool, unit.payload) for unit in found] == [("12:1:2", "unit", TRIPLE)]


def test_rows_bring_examples_and_golds_to_stage_three() -> None:
    source = Given(uploaded=[TRIPLE, {**TRIPLE, "caption": 13, "gold": "neither"}])
    asked, known = IMAGES.units(source, ImagesSettings(), Random(0))
    assert (asked.pool, asked.gold) == ("unit", None)
    assert (known.pool, known.gold) == ("gold", {"choice": "neither"})


def test_nobody_of_stage_two_is_let_into_stage_three() -> None:
    assert IMAGES.feeders == {"bison_captions"}
    assert IMAGES.apart_from == {"bison_captions"}


def test_each_image_stands_first_for_every_other_person() -> None:
    sides = [IMAGES.arrange(TRIPLE, turn, Random(0)) for turn in range(4)]
    assert [side and side["first"] for side in sides] == ["positive", "negative"] * 2


@pytest.mark.parametrize("first", ["positive", "negative"])
def test_what_is_stored_is_the_image_wherever_it_stood(first: str) -> None:
    arranged = {"first": first}
    page = shown(TRIPLE, arranged, IMAGES)
    positive_side = "first" if page["first"].url == "/images/1" else "second"
    other_side = {"first": "second", "second": "first"}[positive_side]
    assert page["caption"] == "A brown dog."
    settings = ImagesSettings()
    for sent, stored in [
        (positive_side, "positive"), (other_side, "negative"), ("both", "both"),
        ("neither", "neither"),
    ]:  # fmt: skip
        assert IMAGES.parse({"choice": [sent]}, TRIPLE, arranged, settings) == {"choice": stored}


@pytest.mark.parametrize("sent", [[], [""], ["positive"], ["negative"], ["1"]])
def test_what_a_side_means_cannot_be_sent(sent: list[str]) -> None:
    with pytest.raises(FieldErrors):
        IMAGES.parse({"choice": sent}, TRIPLE, {"first": "positive"}, ImagesSettings())


@pytest.mark.parametrize(
    ("choices", "label"),
    [
        (["positive", "positive"], "positive"),
        (["positive", "negative"], "negative"),
        (["positive", "both"], "both"),
        (["positive", "positive", "neither"], "neither"),
        (["both", "neither", "neither"], "neither"),
    ],
)
def test_an_example_is_accepted_only_if_everybody_picked_the_positive(
    choices: list[str], label: str
) -> None:
    aggregate = IMAGES.aggregate([{"choice": choice} for choice in choices])
    assert (aggregate.label, aggregate.positive) == (label, label == "positive")
    assert sum(aggregate.distribution.values()) == len(choices)


# The public layout


def example(positive: str, negative: str, *choices: str) -> JudgedUnit:
    answers = [{"choice": choice} for choice in choices]
    return JudgedUnit(
        key=f"12:{positive}:{negative}",
        protocol="bison_images",
        pool="unit",
        payload=TRIPLE,
        images=(
            OutsideImage(positive, f"COCO_val2014_{positive.zfill(12)}.jpg"),
            OutsideImage(negative, f"COCO_val2014_{negative.zfill(12)}.jpg"),
        ),
        captions=(OutsideCaption("770337", "A „brown“ dog."),),
        aggregate=IMAGES.aggregate(answers),
        answers=answers,
        shown=[None] * len(answers),
    )


EXAMPLES = [
    example("391895", "522418", "positive", "positive"),
    example("184613", "318219", "positive", "negative"),
    example("554625", "60623", "positive", "positive"),
    example("574769", "118113", "positive"),
]


def annotations(
    settings: ImagesSettings | None = None, examples: Sequence[JudgedUnit] = EXAMPLES
) -> dict[str, Any]:
    (pieces,) = IMAGES.export(
        Released(examples, "COCO", "val2014"), settings or ImagesSettings()
    ).values()
    return json.loads("".join(pieces))  # type: ignore[no-any-return]


def test_the_release_has_the_public_layout() -> None:
    assert annotations() == {
        "info": {"source": "COCO", "split": "val2014"},
        "data": [
            {
                "bison_id": 260764643725362,
                "caption_id": 770337,
                "caption": "A „brown“ dog.",
                "true_image_id": 391895,
                "image_candidates": [
                    {"image_id": 391895, "image_filename": "COCO_val2014_000000391895.jpg"},
                    {"image_id": 522418, "image_filename": "COCO_val2014_000000522418.jpg"},
                ],
            },
            {
                "bison_id": 24878536422298,
                "caption_id": 770337,
                "caption": "A „brown“ dog.",
                "true_image_id": 554625,
                "image_candidates": [
                    {"image_id": 60623, "image_filename": "COCO_val2014_000000060623.jpg"},
                    {"image_id": 554625, "image_filename": "COCO_val2014_000000554625.jpg"},
                ],
            },
        ],
    }


def test_an_example_keeps_its_id_whatever_else_is_released_and_is_there_once() -> None:
    whole = annotations()["data"]
    assert annotations(examples=EXAMPLES[1:])["data"] == whole[1:]
    assert annotations(examples=[*EXAMPLES, *EXAMPLES])["data"] == whole


def test_how_many_must_confirm_is_a_setting() -> None:
    found = annotations(ImagesSettings(confirmations=1))["data"]
    assert [entry["true_image_id"] for entry in found] == [391895, 554625, 574769]


def evaluated(annotated: dict[str, Any], predicted: list[dict[str, Any]]) -> tuple[str, float]:
    """As the public script does it: by bison_id, and nothing else of an entry but the truth."""
    true = {entry["bison_id"]: entry["true_image_id"] for entry in annotated["data"]}
    guessed = {each["bison_id"]: each["predicted_image_id"] for each in predicted}
    name = f"{annotated['info']['source']}.{annotated['info']['split']}"
    return name, float(bison_accuracy(true, guessed).mean())


def test_an_evaluation_that_reads_only_ids_and_truths_accepts_the_release() -> None:
    found = annotations()
    right = [
        {"bison_id": entry["bison_id"], "predicted_image_id": entry["true_image_id"]}
        for entry in found["data"]
    ]
    assert evaluated(found, right) == ("COCO.val2014", 1.0)
    half = [right[0], {**right[1], "predicted_image_id": 60623}]
    assert evaluated(found, half) == ("COCO.val2014", 0.5)


def test_ids_that_are_no_numbers_stay_as_they_are() -> None:
    unit = replace(EXAMPLES[0], captions=(OutsideCaption("c-1", "A dog."),))
    (pieces,) = IMAGES.export(Released([unit]), ImagesSettings()).values()
    assert json.loads("".join(pieces))["data"][0]["caption_id"] == "c-1"
