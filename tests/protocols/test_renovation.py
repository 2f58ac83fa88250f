import json
from collections.abc import Sequence
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as tried
from hypothesis import strategies as st
from pydantic import ValidationError

from hits.pipeline.evidence import parts_of
from hits.protocol import FieldErrors, PageSettings, protocol
from hits.protocols.renovation import CHOICES, LONGEST_TEXT, RenovationRow, agreed_text
from hits.records import (
    CaptionedImage,
    CorpusImage,
    Fields,
    ImageShown,
    Items,
    Json,
    JudgedUnit,
    OutsideCaption,
    OutsideImage,
)
from tests.protocols.given import Given, Released

RENOVATION = protocol("renovation")
WORDING = RENOVATION.wording_model()
SETTINGS = PageSettings()
ORIGINAL = "three chairs under a window on a train."
PROPOSED = "three chairs under a window on a orange train."
PAYLOAD = {"image": 1, "caption": 11, "proposed": PROPOSED}


def parse(choice: str = "", text: str = "") -> Json:
    return RENOVATION.parse({"choice": [choice], "text": [text]}, PAYLOAD, None, SETTINGS)


def wrong_fields(choice: str = "", text: str = "") -> set[str]:
    with pytest.raises(FieldErrors) as wrong:
        parse(choice, text)
    return set(wrong.value.errors)


# Answers


def test_a_confirmation_has_the_proposed_text_and_no_edit() -> None:
    assert parse("confirm") == {"choice": "confirm", "text": PROPOSED, "edit": [], "size": 0}


def test_a_correction_has_its_text_its_edit_and_its_size() -> None:
    assert parse("correct", "three orange chairs under a window on a train.") == {
        "choice": "correct",
        "text": "three orange chairs under a window on a train.",
        "edit": [
            {"at": 1, "removed": [], "added": ["orange"]},
            {"at": 7, "removed": ["orange"], "added": []},
        ],
        "size": 2,
    }


@pytest.mark.parametrize("text", [PROPOSED, f"  {PROPOSED}\n", PROPOSED.replace(" ", "  ")])
def test_a_correction_that_changes_nothing_is_a_confirmation(text: str) -> None:
    assert parse("correct", text) == parse("confirm")


def test_punctuation_alone_is_a_correction_of_no_words() -> None:
    answer = parse("correct", PROPOSED.rstrip("."))
    assert (answer["choice"], answer["size"], len(answer["edit"])) == ("correct", 0, 1)


def test_what_is_typed_on_several_lines_is_one() -> None:
    assert parse("correct", "three chairs\r\n on a train")["text"] == "three chairs on a train"


@pytest.mark.parametrize("text", ["", "  \n ", "...", "x " * 200, "x" * (LONGEST_TEXT + 1)])
def test_a_correction_has_words_but_not_too_many(text: str) -> None:
    assert wrong_fields("correct", text) == {"text"}


@pytest.mark.parametrize("choice", ["", "CONFIRM", "1"])
def test_there_are_three_choices(choice: str) -> None:
    assert wrong_fields(choice, PROPOSED) == {"choice"}


@pytest.mark.parametrize("choice", ["confirm", "hopeless"])
def test_a_text_left_over_from_another_choice_is_not_stored(choice: str) -> None:
    assert parse(choice, "something typed before") == parse(choice)


def parsed(fields: Fields) -> tuple[Json | None, set[str]]:
    try:
        return RENOVATION.parse(fields, PAYLOAD, None, SETTINGS), set()
    except FieldErrors as wrong:
        return None, set(wrong.errors)


values = st.lists(st.one_of(st.sampled_from([*CHOICES, PROPOSED, ""]), st.text()), max_size=3)


@tried(deadline=None)
@given(fields=st.dictionaries(st.sampled_from(["choice", "text", "ms"]), values))
def test_whatever_is_sent_gives_a_whole_answer_or_says_what_is_wrong(fields: Fields) -> None:
    answer, errors = parsed(fields)
    assert errors <= {"choice", "text"}
    assert bool(errors) == (answer is None)
    if answer is None:
        return
    assert answer["choice"] in CHOICES
    assert (answer["choice"] == "correct") == bool(answer.get("edit"))
    assert len(RENOVATION.row(answer)) == len(RENOVATION.columns)
    assert RENOVATION.describe(answer, WORDING)


# Units and golds


def row(**values: Any) -> Json:
    stored = RenovationRow(**{"image": "1", "caption": "11", "proposed": PROPOSED, **values})
    content = stored.model_dump(mode="json")
    return {**content, "image": int(content["image"]), "caption": int(content["caption"])}


def units(*rows: Json) -> list[Any]:
    image = CorpusImage(1, 64, 48, {11: ORIGINAL, 12: "a train"}, ())
    given = Given(corpus=[image], uploaded=rows)
    return list(RENOVATION.units(given, SETTINGS, Random(0)))


def test_a_row_is_a_unit() -> None:
    (unit,) = units(row())
    assert (unit.key, unit.pool, unit.payload, unit.gold) == ("1:11", "unit", PAYLOAD, None)


def test_a_row_with_a_known_answer_is_a_gold() -> None:
    unit, gold = units(row(), row(gold={"choices": ["correct", "hopeless"]}))
    assert (gold.pool, gold.gold) == ("gold", {"choices": ["correct", "hopeless"]})
    assert gold.key != unit.key


def test_a_row_with_another_images_caption_is_left_out() -> None:
    assert [unit.key for unit in units(row(caption="99"), row(caption="12"))] == ["1:12"]
    assert units(row(image="2")) == []


@pytest.mark.parametrize(
    "wrong",
    [
        {"proposed": " . "},
        {"proposed": "x" * 501},
        {"proposed": "x " * 101},
        {"gold": {"choices": []}},
        {"gold": {"choices": list(CHOICES)}},
        {"gold": {"choices": ["yes"]}},
    ],
)
def test_rows_that_cannot_be_asked_are_refused(wrong: Json) -> None:
    with pytest.raises(ValidationError):
        row(**wrong)


@pytest.mark.parametrize(
    ("passing", "choice", "passes"),
    [
        (["correct", "hopeless"], "confirm", False),
        (["correct", "hopeless"], "correct", True),
        (["correct", "hopeless"], "hopeless", True),
        (["confirm", "correct"], "hopeless", False),
        (["confirm"], "correct", False),
    ],
)
def test_a_gold_says_which_choices_pass(passing: list[str], choice: str, passes: bool) -> None:
    answer = parse(choice, "three orange chairs on a train.")
    assert RENOVATION.check(answer, {"choices": passing}) is passes


def test_a_gold_is_described_by_the_choices_that_pass() -> None:
    described = RENOVATION.describe({"choices": ["correct", "hopeless"]}, WORDING)
    assert described == "It needs a correction or It is hopeless"


# What is shown


def test_what_was_added_is_marked_in_the_proposed_text() -> None:
    items = Items({1: ImageShown("/images/x", 64, 48)}, {11: ORIGINAL})
    shown = RENOVATION.show(PAYLOAD, None, items)
    assert (shown["original"], shown["caption"]) == (ORIGINAL, PROPOSED)
    assert [piece["text"] for piece in shown["pieces"] if piece["added"]] == ["orange"]
    written = "".join(f"{' ' * piece['spaced']}{piece['text']}" for piece in shown["pieces"])
    assert written == PROPOSED
    assert parts_of(shown).texts == [ORIGINAL, PROPOSED]


# Aggregates


def correction(text: str) -> Json:
    return parse("correct", text)


CONFIRMED, HOPELESS = parse("confirm"), parse("hopeless")
SMALL = correction(PROPOSED.replace("orange", "yellow"))
LARGE = correction("a train with a window")


@pytest.mark.parametrize(
    ("answers", "label", "text"),
    [
        ([CONFIRMED], "confirm", PROPOSED),
        ([CONFIRMED, CONFIRMED, LARGE], "confirm", PROPOSED),
        ([CONFIRMED, SMALL], "correct", SMALL["text"]),
        ([LARGE, SMALL, CONFIRMED], "correct", SMALL["text"]),
        ([LARGE, SMALL, LARGE], "correct", LARGE["text"]),
        ([SMALL, HOPELESS], "hopeless", None),
        ([SMALL, LARGE, HOPELESS], "correct", SMALL["text"]),
    ],
)
def test_the_majority_chooses_and_the_most_frequent_or_least_changed_text_wins(
    answers: Sequence[Json], label: str, text: str | None
) -> None:
    aggregate = RENOVATION.aggregate(answers)
    assert (aggregate.label, agreed_text(answers)) == (label, text)
    assert aggregate.positive == (text is not None)
    assert sum(aggregate.distribution.values()) == len(answers)
    assert agreed_text(list(reversed(answers))) == text


def test_the_value_of_an_aggregate_is_the_size_of_the_edit() -> None:
    said = {"confirm": CONFIRMED, "correct": SMALL, "hopeless": HOPELESS}
    values = {label: RENOVATION.aggregate([answer]).value for label, answer in said.items()}
    assert values == {"confirm": 0, "correct": 1, "hopeless": None}


# Exports


def captioned(number: int) -> CaptionedImage:
    captions = {
        number * 10 + each: OutsideCaption(f"{number}-{each}", f"text {each} of {number}")
        for each in range(5)
    }
    file_name = f"COCO_val2014_{number:012d}.jpg"
    return CaptionedImage(number, OutsideImage(str(number), file_name), captions)


def judged(image: CaptionedImage, caption: int, *answers: Json, **more: Any) -> JudgedUnit:
    payload = {"image": image.id, "caption": caption, "proposed": PROPOSED, **more}
    return JudgedUnit(
        key=f"{image.id}:{caption}",
        protocol="renovation",
        pool="unit",
        payload=payload,
        images=(image.image,),
        captions=(image.captions[caption],),
        aggregate=RENOVATION.aggregate(answers),
        answers=answers,
        shown=[None] * len(answers),
    )


ONE, TWO, THREE = captioned(1), captioned(2), captioned(3)
RELEASED = Released(
    images=[ONE, TWO, THREE],
    judged=[
        judged(THREE, 32, SMALL, pool=["b.jpg", "a.jpg"]),
        judged(ONE, 10, CONFIRMED, pool=["a.jpg", "COCO_val2014_000000000002.jpg"]),
        judged(ONE, 14, HOPELESS),
    ],
)


def exported(name: str) -> str:
    return "".join(RENOVATION.export(RELEASED, SETTINGS)[name])


def test_every_image_has_all_its_texts_in_their_order_renovated_or_not() -> None:
    assert json.loads(exported("FG_ann.json")) == {
        "COCO_val2014_000000000001": [PROPOSED, *(f"text {each} of 1" for each in range(1, 5))],
        "COCO_val2014_000000000002": [f"text {each} of 2" for each in range(5)],
        "COCO_val2014_000000000003": [
            "text 0 of 3",
            "text 1 of 3",
            SMALL["text"],
            "text 3 of 3",
            "text 4 of 3",
        ],
    }


def test_the_pool_is_the_images_and_those_that_are_hard_to_tell_from_them_each_once() -> None:
    assert exported("FG_img_filenames.txt").splitlines() == [
        *(f"COCO_val2014_{number:012d}.jpg" for number in (1, 2, 3)),
        "b.jpg",
        "a.jpg",
    ]


def test_reports_are_made_of_the_original_the_proposed_and_the_final_text() -> None:
    assert [RENOVATION.renovated(unit) for unit in RELEASED.judged] == [
        ("text 2 of 3", PROPOSED, SMALL["text"]),
        ("text 0 of 1", PROPOSED, PROPOSED),
        ("text 4 of 1", PROPOSED, None),
    ]


def test_a_judgment_is_written_with_its_edit_so_that_it_can_be_read_back() -> None:
    choice, text, size, edit = RENOVATION.row(SMALL)
    assert {"choice": choice, "text": text, "size": size, "edit": json.loads(edit)} == SMALL
    assert RENOVATION.row(HOPELESS) == ("hopeless", "", "", "")
