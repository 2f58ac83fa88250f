import math

import pytest

from hits.analysis.errors import DegenerateInput
from hits.analysis.signals.reading import Judged, read
from hits.analysis.signals.rules import Rules
from hits.analysis.signals.settings import QualitySettings
from hits.protocol import protocol
from hits.records import Json, Option, Tallied
from hits.sides import place_of

CHOICE = Tallied("choice", "Which?", [Option("yes", "Yes", ""), Option("no", "No", "")])
RATINGS = Tallied("ratings", "How?", [Option("1", "not", ""), Option("2", "very", "")])


def judged(answer: Json, **values: object) -> Judged:
    usual = {
        "unit": "u", "person": 7, "page": 70, "position": 1, "shown": None, "seconds": 2.0,
        "device": "", "passed": None, "confirmed": None, "place": None,
    }  # fmt: skip
    return Judged(answer=answer, **usual | values)  # type: ignore[arg-type]


def test_pages_and_people_are_codes_that_lead_back_to_them() -> None:
    rows = [
        judged({"choice": "yes"}, person=9, page=90),
        judged({"choice": "no"}, person=7, page=70, seconds=None, device="touch"),
    ]
    found = read(rows, [CHOICE], compares=False, places=0)
    assert (found.people, found.pages) == ([9, 7], [90, 70])
    assert found.work.values.tolist() == [0, 1]
    assert math.isnan(found.work.seconds[1])
    assert found.work.devices.tolist() == [0, 1]


def test_an_answer_about_several_things_is_a_judgment_of_each_and_one_gold() -> None:
    ratings = {"ratings": {"A": 1, "B": 2}}
    found = read([judged(ratings)], [RATINGS], compares=False, places=0).work
    assert len(found.values) == 2
    assert found.seconds[0] == 2
    assert math.isnan(found.seconds[1])
    gold = read([judged(ratings, passed=False)], [RATINGS], compares=False, places=0).work
    assert gold.golds.tolist() == [0]


def test_two_systems_are_compared_by_neutral_names_and_their_sides_are_known() -> None:
    sides = [{"left": "A", "right": "B"}, {"left": "B", "right": "A"}, {"left": "A", "right": "A"}]
    rows = [
        judged({"chosen": "A"}, shown=shown, place=place_of({"chosen": "A"}, shown))
        for shown in sides
    ]
    found = read(rows, [], compares=True, places=2).work
    assert len(set(found.values.tolist())) == 1
    assert found.sides.tolist() == [0, 1]
    assert place_of({"chosen": "tie"}, sides[0]) is None


def test_nothing_judged_is_said_so() -> None:
    with pytest.raises(DegenerateInput, match="Nothing has been judged yet"):
        read([], [CHOICE], compares=False, places=0)


def test_settings_left_alone_are_the_usual_rules() -> None:
    assert QualitySettings().rules == Rules()
    assert QualitySettings(page_golds=0).rules.page_golds is None


def test_a_chosen_caption_is_asked_about_in_the_later_stage_under_its_key() -> None:
    stage = protocol("bison_captions")
    payload = {"positive": 1, "negative": 2, "captions": [5, 6], "texts": ["a", "b"]}
    assert stage.later_key(payload, {"choice": "caption", "caption": 6, "text": "b"}) == "6:1:2"
    assert stage.later_key(payload, {"choice": "none"}) is None


def test_the_place_of_a_chosen_image_is_where_it_stood() -> None:
    stage = protocol("bison_images")
    assert stage.place({"choice": "positive"}, {"first": "negative"}) == 1
    assert stage.place({"choice": "both"}, {"first": "negative"}) is None
