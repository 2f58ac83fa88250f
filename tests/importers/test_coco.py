import json
from typing import Any

import pytest

from hits.importers.json_stream import CHUNK
from hits.importers.records import Bad, CaptionRecord, ImageRecord, RegionRecord
from tests.importers.files import coco, read, two_images

IMAGE = {"id": 1, "file_name": "a.jpg"}


def only_refusal(annotation: Any) -> tuple[str, str, str]:
    categories = [{"id": 7, "name": "cup"}]
    _, (refusal,) = read("x.json", coco([IMAGE], [annotation], categories))
    return refusal.place, refusal.external_id, refusal.reason


def region(**values: Any) -> dict[str, Any]:
    whole = {"id": 5, "image_id": 1, "category_id": 7, "bbox": [1, 2.5, 3, 4], "area": 10.25}
    return whole | values


def test_ids_are_kept_as_they_are() -> None:
    ids = [42, "42a", "0042", 10**30]
    records, refusals = read("x.json", coco([{"id": each} for each in ids]))
    assert [record.external_id for record in records] == ["42", "42a", "0042", str(10**30)]
    assert refusals == []


def test_captions_are_read_word_for_word() -> None:
    records, refusals = read("captions.json", two_images())
    captions = [record for record in records if isinstance(record, CaptionRecord)]
    assert [(c.external_id, c.image_id, c.text) for c in captions][2] == (
        "11",
        "397133",
        "A cook at the stove. ",
    )
    assert refusals == []


def test_the_order_of_the_lists_in_the_file_does_not_matter() -> None:
    data = two_images()
    turned = dict(reversed(data.items()))
    assert list(turned) != list(data)
    assert read("x.json", turned) == read("x.json", data)


def test_instances_become_regions_with_the_names_of_their_categories() -> None:
    data = coco([IMAGE], [region()], [{"id": 7, "name": "cup"}])
    records, _ = read("x.json", data)
    assert records[1] == RegionRecord("annotations[0]", "5", "1", "cup", 1.0, 2.5, 3.0, 4.0, 10.25)


def test_an_outline_is_kept_and_a_mask_is_not() -> None:
    outlined = region(id=5, segmentation=[[1, 2, 3, 2, 3, 4.5]])
    crowd = region(id=6, segmentation={"counts": [1, 2], "size": [3, 4]}, iscrowd=1)
    records, refusals = read("x.json", coco([IMAGE], [outlined, crowd], [{"id": 7, "name": "cup"}]))
    regions = [record for record in records if isinstance(record, RegionRecord)]
    assert [each.outline for each in regions] == [((1.0, 2.0, 3.0, 2.0, 3.0, 4.5),), ()]
    assert refusals == []


def test_a_file_of_images_alone_is_read() -> None:
    records, _ = read("image_info.json", {"images": [IMAGE | {"width": 3, "height": 4}]})
    assert records == [ImageRecord("images[0]", "1", "a.jpg", width=3, height=4)]


@pytest.mark.parametrize(
    ("annotation", "reason"),
    [
        ({"id": 5, "image_id": 1, "caption": ""}, "empty"),
        ({"id": 5, "image_id": 1, "caption": " \n "}, "empty"),
        ({"id": 5, "image_id": 1, "caption": None}, "empty"),
        ({"id": 5, "image_id": 1, "caption": 17}, "not-text"),
        ({"id": 5, "image_id": 1, "caption": "a\0b"}, "not-text"),
        ({"id": 5, "image_id": 1, "caption": "x" * 5001}, "too-long"),
        ({"id": 5, "caption": "A cup."}, "no-id"),
        ({"id": 5, "image_id": 1}, "no-content"),
        (region(bbox=[1, 2, 0, 4]), "bad-box"),
        (region(bbox=[1, 2, 3]), "bad-box"),
        (region(bbox=[1, 2, "3", 4]), "bad-box"),
        (region(area=-1), "bad-box"),
        (region(segmentation="all of it"), "bad-outline"),
        (region(segmentation=[[1, 2, 3, 4]]), "bad-outline"),
        (region(segmentation=[[1, 2] * 20_001]), "bad-outline"),
        (region(segmentation=[[1, 2, 3, 4, 5, "6"]]), "bad-box"),
        (region(category_id=8), "unknown-category"),
        (region(category_id=[8]), "unknown-category"),
    ],
)
def test_an_annotation_that_cannot_be_taken_is_refused_alone(annotation: Any, reason: str) -> None:
    assert only_refusal(annotation) == ("annotations[0]", "5", reason)


@pytest.mark.parametrize(
    ("external_id", "reason"),
    [(None, "no-id"), ("", "no-id"), (1.5, "bad-id"), (True, "bad-id"), ("x" * 201, "too-long")],
)
def test_an_id_must_be_a_text_or_a_whole_number(external_id: Any, reason: str) -> None:
    _, (refusal,) = read("x.json", coco([{"id": external_id, "file_name": "a.jpg"}]))
    assert refusal.reason == reason


def test_an_annotation_that_is_no_object_is_refused_alone() -> None:
    assert only_refusal([1, 2]) == ("annotations[0]", "", "not-an-object")


@pytest.mark.parametrize(
    "escaped", [r"a\ud83d b", r"a\ude00b", r"\ud83d\ud83d", r"\ud800A", r"\\\ud83d"]
)
def test_half_a_surrogate_pair_is_refused_and_not_mended(escaped: str) -> None:
    text = '{"annotations": [{"id": 5, "image_id": 1, "caption": "' + escaped + '"}]}'
    _, (refusal,) = read("x.json", text.encode())
    assert (refusal.external_id, refusal.reason) == ("5", "not-text")


def test_escaped_pairs_and_escaped_backslashes_are_read_as_they_are() -> None:
    captions = [
        "🍳 \ud83d\ude00".encode("utf-16", "surrogatepass").decode("utf-16"),
        "\\ud83d",
        "é",
    ]
    data = coco(
        annotations=[{"id": n, "image_id": 1, "caption": c} for n, c in enumerate(captions)]
    )
    records, refusals = read("x.json", json.dumps(data).encode())
    assert [record.text for record in records if isinstance(record, CaptionRecord)] == captions
    assert refusals == []


def test_no_chunk_border_parts_a_surrogate_pair() -> None:
    captions = ["x" * (n % 13) + "😀" * 40 for n in range(2_000)]
    data = coco(
        annotations=[{"id": n, "image_id": 1, "caption": c} for n, c in enumerate(captions)]
    )
    records, refusals = read("x.json", json.dumps(data).encode())
    assert [record.text for record in records if isinstance(record, CaptionRecord)] == captions
    assert refusals == []


def test_a_byte_order_mark_is_no_part_of_the_file() -> None:
    assert read("x.json", b"\xef\xbb\xbf" + json.dumps(two_images()).encode())[1] == []


@pytest.mark.parametrize("cut", [30, 200, 481])
def test_a_file_that_breaks_off_is_refused_as_a_whole(cut: int) -> None:
    with pytest.raises(Bad) as caught:
        read("x.json", json.dumps(two_images()).encode()[:cut])
    assert caught.value.reason == "not-json"


def test_a_file_that_is_not_utf_8_is_refused_as_a_whole() -> None:
    data = json.dumps(two_images()).encode().replace(b"kitchen", b"k\xffchen")
    with pytest.raises(Bad, match="UTF8"):
        read("x.json", data)


@pytest.mark.parametrize(
    "data",
    [
        b'{"images":' + b"[" * 1_000,
        b'{"images": [{"id": 1}], "x": ' + b'{"]\\"}":[' * 500,
        json.dumps(coco([IMAGE])).encode()[:-1]
        + b', "x": "'
        + b"," * CHUNK
        + b'", "y": '
        + b"[" * 1_000,
    ],
)
def test_what_is_nested_without_end_is_refused_as_a_whole(data: bytes) -> None:
    with pytest.raises(Bad) as caught:
        read("x.json", data)
    assert caught.value.reason == "too-deep"


@pytest.mark.parametrize(
    "number", [b"9" * 5_000, b"-" + b"8" * 5_000, b"[" + b" " * (20 * CHUNK - 14) + b"7" * 5_000]
)
def test_a_number_without_end_is_refused_as_a_whole(number: bytes) -> None:
    with pytest.raises(Bad) as caught:
        read("x.json", b'{"images": [{"id": %b}]}' % number)
    assert caught.value.reason == "too-long"


def test_an_exponent_that_no_number_has_is_refused_as_a_whole() -> None:
    with pytest.raises(Bad) as caught:
        read("x.json", b'{"images": [{"id": 1e99999999999999999999}]}')
    assert caught.value.reason == "not-json"


def test_brackets_in_captions_are_no_levels() -> None:
    captions = ["[" * 300, "{" * 300 + '"', "\\" * 3 + "[" * 300] * 400
    data = coco(
        annotations=[{"id": n, "image_id": 1, "caption": c} for n, c in enumerate(captions)]
    )
    records, refusals = read("x.json", data)
    assert [record.text for record in records if isinstance(record, CaptionRecord)] == captions
    assert refusals == []


@pytest.mark.parametrize("data", [b"{}", b"[1, 2]", b"", b"hello", b'{"images": 3}'])
def test_a_file_of_no_known_format_is_refused_as_a_whole(data: bytes) -> None:
    with pytest.raises(Bad) as caught:
        read("x.json", data)
    assert caught.value.reason == "unknown-format"
