"""The layout of Karpathy's splits (dataset_coco.json): images with their sentences inside."""

from collections.abc import Iterator
from typing import Any

from hits.importers.json_stream import Open, items
from hits.importers.records import (
    MOST_FILE_NAME,
    MOST_SPLIT,
    Bad,
    CaptionRecord,
    ImageRecord,
    Record,
    Refusal,
    Stream,
    caption_text,
    optional_text,
    outside_id,
    safe_file_name,
    shown,
)


def read(open_file: Open) -> Stream:
    for place, item in items(open_file, "images"):
        try:
            image = _image(place, item)
        except Bad as bad:
            yield bad.refusal("image", place, _shown_id(item, "cocoid", "imgid"))
            continue
        yield image
        yield from _sentences(image, item.get("sentences"))


def _image(place: str, item: Any) -> ImageRecord:
    if not isinstance(item, dict):
        raise Bad("not-an-object", "There is something else where an object should be.")
    number = item.get("cocoid")
    return ImageRecord(
        place=place,
        external_id=outside_id(item.get("imgid") if number is None else number, "image id"),
        file_name=safe_file_name(item.get("filename")),
        folder=optional_text(item.get("filepath"), "file path", MOST_FILE_NAME),
        split=optional_text(item.get("split"), "split", MOST_SPLIT),
    )


def _sentences(image: ImageRecord, sentences: Any) -> Iterator[Record | Refusal]:
    if sentences is None:
        return
    if not isinstance(sentences, list):
        bad = Bad("not-a-list", "The sentences are not a list.")
        yield bad.refusal("caption", f"{image.place}.sentences")
        return
    for index, item in enumerate(sentences):
        place = f"{image.place}.sentences[{index}]"
        try:
            yield _sentence(place, image, item)
        except Bad as bad:
            yield bad.refusal("caption", place, _shown_id(item, "sentid"))


def _sentence(place: str, image: ImageRecord, item: Any) -> CaptionRecord:
    if not isinstance(item, dict):
        raise Bad("not-an-object", "There is something else where an object should be.")
    return CaptionRecord(
        place=place,
        external_id=outside_id(item.get("sentid"), "sentid"),
        image_id=image.external_id,
        text=caption_text(item.get("raw")),
    )


def _shown_id(item: Any, *names: str) -> str:
    fields = item if isinstance(item, dict) else {}
    return next((shown(fields[name]) for name in names if fields.get(name) is not None), "")
