"""Uploaded rows: what of a file is taken, what is refused and why."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from hits.models import Caption, Image, Study, StudyRow, Unit
from hits.pipeline.errors import Closed, Refused
from hits.pipeline.load import refusals
from hits.pipeline.open import add_units, create_study, open_study
from hits.pipeline.rows import import_rows, remove_rows
from tests import making

pytestmark = pytest.mark.django_db


@pytest.fixture
def study() -> Study:
    corpus = making.corpus(images=6)
    return create_study(
        slug="pairs", name="Pairs", corpus=corpus, protocol_slug="matching", by=corpus.owner
    )


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "rows.csv"


def bring(study: Study, file: Path, text: str) -> dict[str, Any]:
    file.write_text(text)
    return import_rows(study=study, source=str(file))


def stored(study: Study) -> list[dict[str, Any]]:
    return list(study.rows.order_by("number").values_list("content", flat=True))


def here(study: Study, image: str, caption: str) -> dict[str, int]:
    return {
        "image": Image.objects.get(corpus=study.corpus, external_id=image).pk,
        "caption": Caption.objects.get(corpus=study.corpus, external_id=caption).pk,
    }


def test_rows_are_kept_in_order_with_ids_of_this_place(study: Study, file: Path) -> None:
    came = bring(study, file, "image,caption\n2,10\n1,21\n")
    assert (came["added"], came["refused"]) == (2, 0)
    assert stored(study) == [
        here(study, "2", "10") | {"gold": None, "explanation": ""},
        here(study, "1", "21") | {"gold": None, "explanation": ""},
    ]


def test_rows_of_a_draft_are_taken_back_and_those_of_units_are_not(
    study: Study, file: Path
) -> None:
    bring(study, file, "image,caption\n2,10\n1,21\n")
    assert remove_rows(study=study) == 2
    bring(study, file, "image,caption\n1,21\n")
    open_study(study=study)
    with pytest.raises(Closed, match="made of the rows"):
        remove_rows(study=study)
    assert study.rows.count() == 1


def test_what_makes_no_unit_is_told(study: Study, file: Path) -> None:
    bring(study, file, "image,caption,gold\n2,10,\n2,10,yes\n1,21,\n")
    Image.objects.filter(external_id="1").update(blob=None)
    left_out: Counter[str] = Counter()
    assert open_study(study=study, left_out=left_out) == {"candidate": 1}
    assert left_out == {
        "an image has no file": 1, "the same was given before, as a unit or as a gold": 1,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("protocol", "row"),
    [
        ("detectors", {"systems": {
            "a": [{"label": "cup", "box": [0, 0, 5, 5], "score": float("nan")}],
            "b": [{"label": "cup", "box": [0, 0, 5, 5], "score": 1}]}}),
        ("prominence", {"objects": [
            {"id": str(n), "label": "cup", "box": [float("inf"), 0, 5, 5]} for n in range(5)]}),
    ],
)  # fmt: skip
def test_numbers_that_are_none_are_refused(
    study: Study, tmp_path: Path, protocol: str, row: dict[str, Any]
) -> None:
    Study.objects.filter(pk=study.pk).update(protocol=protocol)
    study.refresh_from_db()
    came = bring(study, tmp_path / "rows.jsonl", json.dumps({"image": "1", **row}))
    assert (came["added"], came["refused"]) == (0, 1)
    assert "must be a number" in came["first_refusals"][0]["detail"]


def test_json_lines_say_the_same_as_a_table(study: Study, file: Path, tmp_path: Path) -> None:
    bring(study, file, "image,caption\n2,10\n")
    lines = [json.dumps({"image": 2, "caption": "10"}), json.dumps({"image": "1", "caption": 10})]
    came = bring(study, tmp_path / "rows.jsonl", "\n".join(lines))
    assert (came["added"], came["there"]) == (1, 1)


def test_the_same_file_again_adds_nothing(study: Study, file: Path) -> None:
    text = "image,caption\n2,10\n1,21\n2,10\n"
    assert bring(study, file, text)["added"] == 2
    assert bring(study, file, text)["added"] == 0
    more = bring(study, file, text + "3,30\n")
    assert (more["added"], more["there"]) == (1, 3)
    assert list(study.rows.order_by("number").values_list("number", flat=True)) == [1, 2, 3]


def test_wrong_lines_are_reported_by_number_and_the_others_are_taken(
    study: Study, file: Path
) -> None:
    came = bring(
        study, file, "image,caption,gold\n1,10,\n99,10,\n2,20,maybe\n3,\n4,40,no\n5,x\0,\n"
    )
    assert (came["added"], came["refused"]) == (2, 4)
    told = [(line["place"], line["reason"]) for line in refusals(came["refusals"])]
    assert sorted(told) == [
        ("line 3", "no-image"),
        ("line 4", "not-a-row"),
        ("line 5", "not-csv"),
        ("line 7", "not-text"),
    ]


def test_a_field_that_no_row_has_is_named(study: Study, file: Path) -> None:
    came = bring(study, file, "image,caption,colour\n1,10,red\n")
    assert "colour" in came["first_refusals"][0]["detail"]


def test_images_of_another_corpus_are_not_found(study: Study, file: Path) -> None:
    Image.objects.create(corpus=making.corpus(images=1), external_id="elsewhere")
    assert bring(study, file, "image,caption\nelsewhere,10\n")["reasons"] == {"no-image": 1}


def test_a_study_is_opened_from_its_rows(study: Study, file: Path) -> None:
    bring(study, file, "image,caption,gold\n1,20,\n1,30,\n1,10,yes\n2,10,no\n")
    made = open_study(study=study)
    assert made == {"candidate": 2, "true_negative": 1, "true_positive": 1}
    assert Unit.objects.get(pool="true_positive").gold == {"positive": True}


def test_rows_that_come_later_become_units_of_an_open_study(study: Study, file: Path) -> None:
    bring(study, file, "image,caption\n1,20\n")
    open_study(study=study)
    bring(study, file, "image,caption\n1,20\n1,30\n")
    assert add_units(study=study) == {"candidate": 1}


def test_a_closed_study_takes_no_rows(study: Study, file: Path) -> None:
    bring(study, file, "image,caption\n1,20\n")
    Study.objects.update(state="closed")
    study.refresh_from_db()
    with pytest.raises(Closed):
        bring(study, file, "image,caption\n1,30\n")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("rows.csv", "image;caption\n1;2\n"),
        ("rows.csv", "image,image\n1,2\n"),
        ("rows.txt", "image,caption\n"),
    ],
)
def test_a_file_that_cannot_be_read_as_a_whole_is_refused(
    name: str, text: str, study: Study, tmp_path: Path
) -> None:
    with pytest.raises(Refused):
        bring(study, tmp_path / name, text)
    assert not StudyRow.objects.exists()


BOX = [2, 2, 20, 20]
BESIDE = [64, 0, 5, 5]
FIVE = [{"id": str(place), "label": "cup", "box": BOX} for place in range(5)]
SEEN = [{"label": "cup", "box": BOX, "score": 0.9}]


@pytest.mark.parametrize(
    ("slug", "rows", "why"),
    [
        (
            "bison_images",
            [
                {"positive": "1", "negative": "2", "caption": "21"},
                {"positive": "1", "negative": "2", "caption": "21", "gold": "positive"},
                {"positive": "1", "negative": "2", "caption": "21", "gold": "negative"},
                {"positive": "1", "negative": "2", "caption": "11"},
            ],
            "The caption belongs to another image than the positive one.",
        ),
        (
            "prominence",
            [
                {"image": "1", "objects": [*FIVE[:4], {**FIVE[4], "box": BESIDE}]},
                {"image": "1", "objects": [*FIVE[:4], {**FIVE[4], "box": [-9, -9, 9, 30]}]},
                {"image": "1", "objects": [*FIVE[:4], {**FIVE[4], "box": [-9, -9, 10, 30]}]},
                {"image": "2", "objects": FIVE},
            ],
            "The box of “cup” lies outside the image, which is 64 pixels wide and 48 high.",
        ),
        (
            "detectors",
            [
                {"image": "1", "systems": {"a": SEEN, "b": [{**SEEN[0], "box": BESIDE}]}},
                {"image": "1", "systems": {"a": [{**SEEN[0], "box": [0, 48, 9, 9]}], "b": SEEN}},
                {"image": "1", "systems": {"a": SEEN, "b": []}},
                {"image": "2", "systems": {"a": SEEN, "b": SEEN}},
            ],
            "The box of “cup” lies outside the image, which is 64 pixels wide and 48 high.",
        ),
    ],
)
def test_rows_that_do_not_fit_the_items_that_they_name_are_refused(
    tmp_path: Path, slug: str, rows: list[dict[str, Any]], why: str
) -> None:
    corpus = making.corpus(images=2)
    study = create_study(
        slug="unfit", name="Unfit", corpus=corpus, protocol_slug=slug, by=corpus.owner
    )
    came = bring(study, tmp_path / "rows.jsonl", "\n".join(map(json.dumps, rows)))
    assert (came["added"], came["reasons"]) == (2, {"does-not-fit": 2})
    assert [each["place"] for each in came["first_refusals"]] == ["line 1", "line 2"]
    assert {each["detail"] for each in came["first_refusals"]} == {why}
