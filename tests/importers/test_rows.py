import json
from typing import Any

import pytest

from hits.importers.lines import LONGEST_LINE
from hits.importers.records import Bad, CaptionRecord, ImageRecord
from tests.importers.files import read

HEADER = "image_id,file_name,caption_id,caption,split\n"


def csv(*lines: str) -> bytes:
    return (HEADER + "".join(line + "\n" for line in lines)).encode()


def test_a_row_is_an_image_and_a_caption() -> None:
    records, refusals = read("x.csv", csv('0042,a.jpg,7,"A cup, half full.",test'))
    assert records == [
        ImageRecord("line 2", "0042", "a.jpg", split="test"),
        CaptionRecord("line 2", "7", "0042", "A cup, half full."),
    ]
    assert refusals == []


def test_json_lines_hold_the_same_as_csv() -> None:
    row = {"image_id": "0042", "file_name": "a.jpg", "caption_id": 7, "split": "test"}
    in_lines = read("x.jsonl", json.dumps(row | {"caption": "A cup."}).encode())
    in_csv = read("x.csv", csv("0042,a.jpg,7,A cup.,test"))
    assert [r.external_id for r in in_lines[0]] == [r.external_id for r in in_csv[0]]
    assert in_lines[0][1] == CaptionRecord("line 1", "7", "0042", "A cup.")


def test_a_row_without_a_caption_is_an_image_without_captions() -> None:
    records, _ = read("x.csv", csv("1,a.jpg,,,"))
    assert records == [ImageRecord("line 2", "1", "a.jpg")]
    records, _ = read("x.jsonl", b'{"image_id": 1, "caption": null}')
    assert records == [ImageRecord("line 1", "1")]


def test_a_line_that_is_not_json_is_refused_alone() -> None:
    lines = [b'{"image_id": 1}', b'{"image_id": 2,', b"", b"[3]", b"\xff", b'{"image_id": 4}']
    records, refusals = read("x.jsonl", b"\n".join(lines))
    assert [record.external_id for record in records] == ["1", "4"]
    assert [(r.place, r.reason) for r in refusals] == [
        ("line 2", "not-json"),
        ("line 4", "not-an-object"),
        ("line 5", "not-utf-8"),
    ]


@pytest.mark.parametrize("line", [b"[" * 500_000, b"1" * 5_000, b'{"image_id": NaN}'])
def test_a_hostile_line_is_refused_alone(line: bytes) -> None:
    records, (refusal,) = read("x.jsonl", line + b'\n{"image_id": 4}')
    assert refusal.place == "line 1"
    assert [record.external_id for record in records] == ["4"]


def test_a_line_too_long_for_memory_is_refused_alone() -> None:
    long = b'{"image_id": "' + b"x" * (3 * LONGEST_LINE) + b'"}\n'
    records, (refusal,) = read("x.jsonl", long + b'{"image_id": 4}')
    assert (refusal.place, refusal.reason) == ("line 1", "long-line")
    assert [record.external_id for record in records] == ["4"]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("1,a.jpg,7", "not-csv"),
        ("1,a.jpg,7,A cup.,test,more", "not-csv"),
        ('1,a.jpg,7,"A "cup",test', "not-csv"),
        (",a.jpg,7,A cup.,test", "no-id"),
        ("1,a.jpg,,A cup.,test", "no-id"),
        ("1,a.jpg,7,,test", "empty"),
        ("1,a.jpg,7,a\0b,test", "not-text"),
        (f"1,a.jpg,7,{'x' * 5001},test", "too-long"),
        (f"1,a.jpg,7,{'x' * 200_000},test", "not-csv"),
    ],
)
def test_a_bad_row_is_refused_alone(line: str, reason: str) -> None:
    records, (refusal,) = read("x.csv", csv(line, "2,b.jpg,,,"))
    assert (refusal.place, refusal.reason) == ("line 2", reason)
    assert [record.external_id for record in records] == ["2"]


def test_a_caption_that_is_not_utf_8_is_refused_alone() -> None:
    data = csv("1,a.jpg,7,caf?,test", "2,b.jpg,8,café,test").replace(b"caf?", b"caf\xe9")
    records, (refusal,) = read("x.csv", data)
    assert (refusal.place, refusal.external_id, refusal.reason) == ("line 2", "7", "not-text")
    assert isinstance(records[1], CaptionRecord)
    assert records[1].text == "café"


def test_a_caption_may_span_lines() -> None:
    records, refusals = read("x.csv", csv('1,a.jpg,7,"A cup\nand a plate.",test', "2,b.jpg,8,,x"))
    assert isinstance(records[1], CaptionRecord)
    assert records[1].text == "A cup\nand a plate."
    assert [(r.place, r.external_id) for r in refusals] == [("line 4", "8")]


@pytest.mark.parametrize("header", ["image,caption\n", "image_id,image_id\n", ""])
def test_a_table_without_its_header_is_refused_as_a_whole(header: str) -> None:
    with pytest.raises(Bad) as caught:
        read("x.csv", header.encode() + b"1,2\n")
    assert caught.value.reason == "no-header"


def test_a_table_in_another_encoding_is_refused_with_what_to_do() -> None:
    with pytest.raises(Bad, match="save the file as CSV in UTF-8"):
        read("x.csv", csv("1,a.jpg,7,café,test").decode().encode("utf-16"))


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("upload", b'{"caption": "A cup.", "caption_id": 1, "image_id": 2}\n{"image_id": 3}'),
        ("upload", csv("2,,1,A cup.,", "3,,,,")),
        ("rows.json", b'{"image_id": 2, "caption_id": 1, "caption": "A cup."}\n{"image_id": 3}'),
    ],
)
def test_tables_are_known_by_their_content(name: str, data: Any) -> None:
    records, refusals = read(name, data)
    assert [record.external_id for record in records] == ["2", "1", "3"]
    assert refusals == []
