import json
from collections.abc import Iterable
from itertools import permutations
from random import Random
from typing import Any

import pytest
from pydantic import ValidationError

from hits.analysis.surveys import per_image_tau
from hits.protocol import FieldErrors, Protocol, protocol
from hits.protocols.importance import LETTERS, ObjectsRow, Settings, WordOf
from hits.protocols.relevance import RelevanceSettings
from hits.records import CorpusImage, ImageShown, Items, Json, JudgedUnit, Region, UnitDraft
from hits.sampling.objects import most_important
from tests.protocols.given import Given, Released
from tests.protocols.releasing import judged

PROMINENCE, RELEVANCE = protocol("prominence"), protocol("relevance")
BOTH = pytest.mark.parametrize("kind", [PROMINENCE, RELEVANCE], ids=lambda kind: kind.slug)


def payload(image: int = 1) -> Json:
    return {
        "image": image,
        "objects": [
            {"id": f"{image}{place}", "label": "cat", "box": [place * 100, 10, 80, 80]}
            for place in range(5)
        ],
        "overlap": 0.0,
    }


SHOWN = {"A": "14", "B": "13", "C": "12", "D": "11", "E": "10"}


def fields(ratings: Iterable[int], caption: str = "A row of cats") -> dict[str, list[str]]:
    rated = {letter: [str(each)] for letter, each in zip(LETTERS, ratings, strict=True)}
    return rated | {"caption": [caption]}


def settings_of(kind: Protocol[Any, Any]) -> Any:
    return kind.settings_model()


# Units


def region(pk: int, category: str, x: float, width: float = 50) -> Region:
    return Region(pk, category, x, 10, width, 50, width * 50, f"outside-{pk}")


CATS = CorpusImage(
    1, 640, 480, {1: "Two cats and a dog.", 2: "A cat beside a dog."},
    (
        region(1, "cat", 0), region(2, "cat", 100), region(3, "dog", 200), region(4, "vase", 210),
        region(5, "vase", 205), region(6, "clock", 600),
    ),
)  # fmt: skip


def units(given: Given, kind: Protocol[Any, Any] = PROMINENCE, **values: Any) -> list[UnitDraft]:
    return list(kind.units(given, kind.settings_model(**values), Random(0)))


@BOTH
def test_the_five_most_important_objects_of_an_image_are_asked_about(
    kind: Protocol[Any, Any],
) -> None:
    (unit,) = units(Given(corpus=[CATS]), kind)
    objects = {each["id"]: each for each in unit.payload["objects"]}
    assert set(objects) == {f"outside-{pk}" for pk in (1, 2, 3, 4, 5)}
    assert objects["outside-3"] == {
        "id": "outside-3",
        "label": "dog",
        "box": [200, 10, 50, 50],
    }


@pytest.mark.parametrize(
    "image",
    [
        CATS._replace(regions=CATS.regions[:4]),
        CATS._replace(captions={}),
        CATS._replace(captions={1: "A sunny day."}),
    ],
)
def test_an_image_with_too_few_objects_or_none_that_is_named_is_left_out(
    image: CorpusImage,
) -> None:
    assert not units(Given(corpus=[image]))


def test_objects_are_as_far_apart_as_their_outlines() -> None:
    """The clock's box reaches to the cat; what is in the box is only its far corner. So the vase
    beside the cat gets more of the cat's importance."""
    far = (95.0, 55.0, 100.0, 55.0, 100.0, 60.0)
    image = CorpusImage(
        1, 640, 480, {1: "A cat."},
        (region(1, "cat", 0), region(2, "vase", 60), region(3, "clock", 52)),
    )  # fmt: skip
    outlined = image._replace(
        regions=(*image.regions[:2], image.regions[2]._replace(outline=[far]))
    )

    assert [each.category for each in most_important(image, {}, 3)] == ["cat", "clock", "vase"]
    assert [each.category for each in most_important(outlined, {}, 3)] == ["cat", "vase", "clock"]


def test_words_that_a_researcher_adds_name_objects() -> None:
    image = CATS._replace(captions={1: "A moggy."})
    words = [WordOf(word="Moggy", category="cat")]
    assert len(units(Given(corpus=[image]), words=words)) == 1


def test_so_many_images_are_drawn_as_are_set() -> None:
    corpus = [CATS._replace(id=pk) for pk in range(1, 11)]
    assert len(units(Given(corpus=corpus), images=3)) == 3
    assert len(units(Given(corpus=corpus), images=30)) == 10


def test_how_much_boxes_overlap_is_kept_and_too_much_can_be_left_out() -> None:
    (unit,) = units(Given(corpus=[CATS]))
    assert unit.payload["overlap"] == 0.9
    assert not units(Given(corpus=[CATS]), most_overlap=0.8)


def test_rows_say_which_images_are_asked_about_and_golds_alone_do_not() -> None:
    row = {"image": 9, "objects": payload(9)["objects"]}
    (unit,) = units(Given(corpus=[CATS], uploaded=[row]))
    assert (unit.payload["image"], unit.pool) == (9, "unit")
    golds = [{**row, "gold": {"90": [3]}}]
    found = units(Given(corpus=[CATS], uploaded=golds))
    assert [(unit.payload["image"], unit.gold) for unit in found] == [
        (9, {"right": {"90": [3]}}),
        (1, None),
    ]


def test_the_second_survey_asks_about_the_objects_of_the_first() -> None:
    answer = {"ratings": {each["id"]: 2 for each in payload(9)["objects"]}}
    finished = judged("prominence", payload(9), [(None, answer)])
    (unit,) = units(Given(corpus=[CATS], finished=[finished]), RELEVANCE)
    assert unit.payload == payload(9)


@pytest.mark.parametrize(
    "change",
    [
        {"objects": payload()["objects"][:4]},
        {"objects": [*payload()["objects"][:4], payload()["objects"][0]]},
        {"objects": [{**each, "box": [0, 0, 0, 5]} for each in payload()["objects"]]},
        {"gold": {"99": [3]}},
        {"gold": {"10": [4]}},
        {"gold": {"10": []}},
        {"gold": {}},
    ],
)
def test_a_row_that_cannot_be_asked_about_is_refused(change: Json) -> None:
    row = {"image": "1", "objects": payload()["objects"]}
    assert ObjectsRow.model_validate(row)
    with pytest.raises(ValidationError):
        ObjectsRow.model_validate(row | change)


# Pages and answers


def test_letters_are_by_chance_and_the_same_in_both_surveys() -> None:
    orders = set()
    for image in range(1, 60):
        first = PROMINENCE.arrange(payload(image), 0, Random(1))
        assert first == RELEVANCE.arrange(payload(image), 1, Random(2))
        assert list(first or {}) == list(LETTERS)
        orders.add(tuple(each[-1] for each in (first or {}).values()))
    assert len(orders) > 30
    assert orders <= set(permutations("01234"))


@BOTH
def test_a_rating_is_stored_by_its_object(kind: Protocol[Any, Any]) -> None:
    answer = kind.parse(fields([3, 2, 1, 1, 2]), payload(), SHOWN, settings_of(kind))
    assert answer["ratings"] == {"14": 3, "13": 2, "12": 1, "11": 1, "10": 2}


@BOTH
def test_letters_mean_nothing_without_what_was_shown(kind: Protocol[Any, Any]) -> None:
    with pytest.raises(LookupError):
        kind.parse(fields([3, 2, 1, 1, 2]), payload(), None, settings_of(kind))


@BOTH
def test_every_object_needs_a_rating(kind: Protocol[Any, Any]) -> None:
    sent = fields([3, 2, 1, 1, 2]) | {"B": ["4"], "D": []}
    with pytest.raises(FieldErrors) as wrong:
        kind.parse(sent, payload(), SHOWN, settings_of(kind))
    assert wrong.value.errors == {"B": "Rate object B.", "D": "Rate object D."}


@pytest.mark.parametrize("caption", ["", "  \n ", "Cats", "x" * 300 + " " + "x" * 300])
def test_a_caption_must_be_written(caption: str) -> None:
    with pytest.raises(FieldErrors) as wrong:
        RELEVANCE.parse(fields([1] * 5, caption), payload(), SHOWN, RelevanceSettings())
    assert set(wrong.value.errors) == {"caption"}


def test_a_caption_is_stored_with_the_ratings() -> None:
    sent = fields([1] * 5, "  A row \n of cats ")
    answer = RELEVANCE.parse(sent, payload(), SHOWN, RelevanceSettings())
    assert answer["caption"] == "A row of cats"
    assert RELEVANCE.row(answer)[1] == "A row of cats"


def test_a_page_has_letters_in_boxes_and_names_no_object() -> None:
    items = Items(images={1: ImageShown("/images/1", 640, 480)}, captions={})
    shown = PROMINENCE.show(payload(), SHOWN, items)
    assert set(shown) == {"image", "marks"}
    assert [mark.label for mark in shown["marks"]] == list(LETTERS)
    assert [mark.box.x for mark in shown["marks"]] == [400, 300, 200, 100, 0]


def test_a_gold_wants_right_ratings_of_the_objects_it_names() -> None:
    gold = {"right": {"10": [2, 3], "11": [1]}}
    ratings = {"10": 3, "11": 1, "12": 1, "13": 1, "14": 1}
    assert PROMINENCE.check({"ratings": ratings}, gold)
    assert not PROMINENCE.check({"ratings": ratings | {"10": 1}}, gold)
    assert PROMINENCE.describe(gold, PROMINENCE.wording_model()) == (
        "10: Somewhat prominent or Very prominent, 11: Not prominent"
    )


def test_objects_are_called_as_they_were_seen() -> None:
    words = RELEVANCE.wording_model()
    ratings = dict(zip(("10", "11", "12", "13", "14"), (3, 1, 2, 2, 1), strict=True))
    answer = RELEVANCE.named({"caption": "Cats.", "ratings": ratings}, payload(), SHOWN)
    assert list(answer["ratings"]) == ["E cat", "D cat", "C cat", "B cat", "A cat"]
    assert RELEVANCE.describe(answer, words) == (
        "A cat: Not relevant, B cat: Somewhat relevant, C cat: Somewhat relevant, "
        "D cat: Not relevant, E cat: Very relevant · “Cats.”"
    )
    gold = RELEVANCE.named({"right": {"11": [1]}}, payload(), SHOWN)
    assert RELEVANCE.describe(gold, words) == "D cat: Not relevant"
    unseen = RELEVANCE.named({"right": {"11": [1]}}, payload(), None)
    (name,) = unseen["right"]
    lettered = RELEVANCE.arrange(payload(), 0, Random()) or {}
    assert lettered[name[0]] == "11"


def test_the_aggregate_is_the_middle_rating_of_each_object() -> None:
    given = [dict(zip("abcde", each, strict=True)) for each in ([3, 1, 2, 2, 1], [3, 2, 2, 1, 1])]
    found = PROMINENCE.aggregate([{"ratings": each} for each in [*given, given[0]]])
    assert (found.label, found.distribution) == ("31221", {"31221": 2, "32211": 1})
    assert found.value == pytest.approx(27 / 15)


# Export


def surveyed(kind: Protocol[Any, Any], seed: int) -> list[JudgedUnit]:
    random = Random(seed)
    found = []
    for image in range(1, 21):
        shown = kind.arrange(payload(image), 0, random)
        sent = fields([random.choice([1, 2, 3]) for _ in LETTERS])
        answer = kind.parse(sent, payload(image), shown, settings_of(kind))
        found.append(judged(kind.slug, payload(image), [(shown, answer)]))
    return found


def exported(kind: Protocol[Any, Any], finished: list[JudgedUnit], name: str) -> dict[str, Any]:
    files = kind.export(Released(finished), settings_of(kind))
    read: dict[str, Any] = json.loads("".join(files[name]))
    return read


@BOTH
def test_every_rating_comes_back_from_the_release_by_its_object(kind: Protocol[Any, Any]) -> None:
    finished = surveyed(kind, 1)
    part = "Prominence" if kind is PROMINENCE else "Caption"
    responses = exported(kind, finished, "AMT_responses.json")
    keys = exported(kind, finished, "AMT_keys.json")
    assert list(responses) == list(keys) == [part]
    for unit, response, key in zip(finished, responses[part], keys[part], strict=True):
        assert response["image_id"] == key["image_id"] == unit.images[0].id
        assert set(response) == {"image_id", "description"}
        read = {
            key[letter]["id"]: int(digit)
            for letter, digit in zip(LETTERS, response["description"], strict=True)
        }
        assert read == unit.answers[0]["ratings"]


def test_the_analysis_of_surveys_reads_the_release_of_both() -> None:
    first, second = surveyed(PROMINENCE, 1), surveyed(RELEVANCE, 2)
    responses = exported(PROMINENCE, first, "AMT_responses.json")
    responses |= exported(RELEVANCE, second, "AMT_responses.json")
    read = {
        survey: {row["image_id"]: [int(digit) for digit in row["description"]] for row in rows}
        for survey, rows in responses.items()
    }
    by_object = {
        survey: {
            unit.images[0].id: [unit.answers[0]["ratings"][each] for each in sorted(_ids(unit))]
            for unit in finished
        }
        for survey, finished in (("Prominence", first), ("Caption", second))
    }
    found = per_image_tau(read["Prominence"], read["Caption"])
    known = per_image_tau(by_object["Prominence"], by_object["Caption"])
    assert found.images == known.images
    assert found.mean == pytest.approx(known.mean)


def _ids(unit: JudgedUnit) -> list[str]:
    return [each["id"] for each in unit.payload["objects"]]


def test_a_release_without_answers_has_an_empty_part() -> None:
    assert exported(PROMINENCE, [], "AMT_responses.json") == {"Prominence": []}


def test_settings_work_as_they_come() -> None:
    assert PROMINENCE.composition(Settings()) == {"unit": 5, "gold": 1}
