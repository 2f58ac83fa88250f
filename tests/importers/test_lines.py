"""Lines of CSV and JSON files, and what they say of judgments."""

import tracemalloc
from pathlib import Path

import pytest

from hits.importers.entries import opener
from hits.importers.judgments import Said, said
from hits.importers.lines import Line, read
from hits.importers.records import Bad, Refusal

ROW = {"image", "caption"}


def heard(**fields: object) -> Said:
    return said(Line(2, {"WorkerId": "W1", "Input.image": "1", **fields}), ROW)


def test_boxes_ticked_under_one_name_are_each_an_answer() -> None:
    assert heard(**{"Answer.reasons": "absent|wrong"}).form == {"reasons": ["absent", "wrong"]}


def test_boxes_of_true_and_false_are_those_that_are_true() -> None:
    boxes = {"Answer.choice.yes": "false", "Answer.choice.no": "TRUE"}
    assert heard(**boxes).form == {"choice": ["no"]}


def test_the_answers_of_the_newer_forms_are_read() -> None:
    answers = '[{"choice": {"yes": true, "no": false}, "other": "a hat", "score": 3.5}]'
    assert heard(**{"Answer.taskAnswers": answers}).form == {
        "choice": ["yes"],
        "other": ["a hat"],
        "score": ["3.5"],
    }


@pytest.mark.parametrize(
    "fields",
    [
        {"WorkerId": "W1", "Input.image": "1", "Answer.other": "[1] a | b"},
        {"WorkerId": "W1", "Input.image": "1", "Answer.taskAnswers": '[{"other": "[1] a | b"}]'},
        {"worker": "W1", "image": "1", "other": "[1] a | b"},
    ],
)
def test_what_somebody_wrote_is_one_answer_whatever_signs_are_in_it(fields: dict[str, str]) -> None:
    assert said(Line(2, fields), ROW, {"other"}).form == {"other": ["[1] a | b"]}


def test_a_page_of_a_batch_is_its_assignment() -> None:
    found = heard(AssignmentId="A1", HITId="H1", WorkTimeInSeconds="30")
    assert (found.worker, found.page, found.seconds, found.page_seconds) == ("W1", "A1", None, 30)


def test_what_a_batch_says_beside_is_no_answer() -> None:
    assert heard(Title="Pairs", Reward="$0.65", **{"Input.url": "https://x"}).form == {}


def test_a_name_that_means_two_things_is_told_apart() -> None:
    fields = {"worker": "a", "image": "1", "Input.caption": "2", "Answer.caption": "A hat."}
    found = said(Line(2, fields), ROW)
    assert (found.row, found.form) == ({"image": "1", "caption": "2"}, {"caption": ["A hat."]})


def test_beside_a_unit_every_field_is_of_the_answer() -> None:
    found = said(Line(2, {"worker": "a", "unit": "k", "caption": "A hat."}), ROW)
    assert (found.unit, found.row, found.form) == ("k", {}, {"caption": ["A hat."]})


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("2020-05-01T10:00:00Z", "2020-05-01T10:00:00+00:00"),
        ("2020-05-01 10:00", "2020-05-01T10:00:00+00:00"),
        ("Fri May 01 10:00:00 PDT 2020", "2020-05-01T10:00:00-07:00"),
    ],
)
def test_moments_are_read_as_files_write_them(given: str, kept: str) -> None:
    fields = {"worker": "a", "unit": "k", "submitted_at": given}
    assert said(Line(2, fields), ()).submitted_at == kept


def test_a_line_that_cannot_be_read_does_not_end_the_file(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    file.write_bytes(b"a,b\n1,2\n\xff,2\n1\n3,4\n")
    found = list(read(file.name, opener(file)))
    assert [each.reason if isinstance(each, Refusal) else each.fields for each in found] == [
        {"a": "1", "b": "2"}, "not-utf-8", "not-csv", {"a": "3", "b": "4"},
    ]  # fmt: skip


def test_a_file_of_another_kind_is_not_read(tmp_path: Path) -> None:
    with pytest.raises(Bad):
        read("a.xlsx", opener(tmp_path))


def test_memory_does_not_grow_with_the_number_of_lines(tmp_path: Path) -> None:
    peaks = []
    for count in (2_000, 20_000):
        file = tmp_path / f"{count}.csv"
        lines = (f"w{number},{number},1\n" for number in range(count))
        file.write_text("worker,unit,choice\n" + "".join(lines))
        tracemalloc.start()
        assert sum(1 for _ in read(file.name, opener(file))) == count
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < peaks[0] * 1.2
