import csv
from collections import Counter
from itertools import combinations
from random import Random
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from hits.analysis.comparisons import comparisons_from, win_matrix
from hits.protocol import CaptionRef, FieldErrors, ImageRef, protocol
from hits.protocols.preference import PreferenceRow, Settings
from hits.records import CorpusImage, ImageShown, Items, Json, JudgedUnit, UnitDraft
from tests.protocols.given import Given, Released
from tests.protocols.releasing import judged

PREFERENCE = protocol("preference")
DEFAULTS = Settings()
PAIR: Json = {
    "caption": 7,
    "outputs": [{"system": "A", "images": [1, 2]}, {"system": "E", "images": [3, 4]}],
}
ITEMS = Items(
    images={number: ImageShown(f"/images/{number}", 10, 10) for number in range(1, 9)},
    captions={7: "A cat."},
)


def units(given: Given, seed: int = 0, **settings: Any) -> list[UnitDraft]:
    return list(PREFERENCE.units(given, Settings(**settings), Random(seed)))


def asked(found: list[UnitDraft]) -> list[UnitDraft]:
    return [unit for unit in found if unit.gold is None]


def systems(unit: UnitDraft) -> tuple[str, str]:
    one, two = unit.payload["outputs"]
    return one["system"], two["system"]


# Uploaded rows


def test_a_row_gives_every_pair_of_its_systems() -> None:
    row = {"caption": 7, "outputs": {name: [place] for place, name in enumerate("ABCD")}}
    found = units(Given(uploaded=[row]))
    assert [systems(unit) for unit in found] == list(combinations("ABCD", 2))
    assert len({unit.key for unit in found}) == 6
    assert found[0].payload == {
        "caption": 7,
        "outputs": [{"system": "A", "images": [0]}, {"system": "B", "images": [1]}],
    }


def test_texts_under_an_image_are_compared_alike() -> None:
    row = {"image": 3, "outputs": {"one": "A cat.", "two": "A dog."}}
    (unit,) = units(Given(uploaded=[row]))
    assert PREFERENCE.items(unit.payload) == ([3], [])
    shown = PREFERENCE.show(unit.payload, {"left": "two", "right": "one"}, ITEMS)
    assert [side["text"] for side in shown["sides"]] == ["A dog.", "A cat."]
    assert "caption" not in shown


def test_a_gold_row_asks_only_the_pairs_of_the_better_system() -> None:
    row = {"caption": 7, "outputs": {"A": [1], "B": [2], "C": [3]}, "gold": "B"}
    found = units(Given(uploaded=[row]))
    assert [(systems(unit), unit.pool, unit.gold) for unit in found] == [
        (("A", "B"), "gold", {"chosen": "B"}),
        (("B", "C"), "gold", {"chosen": "B"}),
    ]


@pytest.mark.parametrize(
    "row",
    [
        {"outputs": {"A": ["1"], "B": ["2"]}},
        {"caption": "1", "image": "2", "outputs": {"A": ["1"], "B": ["2"]}},
        {"caption": "1", "outputs": {"A": ["1"]}},
        {"caption": "1", "outputs": {"A": ["1"], "B": []}},
        {"caption": "1", "outputs": {"A": ["1"], "B": "A text."}},
        {"image": "1", "outputs": {"A": ["1"], "B": ["2"]}},
        {"image": "1", "outputs": {"A": "A text.", "B": " "}},
        {"image": "1", "outputs": {"A": "A text.", "tie": "Another."}},
        {"image": "1", "outputs": {"A": "A text.", "=B": "Another."}},
        {"image": "1", "outputs": {"A": "A text.", "B": "Another."}, "gold": "C"},
    ],
)
def test_a_row_that_cannot_be_asked_about_is_refused(row: Json) -> None:
    with pytest.raises(ValidationError):
        PreferenceRow.model_validate(row)


def test_outside_ids_in_a_row_are_told_from_texts() -> None:
    row = {"caption": 1, "outputs": {"A": [1, 2], "B": ["3"]}, "gold": "A"}
    kept = PreferenceRow.model_validate(row).model_dump()
    assert isinstance(kept["caption"], CaptionRef)
    assert [type(image) for image in kept["outputs"]["A"]] == [ImageRef, ImageRef]
    texts = PreferenceRow.model_validate(
        {"image": 1, "outputs": {"A": "One.", "B": "Two."}}
    ).model_dump()
    assert [type(text) for text in texts["outputs"].values()] == [str, str]


def test_outputs_that_are_the_same_are_asked_about_only_where_that_is_wanted() -> None:
    row = {"image": 3, "outputs": {"one": "A cat.", "two": "A cat.", "three": "A dog."}}
    assert len(units(Given(uploaded=[row]))) == 3
    assert len(units(Given(uploaded=[row]), equal_outputs=False)) == 2


# Positives of matching studies


def pair(caption: int, image: int, *, positive: bool) -> JudgedUnit:
    answer = {"choice": "yes" if positive else "no"}
    return judged("matching", {"image": image, "caption": caption}, [(None, answer)])


def matched(caption: int, right: int, wrong: int) -> list[JudgedUnit]:
    return [
        pair(caption, caption * 1000 + place, positive=place < right)
        for place in range(right + wrong)
    ]


def is_right(image: int, right: int) -> bool:
    return image % 1000 < right


def test_a_caption_with_eight_positives_gives_the_five_rankings_in_ten_pairs() -> None:
    found = asked(units(Given(finished=matched(1, right=8, wrong=8))))
    assert [systems(unit) for unit in found] == list(combinations("ABCDE", 2))
    rankings = {
        output["system"]: "".join("+" if is_right(image, 8) else "-" for image in output["images"])
        for unit in found
        for output in unit.payload["outputs"]
    }
    assert rankings == {
        "A": "-+++++++",
        "B": "+-------",
        "C": "-----+++",
        "D": "----+---",
        "E": "--------",
    }


@pytest.mark.parametrize(("right", "rankable"), [(4, 0), (5, 10), (8, 10), (9, 0)])
def test_only_captions_with_five_to_eight_positives_are_ranked(right: int, rankable: int) -> None:
    assert len(units(Given(finished=matched(1, right, wrong=10)))) == rankable


def test_with_five_positives_c_is_e_and_is_asked_about_as_e() -> None:
    found = asked(units(Given(finished=matched(1, right=5, wrong=5))))
    assert len({unit.key for unit in found}) == 10
    assert Counter(systems(unit) for unit in found) == {
        ("A", "B"): 1,
        ("A", "D"): 1,
        ("A", "E"): 2,
        ("B", "D"): 1,
        ("B", "E"): 2,
        ("D", "E"): 1,
        ("E", "D"): 1,
        ("E", "E"): 1,
    }


def test_wrong_images_are_those_that_people_said_no_to() -> None:
    found = asked(units(Given(finished=matched(1, right=5, wrong=7))))
    shown = {
        image for unit in found for output in unit.payload["outputs"] for image in output["images"]
    }
    assert shown <= set(range(1000, 1012))
    assert not units(Given(finished=matched(1, right=5, wrong=4)))


def test_wrong_images_come_from_the_whole_corpus_where_that_is_set() -> None:
    corpus = [CorpusImage(pk, 1, 1, {}, ()) for pk in range(1000, 1030)]
    given = Given(finished=matched(1, right=5, wrong=0), corpus=corpus)
    found = units(given, wrong_from_corpus=True)
    (worst,) = (unit for unit in found if systems(unit) == ("E", "E"))
    images = worst.payload["outputs"][0]["images"]
    assert len(set(images)) == 5
    assert not any(is_right(image, 5) for image in images)


@pytest.mark.parametrize(
    ("own", "said_no", "counts"), [(True, False, True), (False, False, False), (True, True, False)]
)
def test_a_caption_s_own_image_is_a_positive_unless_people_said_no(
    own: bool, said_no: bool, counts: bool
) -> None:
    finished = matched(1, right=4, wrong=6)
    if said_no:
        finished.append(pair(1, 1999, positive=False))
    corpus = [CorpusImage(1999, 1, 1, {1: "A cat."}, ())]
    found = units(Given(finished=finished, corpus=corpus), originals_are_positive=own)
    assert bool(found) == counts


def test_captions_set_aside_give_golds_of_the_best_against_the_worst() -> None:
    finished = [unit for caption in range(1, 11) for unit in matched(caption, 6, 6)]
    found = units(Given(finished=finished), captions=5, gold_captions=4)
    golds = [unit for unit in found if unit.gold is not None]
    assert [(systems(unit), unit.gold) for unit in golds] == [(("A", "E"), {"chosen": "A"})] * 2
    assert len(asked(found)) == 50
    assert not {unit.payload["caption"] for unit in golds} & {
        unit.payload["caption"] for unit in asked(found)
    }


def test_the_same_seed_draws_the_same_captions_and_rankings() -> None:
    finished = [unit for caption in range(1, 11) for unit in matched(caption, 6, 8)]
    given = Given(finished=finished)
    assert units(given, seed=1, captions=3) == units(given, seed=1, captions=3)
    assert units(given, seed=1, captions=3) != units(given, seed=2, captions=3)


def test_what_was_drawn_for_a_caption_stays_when_more_captions_are_finished() -> None:
    finished = [unit for caption in range(1, 11) for unit in matched(caption, 6, 8)]
    before = units(Given(finished=finished[: 6 * 14]), captions=0, gold_captions=0)
    after = units(Given(finished=finished), captions=0, gold_captions=0)
    assert len(before) == 60
    assert {unit.key: unit for unit in before}.items() <= {unit.key: unit for unit in after}.items()


# Pages and answers


def test_a_page_has_forty_questions() -> None:
    assert PREFERENCE.composition(DEFAULTS) == {"unit": 39, "gold": 1}


def test_sides_change_with_every_turn() -> None:
    arranged = [PREFERENCE.arrange(PAIR, turn, Random(0)) for turn in range(4)]
    assert arranged == [{"left": "A", "right": "E"}, {"left": "E", "right": "A"}] * 2


@pytest.mark.parametrize("left", ["A", "E"])
def test_what_is_stored_is_the_system_whatever_its_side(left: str) -> None:
    right = "E" if left == "A" else "A"
    shown = {"left": left, "right": right}
    assert PREFERENCE.parse({"choice": ["left"]}, PAIR, shown, DEFAULTS) == {"chosen": left}
    assert PREFERENCE.parse({"choice": ["right"]}, PAIR, shown, DEFAULTS) == {"chosen": right}


def test_a_page_shows_each_list_on_its_side_and_names_no_system() -> None:
    shown = PREFERENCE.show(PAIR, {"left": "E", "right": "A"}, ITEMS)
    urls = [[image.url for image in side["images"]] for side in shown["sides"]]
    assert urls == [["/images/3", "/images/4"], ["/images/1", "/images/2"]]
    assert shown["caption"] == "A cat."
    assert [set(side) for side in shown["sides"]] == [{"side", "images"}] * 2


def test_a_side_means_nothing_without_what_was_shown() -> None:
    with pytest.raises(LookupError):
        PREFERENCE.parse({"choice": ["left"]}, PAIR, None, DEFAULTS)


@pytest.mark.parametrize("sent", [[], ["A"], ["tie"], [""], ["1"]])
def test_there_are_two_answers_unless_ties_are_allowed(sent: list[str]) -> None:
    with pytest.raises(FieldErrors) as wrong:
        PREFERENCE.parse({"choice": sent}, PAIR, None, DEFAULTS)
    assert set(wrong.value.errors) == {"choice"}


def test_ties_are_a_setting() -> None:
    allowed = Settings(ties=True)
    assert PREFERENCE.parse({"choice": ["tie"]}, PAIR, None, allowed) == {"chosen": "tie"}
    wording = PREFERENCE.wording_model()
    assert len(PREFERENCE.form(allowed, wording)["choices"]) == 3
    assert len(PREFERENCE.form(DEFAULTS, wording)["choices"]) == 2


def test_most_people_s_choice_holds_and_equal_numbers_decide_nothing() -> None:
    chosen = [{"chosen": name} for name in "AAE"]
    assert PREFERENCE.aggregate(chosen).label == "A"
    assert PREFERENCE.aggregate(chosen).distribution == {"A": 2, "E": 1}
    assert PREFERENCE.aggregate([*chosen, {"chosen": "E"}]).label == "undecided"


# Export


def answered(seed: int = 0) -> list[JudgedUnit]:
    """Three captions, one of them with five positives, eight people a question."""
    random = Random(seed)
    sizes = {1: 5, 2: 6, 3: 8}
    finished = [unit for caption, right in sizes.items() for unit in matched(caption, right, 8)]
    found = []
    for unit in asked(units(Given(finished=finished), gold_captions=0)):
        said = []
        for turn in range(8):
            shown = PREFERENCE.arrange(unit.payload, turn, random)
            choice = {"choice": [random.choice(["left", "left", "right", "tie"])]}
            answer = PREFERENCE.parse(choice, unit.payload, shown, Settings(ties=True))
            said.append((shown, answer))
        found.append(judged("preference", unit.payload, said, unit.key))
    return found


def exported(name: str, finished: list[JudgedUnit]) -> list[dict[str, str]]:
    text = "".join(PREFERENCE.export(Released(finished), DEFAULTS)[name])
    return list(csv.DictReader(text.splitlines()))


def test_every_answer_comes_back_from_the_release() -> None:
    finished = answered()
    rows = exported("preference.csv", finished)
    said = [
        (
            f"c{unit.payload['caption']}",
            *(output["system"] for output in unit.payload["outputs"]),
            (shown or {})["left"],
            (shown or {})["right"],
            answer["chosen"],
        )
        for unit in finished
        for shown, answer in zip(unit.shown, unit.answers, strict=True)
    ]
    names = ("caption_id", "system_1", "system_2", "left", "right", "chosen")
    assert [tuple(row[name] for name in names) for row in rows] == said
    assert len(rows) == 3 * 10 * 8


def test_the_win_matrix_is_that_of_the_released_answers() -> None:
    finished = answered()
    compared = comparisons_from(
        (
            row["left"],
            row["right"],
            None if row["chosen"] == "tie" else row["chosen"],
            0,
            row["caption_id"],
        )
        for row in exported("preference.csv", finished)
    )
    released = exported("win_matrix.csv", finished)
    assert [row["preferred"] for row in released] == list(compared.names) == list("ABCDE")
    matrix = np.array([[int(row[name]) for name in compared.names] for row in released])
    beside = ~np.eye(5, dtype=bool)
    np.testing.assert_array_equal(matrix[beside], win_matrix(compared)[beside])
    ties = sum(
        row["chosen"] == "tie" and row["left"] == row["right"]
        for row in exported("preference.csv", finished)
    )
    assert np.diag(matrix).tolist() == [0, 0, 0, 0, compared.of_a_system_with_itself - ties]


def test_texts_are_released_under_their_image() -> None:
    payload = {"image": 3, "outputs": [{"system": s, "text": s} for s in ("one", "two")]}
    said = [({"left": "two", "right": "one"}, {"chosen": "two"})]
    (row,) = exported("preference.csv", [judged("preference", payload, said)])
    assert (row["image_id"], row["caption_id"], row["chosen"]) == ("i3", "", "two")
