"""Plain tables, CSV and JSON lines: one row a caption, or an image without one."""

import csv
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import IO, Any

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
            if line is not None and not line.strip():
                continue
            row: Any = None
            try:
                row = _parsed(line)
                records = _records(place, row)
            except Bad as bad:
                yield bad.refusal("line", place, _shown_id(row))
            else:
                yield from records


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


def _parsed(line: bytes | None) -> dict[str, Any]:
    if line is None:
        raise _long_line()
    try:
        row = json.loads(line.decode())
    except UnicodeDecodeError:
        raise Bad("not-utf-8", "The line is not UTF-8.") from None
    except (ValueError, RecursionError) as fault:
        raise Bad("not-json", f"The line is not readable as JSON: {shown(str(fault))}") from None
    if not isinstance(row, dict):
        raise Bad("not-an-object", "The line is JSON, but not an object.")
    return row


def _header(rows: Any) -> list[str]:
    try:
        header = [name.strip() for name in next(rows, [])]
    except csv.Error as fault:
        raise Bad("not-csv", f"The first line is not readable as CSV: {fault}.") from None
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


def _records(place: str, row: Mapping[str, Any]) -> Sequence[Record]:
    """Both records of a row, or neither."""
    image = ImageRecord(
        place=place,
        external_id=outside_id(row.get("image_id"), "image id"),
        file_name=safe_file_name(row.get("file_name")),
        split=optional_text(row.get("split"), "split", MOST_SPLIT),
        width=pixels(row.get("width"), "width"),
        height=pixels(row.get("height"), "height"),
    )
    if row.get("caption") in (None, "") and row.get("caption_id") in (None, ""):
        return (image,)
    caption = CaptionRecord(
        place=place,
        external_id=outside_id(row.get("caption_id"), "caption id"),
        image_id=image.external_id,
        text=caption_text(row.get("caption")),
    )
    return image, caption


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
