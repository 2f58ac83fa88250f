"""Plain tables, CSV and JSON lines: one row a caption, or an image without one."""

import csv
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import IO, Any

import orjson

from hits.importers.json_stream import BYTE_ORDER_MARK, Open
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

LONGEST_LINE = 1 << 20


def read_jsonl(open_file: Open) -> Stream:
    with open_file() as file:
        for number, line in enumerate(_lines(file), start=1):
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
        row = _parsed(line)
        yield from _records(place, row)
    except Bad as bad:
        yield bad.refusal("line", place, _shown_id(row))


def read_csv(open_file: Open) -> Stream:
    with open_file() as file:
        rows = csv.reader(_csv_lines(file), strict=True)
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
                yield Bad("not-csv", f"The line is not readable as CSV: {fault}.").refusal(
                    "line", place
                )
            except Bad as bad:
                if bad.reason == "long-line":
                    raise
                yield bad.refusal("line", place, _shown_id(row))


def _parsed(line: bytes | None) -> Any:
    if line is None:
        raise _long_line()
    try:
        return json.loads(line.decode())
    except UnicodeDecodeError:
        raise Bad("not-utf-8", "The line is not UTF-8.") from None
    except (ValueError, RecursionError) as fault:
        raise Bad("not-json", f"The line is not readable as JSON: {shown(str(fault))}") from None


def _header(rows: Any) -> list[str]:
    try:
        header = [name.strip() for name in next(rows, [])]
    except csv.Error as fault:
        raise Bad("not-csv", f"The first line is not readable as CSV: {fault}.") from None
    if len(header) == 1 and ";" in header[0]:
        raise Bad("no-header", "Separate columns by commas: the first line has semicolons.")
    if "image_id" not in header:
        raise Bad("no-header", "The first line does not name a column image_id.")
    if len(set(header)) < len(header):
        raise Bad("no-header", "The first line names a column twice.")
    return header


def _row(header: list[str], cells: list[str]) -> dict[str, str | int | None]:
    """An empty cell is no value."""
    if len(cells) != len(header):
        raise Bad("not-csv", f"The line has {len(cells)} cells; the first has {len(header)}.")
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


def _lines(file: IO[bytes]) -> Iterator[bytes | None]:
    """Lines without a byte order mark; None for one that is too long to be held in memory."""
    first = True
    while line := file.readline(LONGEST_LINE):
        if first:
            line, first = line.removeprefix(BYTE_ORDER_MARK), False
        if len(line) == LONGEST_LINE and not line.endswith(b"\n"):
            while (more := file.readline(LONGEST_LINE)) and not more.endswith(b"\n"):
                pass
            yield None
        else:
            yield line


def _csv_lines(file: IO[bytes]) -> Iterator[str]:
    """What is not UTF-8 becomes lone surrogates, which no text may hold."""
    for line in _lines(file):
        if line is None:
            raise _long_line()
        yield line.decode(errors="surrogateescape")


def _long_line() -> Bad:
    return Bad("long-line", f"The line is longer than {LONGEST_LINE:,} bytes.")


def _shown_id(row: Any) -> str:
    fields = row if isinstance(row, Mapping) else {}
    for name in ("caption_id", "image_id"):
        if fields.get(name) is not None:
            return shown(fields[name])
    return ""
