"""A file that goes straight into an empty corpus, and what sends it the long way."""

import json
from pathlib import Path
from typing import Any

import pytest

from hits.models import Caption, Corpus, Image
from hits.pipeline import fresh
from hits.pipeline.load import LoadReport, refusals
from tests.importers.files import run, write

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fresh, "BATCH", 4)


def loaded(corpus: Corpus, folder: Path, rows: list[dict[str, Any]]) -> LoadReport:
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    return run(corpus, write(folder / "rows.jsonl", lines))


def rows_of(images: int, captions_each: int = 1) -> list[dict[str, Any]]:
    return [
        {"image_id": n, "caption_id": n * 10 + k, "caption": f"Caption {k} of {n}.", "split": "val"}
        for n in range(1, images + 1)
        for k in range(captions_each)
    ]


def pairs() -> list[tuple[str, str]]:
    found = Caption.objects.order_by("pk").values_list("image__external_id", "external_id")
    return list(found)


def test_rows_of_one_image_make_one_image_with_all_their_captions(
    corpus: Corpus, tmp_path: Path
) -> None:
    report = loaded(corpus, tmp_path, rows_of(7, captions_each=3))
    assert (report.images.added, report.captions.added, report.refused) == (7, 21, 0)
    assert pairs() == [(str(n), str(n * 10 + k)) for n in range(1, 8) for k in range(3)]


def test_every_row_of_many_batches_is_stored_under_its_image(
    corpus: Corpus, tmp_path: Path
) -> None:
    loaded(corpus, tmp_path, rows_of(30))
    assert pairs() == [(str(n), str(n * 10)) for n in range(1, 31)]
    assert Image.objects.filter(corpus=corpus, split="val").count() == 30


def test_an_id_that_comes_back_late_is_compared_and_the_first_is_kept(
    corpus: Corpus, tmp_path: Path
) -> None:
    rows = [*rows_of(20), {"image_id": 21, "caption_id": 10, "caption": "Another text."}]
    report = loaded(corpus, tmp_path, rows)
    assert (report.images.added, report.captions.added, report.refused) == (21, 20, 1)
    (refusal,) = refusals(report.refusals)
    assert (refusal["place"], refusal["reason"]) == ("line 21", "conflict")
    assert Caption.objects.get(external_id="10").text == "Caption 0 of 1."


def test_an_image_that_comes_back_late_is_the_same_image(corpus: Corpus, tmp_path: Path) -> None:
    rows = [*rows_of(20), {"image_id": 1, "caption_id": 11, "caption": "Another text."}]
    report = loaded(corpus, tmp_path, rows)
    assert (report.images.added, report.captions.added, report.refused) == (20, 21, 0)
    assert sorted(pairs())[:2] == [("1", "10"), ("1", "11")]


def test_refused_lines_are_in_the_report_once_and_the_others_are_stored(
    corpus: Corpus, tmp_path: Path
) -> None:
    bad = {"image_id": 90, "caption_id": 9, "caption": " "}
    report = loaded(corpus, tmp_path, [*rows_of(9), bad, *rows_of(20)[9:]])
    assert (report.captions.added, report.refused) == (20, 1)
    assert [refusal["place"] for refusal in refusals(report.refusals)] == ["line 10"]


def test_a_file_with_late_surprises_reports_its_refused_lines_once(
    corpus: Corpus, tmp_path: Path
) -> None:
    bad = {"image_id": 90, "caption_id": 9, "caption": " "}
    report = loaded(corpus, tmp_path, [bad, *rows_of(20), rows_of(1)[0]])
    assert (report.captions.added, report.refused) == (20, 1)


def test_a_second_import_of_the_file_changes_nothing(corpus: Corpus, tmp_path: Path) -> None:
    loaded(corpus, tmp_path, rows_of(20))
    report = loaded(corpus, tmp_path, rows_of(20))
    assert not report.changed_anything
    assert (report.images.unchanged, report.captions.unchanged) == (20, 20)


def test_a_tab_and_a_backslash_in_a_caption_are_kept(corpus: Corpus, tmp_path: Path) -> None:
    text = "A\tcup\\N of\r\ntea ☕"
    loaded(corpus, tmp_path, [{"image_id": "a\tb", "caption_id": 1, "caption": text}])
    assert Caption.objects.get().text == text
    assert Image.objects.get().external_id == "a\tb"


def test_an_id_of_thirty_digits_is_kept_to_the_last(corpus: Corpus, tmp_path: Path) -> None:
    number = 123456789012345678901234567890
    loaded(corpus, tmp_path, [{"image_id": number, "caption_id": 1, "caption": "A cup."}])
    assert pairs() == [(str(number), "1")]
