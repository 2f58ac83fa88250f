"""Public formats as streams of text: records in, pieces of a file out, never the whole."""

import csv
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from types import NoneType
from typing import Any

from defusedcsv import csv as defused_csv

_ROWS_A_PIECE = 500
# Where a cell may begin, and what makes a spreadsheet take it for a formula.
_SUSPICIOUS = re.compile(r'[\n,"][=+\-@|%\t]')
_LONE_CR = re.compile(r"\r(?!\n)")


def as_json_object(entries: Iterable[tuple[str, Any]]) -> Iterator[str]:
    separator = "{\n"
    for name, value in entries:
        yield f"{separator}{json.dumps(name)}: {json.dumps(value)}"
        separator = ",\n"
    yield "{}\n" if separator == "{\n" else "\n}\n"


def numbers_first(ids: Iterable[str]) -> list[int | str]:
    """Outside ids in order, as numbers where they are some, as eccv_caption wants them."""
    found: list[int | str] = [int(each) if each.isdecimal() else each for each in ids]
    return sorted(found, key=lambda each: (isinstance(each, str), each))


def as_json_list(entries: Iterable[Any]) -> Iterator[str]:
    separator = "[\n"
    for value in entries:
        yield f"{separator}{json.dumps(value)}"
        separator = ",\n"
    yield "[]\n" if separator == "[\n" else "\n]\n"


def as_lines(entries: Iterable[str]) -> Iterator[str]:
    """One entry a line, each once."""
    seen: set[str] = set()
    for entry in entries:
        if entry not in seen:
            seen.add(entry)
            yield f"{entry}\n"


class JsonLists:
    """An object of lists, an entry a line. Those that several protocols of a dataset write under
    one name become one object, in the order of the lists' names."""

    def __init__(self, lists: Mapping[str, Iterable[Any]]) -> None:
        self._lists = lists

    def __or__(self, other: "JsonLists") -> "JsonLists":
        return JsonLists({**self._lists, **other._lists})

    def __iter__(self) -> Iterator[str]:
        opening = "{"
        for name in sorted(self._lists):
            yield f"{opening}{json.dumps(name)}: ["
            separator = "\n"
            for entry in self._lists[name]:
                yield f"{separator}{json.dumps(entry)}"
                separator = ",\n"
            yield "]"
            opening = ",\n"
        yield "}\n"


def in_one_file(one: Iterable[str], other: Iterable[str]) -> JsonLists:
    if isinstance(one, JsonLists) and isinstance(other, JsonLists):
        return one | other
    raise TypeError("Only objects of lists can be written into one file.")


def as_csv(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> Iterator[str]:
    """CSV in which no cell is taken for a formula by a spreadsheet."""
    left = chain([columns], rows)
    while piece := list(islice(left, _ROWS_A_PIECE)):
        yield csv_text(piece)


def csv_text(rows: Sequence[Sequence[Any]]) -> str:
    """Some rows; the more there are, the likelier is one that takes long."""
    lines = _Lines()
    csv.writer(lines, lineterminator="\n").writerows(rows)
    text = "".join(lines)
    # Nearly all cells are harmless, and one look at the text tells; cell by cell it takes
    # longer than all the rest.
    return "".join(map(_harmless, rows, lines)) if _is_suspicious(text) else text


def csv_of_columns(columns: Sequence[Sequence[Any]]) -> str:
    """The same text, of rows that come column by column. Where no cell has a sign of CSV's own
    in it, which one look tells, lines are cells with commas between them."""
    cells = list(map(_as_text, columns))
    text = "".join([f"{line}\n" for line in map(",".join, zip(*cells, strict=True))])
    rows, commas = len(columns[0]), len(columns[0]) * (len(columns) - 1)
    is_plain = '"' not in text and text.count(",") == commas and text.count("\n") == rows
    if len(columns) > 1 and is_plain and not _is_suspicious(text):
        return text
    lines = list(zip(*columns, strict=True))
    starts = range(0, rows, _ROWS_A_PIECE)
    return "".join([csv_text(lines[start : start + _ROWS_A_PIECE]) for start in starts])


def _as_text(cells: Sequence[Any]) -> Sequence[str]:
    kinds = set(map(type, cells))
    if kinds == {str}:
        return cells
    if NoneType not in kinds:
        return list(map(str, cells))
    return [each if type(each) is str else "" if each is None else str(each) for each in cells]


class _Lines(list[str]):
    write = list.append


def _is_suspicious(lines: str) -> bool:
    text = f"\n{lines}"
    return _SUSPICIOUS.search(text) is not None or "\r" in text or ',"\n' in text or '\n"\n' in text


def _harmless(row: Sequence[Any], line: str) -> str:
    if not _is_suspicious(line):
        return line
    lines = _Lines()
    defused_csv.writer(lines, lineterminator="\n").writerow(map(_without_control, row))
    return lines[0]


def _without_control(cell: Any) -> Any:
    """What defusedcsv leaves: spreadsheets skip a leading tab, and end the row at a lone CR."""
    if not isinstance(cell, str):
        return cell
    text = _LONE_CR.sub("\n", cell)
    return f"'{text}" if text.startswith(("\t", "\r", "\n")) else text
