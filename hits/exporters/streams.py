"""Public formats as streams of text: records in, pieces of a file out, never the whole."""

import io
import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from defusedcsv import csv


def as_json_object(entries: Iterable[tuple[str, Any]]) -> Iterator[str]:
    separator = "{\n"
    for name, value in entries:
        yield f"{separator}{json.dumps(name)}: {json.dumps(value)}"
        separator = ",\n"
    yield "{}\n" if separator == "{\n" else "\n}\n"


def as_json_lines(records: Iterable[Any]) -> Iterator[str]:
    for record in records:
        yield json.dumps(record, ensure_ascii=False) + "\n"


def as_csv(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> Iterator[str]:
    """CSV in which no cell is taken for a formula by a spreadsheet."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(columns)
    for row in rows:
        writer.writerow(row)
        if buffer.tell() > 1 << 16:
            yield buffer.getvalue()
            buffer.seek(0)
            buffer.truncate()
    yield buffer.getvalue()
