"""Plain tables, CSV and JSON lines: one row a caption, or an image without one."""

import csv
from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from hits.importers.json_stream import Open
from hits.importers.lines import csv_header, csv_lines, not_csv, parsed, raw_lines, wrong_width
from hits.importers.records import (
    MOST_SPLIT,
    Bad,
    CaptionRecord,
    ImageRecord,
    Record,
    Stream,
    caption_text,
    optional_text,
    outside_id,
    pixels,
    safe_file_name,
    shown,
)


def read_jsonl(open_file: Open) -> Stream:
    with open_file() as file:
        for number, line in enumerate(raw_lines(file), start=1):
            place = f"line {number}"
            try:
                yield from _records(place, orjson.loads(line or b""))
            except (orjson.JSONDecodeError, Bad):
                yield from _read_again(place, line)


def _read_again(place: str, line: bytes | None) -> Stream:
    """The fast parser rounds whole numbers of more than 64 bits: this one has the last word."""
    if line is not None and not line.strip():
        return
    row: Any = None
    try:
        row = parsed(line)
        yield from _records(place, row)
    except Bad as bad:
        yield bad.refusal("line", place, _shown_id(row))


def read_csv(open_file: Open) -> Stream:
    with open_file() as file:
        rows = csv.reader(csv_lines(file), strict=True)
        header = _header(rows)
        while True:
            place = f"line {rows.line_num + 1}"
            row: Mapping[str, Any] | None = None
            try:
                cells = next(rows, None)
                if cells is None:
                    return
                if not cells:
                    continue
                row = _row(header, cells)
                yield from _records(place, row)
            except csv.Error as fault:
                yield not_csv(fault).refusal("line", place)
            except Bad as bad:
                if bad.reason == "long-line":
                    raise
                yield bad.refusal("line", place, _shown_id(row))


def _header(rows: Any) -> list[str]:
    header = csv_header(rows)
    if "image_id" not in header:
        raise Bad("no-header", "The first line does not name a column image_id.")
    return header


def _row(header: list[str], cells: list[str]) -> dict[str, str | int | None]:
    """An empty cell is no value."""
    if len(cells) != len(header):
        raise wrong_width(header, cells)
    row: dict[str, str | int | None] = {
        name: cell or None for name, cell in zip(header, cells, strict=True)
    }
    for name in ("width", "height"):
        size = row.get(name)
        if isinstance(size, str) and size.isdecimal() and len(size) < 11:
            row[name] = int(size)
    return row


def _records(place: str, row: Any) -> Sequence[Record]:
    """Both records of a row, or neither."""
    if not isinstance(row, dict):
        raise Bad("not-an-object", "The line is JSON, but not an object.")
    image_id = outside_id(row.get("image_id"), "image id")
    image = ImageRecord(
        place,
        image_id,
        safe_file_name(row.get("file_name")),
        "",
        optional_text(row.get("split"), "split", MOST_SPLIT),
        pixels(row.get("width"), "width"),
        pixels(row.get("height"), "height"),
    )
    caption_id, text = row.get("caption_id"), row.get("caption")
    if text in (None, "") and caption_id in (None, ""):
        return (image,)
    caption_id = outside_id(caption_id, "caption id")
    return image, CaptionRecord(place, caption_id, image_id, caption_text(text))


def _shown_id(row: Any) -> str:
    fields = row if isinstance(row, Mapping) else {}
    for name in ("caption_id", "image_id"):
        if fields.get(name) is not None:
            return shown(fields[name])
    return ""
