"""Files of one object a line, CSV or JSON lines, whatever fields they have."""

import csv
import json
from collections.abc import Iterator
from typing import IO, Any, NamedTuple

import orjson

from hits.importers.json_stream import BYTE_ORDER_MARK, Open
from hits.importers.records import Bad, Refusal, is_unicode, shown

LONGEST_LINE = 1 << 20
KINDS = (".csv", ".jsonl")


class Line(NamedTuple):
    number: int
    fields: dict[str, Any]


def read(name: str, open_file: Open) -> Iterator[Line | Refusal]:
    """The lines with what they say; a field without a value is not there."""
    if name.lower().endswith(".csv"):
        return _read_csv(open_file)
    if name.lower().endswith((".jsonl", ".ndjson")):
        return _read_jsonl(open_file)
    raise Bad("unknown-format", f"The file is none of these: {', '.join(KINDS)}.")


def _read_jsonl(open_file: Open) -> Iterator[Line | Refusal]:
    with open_file() as file:
        for number, line in enumerate(raw_lines(file), start=1):
            if line is not None and not line.strip():
                continue
            try:
                yield Line(number, _object(line))
            except Bad as bad:
                yield bad.refusal("line", f"line {number}")


def _object(line: bytes | None) -> dict[str, Any]:
    if line is not None and (b"\\u0000" in line or b"\0" in line):
        raise Bad("not-text", "The line holds a NUL.")
    try:
        row = orjson.loads(line or b"")
    except orjson.JSONDecodeError:
        row = parsed(line)
        _refuse_lone_surrogates(row)
    if not isinstance(row, dict):
        raise Bad("not-an-object", "The line is JSON, but not an object.")
    return {name: value for name, value in row.items() if value is not None}


def _refuse_lone_surrogates(row: Any) -> None:
    try:
        orjson.dumps(row)
    except TypeError:
        raise Bad("not-text", "The line holds a lone surrogate or too large a number.") from None


def _read_csv(open_file: Open) -> Iterator[Line | Refusal]:
    with open_file() as file:
        rows = csv.reader(csv_lines(file), strict=True)
        header = csv_header(rows)
        while True:
            number = rows.line_num + 1
            try:
                cells = next(rows, None)
                if cells is None:
                    return
                if cells:
                    yield Line(number, _cells(header, cells))
            except csv.Error as fault:
                yield not_csv(fault).refusal("line", f"line {number}")
            except Bad as bad:
                if bad.reason == "long-line":
                    raise
                yield bad.refusal("line", f"line {number}")


def _cells(header: list[str], cells: list[str]) -> dict[str, Any]:
    if len(cells) != len(header):
        raise wrong_width(header, cells)
    found = {name: cell for name, cell in zip(header, cells, strict=True) if cell}
    text = "".join(cells)
    if not is_unicode(text):
        raise Bad("not-utf-8", "The line is not UTF-8.")
    if "\0" in text:
        raise Bad("not-text", "The line holds a NUL.")
    return found


def csv_header(rows: Any) -> list[str]:
    try:
        header = [name.strip() for name in next(rows, [])]
    except csv.Error as fault:
        raise Bad("not-csv", f"The first line is not readable as CSV: {fault}.") from None
    if not is_unicode("".join(header)):
        raise Bad("not-utf-8", "The first line is not UTF-8: save the file as CSV in UTF-8.")
    if len(header) == 1 and ";" in header[0]:
        raise Bad("no-header", "Separate columns by commas: the first line has semicolons.")
    if len(set(header)) < len(header):
        raise Bad("no-header", "The first line names a column twice.")
    return header


def wrong_width(header: list[str], cells: list[str]) -> Bad:
    return Bad("not-csv", f"The line has {len(cells)} cells; the first has {len(header)}.")


def not_csv(fault: csv.Error) -> Bad:
    return Bad("not-csv", f"The line is not readable as CSV: {fault}.")


def parsed(line: bytes | None) -> Any:
    if line is None:
        raise long_line()
    try:
        return json.loads(line.decode())
    except UnicodeDecodeError:
        raise Bad("not-utf-8", "The line is not UTF-8.") from None
    except (ValueError, RecursionError) as fault:
        raise Bad("not-json", f"The line is not readable as JSON: {shown(str(fault))}") from None


def raw_lines(file: IO[bytes]) -> Iterator[bytes | None]:
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


def csv_lines(file: IO[bytes]) -> Iterator[str]:
    """What is not UTF-8 becomes lone surrogates, which no text may hold."""
    for line in raw_lines(file):
        if line is None:
            raise long_line()
        yield line.decode(errors="surrogateescape")


def long_line() -> Bad:
    return Bad("long-line", f"The line is longer than {LONGEST_LINE:,} bytes.")
