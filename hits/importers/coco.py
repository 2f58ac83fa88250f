"""COCO's layout: images, and annotations that are captions or instances (regions)."""

import math
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from hits.importers.json_stream import Open, items
from hits.importers.records import (
    MOST_CATEGORY,
    MOST_SPLIT,
    Bad,
    CaptionRecord,
    ImageRecord,
    RegionRecord,
    Stream,
    caption_text,
    optional_text,
    outside_id,
    pixels,
    plain_text,
    safe_file_name,
    shown,
)

MOST_POINTS = 20_000


def read(open_file: Open) -> Stream:
    """Images first, whichever list the file has first: each list is a pass of its own."""
    yield from _images(open_file)
    yield from _annotations(open_file)


def _images(open_file: Open) -> Stream:
    for place, item in items(open_file, "images"):
        try:
            yield _image(place, item)
        except Bad as bad:
            yield bad.refusal("image", place, _shown_id(item))


def _image(place: str, item: Any) -> ImageRecord:
    fields = _object(item)
    return ImageRecord(
        place=place,
        external_id=outside_id(fields.get("id"), "image id"),
        file_name=safe_file_name(fields.get("file_name")),
        split=optional_text(fields.get("split"), "split", MOST_SPLIT),
        width=pixels(fields.get("width"), "width"),
        height=pixels(fields.get("height"), "height"),
    )


def _annotations(open_file: Open) -> Stream:
    categories: dict[Any, str] | None = None
    for place, item in items(open_file, "annotations"):
        is_region = isinstance(item, dict) and "caption" not in item and "bbox" in item
        if is_region and categories is None:
            categories = dict(_categories(open_file))
        try:
            yield _region(place, item, categories or {}) if is_region else _caption(place, item)
        except Bad as bad:
            yield bad.refusal("region" if is_region else "caption", place, _shown_id(item))


def _caption(place: str, item: Any) -> CaptionRecord:
    fields = _object(item)
    if "caption" not in fields:
        raise Bad("no-content", "The annotation has neither a caption nor a bbox.")
    return CaptionRecord(
        place=place,
        external_id=outside_id(fields.get("id"), "caption id"),
        image_id=outside_id(fields.get("image_id"), "image id"),
        text=caption_text(fields["caption"]),
    )


def _region(place: str, item: Any, categories: dict[Any, str]) -> RegionRecord:
    external_id = outside_id(item.get("id"), "region id")
    image_id = outside_id(item.get("image_id"), "image id")
    category = item.get("category_id")
    if not isinstance(category, int | str) or category not in categories:
        raise Bad("unknown-category", f"The file has no category {shown(category)}.")
    x, y, width, height = _box(item["bbox"])
    area = item.get("area")
    return RegionRecord(
        place=place,
        external_id=external_id,
        image_id=image_id,
        category=categories[category],
        x=x,
        y=y,
        width=width,
        height=height,
        area=width * height if area is None else _number(area, "area"),
        outline=_outline(item.get("segmentation")),
    )


def _box(value: Any) -> tuple[float, float, float, float]:
    if not isinstance(value, list) or len(value) != 4:
        raise Bad("bad-box", "The bbox is not a list of four numbers.")
    x, y, width, height = (_number(each, "bbox") for each in value)
    if width <= 0 or height <= 0:
        raise Bad("bad-box", f"The bbox is {width:g} wide and {height:g} high.")
    return x, y, width, height


def _outline(value: Any) -> tuple[tuple[float, ...], ...]:
    """The polygons of an object. A crowd has a mask instead, and is known by its box."""
    if value is None or isinstance(value, dict):
        return ()
    if not isinstance(value, list) or not all(isinstance(each, list) for each in value):
        raise Bad("bad-outline", "The segmentation is not a list of polygons.")
    if sum(map(len, value)) > 2 * MOST_POINTS:
        raise Bad("bad-outline", f"The segmentation has more than {MOST_POINTS:,} points.")
    if any(len(each) < 6 or len(each) % 2 for each in value):
        raise Bad("bad-outline", "A polygon of the segmentation has fewer than three points.")
    return tuple(tuple(_number(number, "segmentation") for number in each) for each in value)


def _number(value: Any, what: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        raise Bad("bad-box", f"The {what} holds something that is not a number.")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number) or (what == "area" and number < 0):
        raise Bad("bad-box", f"The {what} holds a number that makes no sense.")
    return number


def _categories(open_file: Open) -> Iterator[tuple[Any, str]]:
    """What is no category here is refused where a region names it."""
    for _, item in items(open_file, "categories"):
        if isinstance(item, dict) and isinstance(item.get("id"), int | str):
            try:
                yield item["id"], plain_text(item.get("name"), "category", MOST_CATEGORY)
            except Bad:
                continue


def _object(item: Any) -> dict[str, Any]:
    if not isinstance(item, dict):
        raise Bad("not-an-object", "There is something else where an object should be.")
    return item


def _shown_id(item: Any) -> str:
    found = item.get("id") if isinstance(item, dict) else None
    return "" if found is None else shown(found)
