"""One table as CSV, JSON lines and Parquet, written in one pass.

CSV is for spreadsheets: lists are joined and no cell is taken for a formula. The two others keep
lists, numbers and times as they are."""

import hashlib
import os
from collections.abc import Callable, Iterable, Sequence
from enum import StrEnum
from pathlib import Path
from types import TracebackType
from typing import IO, Any, NamedTuple

import orjson

from hits.exporters.streams import csv_of_columns, csv_text

ROWS_A_GROUP = 10_000
PART_OF_AN_ANSWER = "part of the answer; several values have ; between"


class Kind(StrEnum):
    TEXT = "text"
    WHOLE = "whole"
    NUMBER = "number"
    FLAG = "flag"
    TIME = "time"
    TEXTS = "texts"
    COUNTS = "counts"


class Typed(NamedTuple):
    """A column: its cells are None where there is nothing, times are text as ISO 8601 has them,
    texts are lists, and counts are pairs of an answer and how often it was given."""

    name: str
    kind: Kind
    meaning: str = ""


class Written(NamedTuple):
    sha256: str
    size: int


class Digested:
    """A new file whose checksum and size are known once it is written."""

    def __init__(self, path: Path) -> None:
        self._file: IO[bytes] = path.open("wb")
        self._digest = hashlib.sha256()
        self._size = 0

    @property
    def closed(self) -> bool:
        return self._file.closed

    def write(self, data: bytes) -> int:
        self._digest.update(data)
        self._size += len(data)
        return self._file.write(data)

    def flush(self) -> None:
        self._file.flush()

    def close(self) -> None:
        self._file.close()

    def finish(self) -> Written:
        """On the disk, and not only on its way there."""
        self._file.flush()
        os.fsync(self._file.fileno())
        self.close()
        return Written(self._digest.hexdigest(), self._size)


def write_text(path: Path, pieces: Iterable[str]) -> Written:
    file = Digested(path)
    for piece in pieces:
        file.write(piece.encode())
    return file.finish()


def _joined_texts(cells: Sequence[Sequence[str]]) -> list[str]:
    return [" ".join(each) for each in cells]


def _joined_counts(cells: Sequence[Sequence[tuple[str, int]]]) -> list[str]:
    return [";".join([f"{answer}:{count}" for answer, count in each]) for each in cells]


def _digits(cells: Sequence[bool]) -> list[int]:
    return [int(each) for each in cells]


def _named_counts(cells: Sequence[Sequence[tuple[str, int]]]) -> list[Any]:
    return [[{"answer": answer, "count": count} for answer, count in each] for each in cells]


# How cells of a kind are written to CSV and to JSON, where they are not written as they are.
_Ways = dict[Kind, Callable[[Any], list[Any]]]
_FLAT: _Ways = {
    Kind.TEXTS: _joined_texts,
    Kind.COUNTS: _joined_counts,
    Kind.FLAG: _digits,
}
_PLAIN: _Ways = {Kind.COUNTS: _named_counts}


class TableFiles:
    """The three files of one table, in a folder, while rows come in."""

    def __init__(self, folder: Path, name: str, columns: Sequence[Typed]) -> None:
        self.columns = columns
        self.names = [column.name for column in columns]
        self.files = {
            f"{name}.{ending}": Digested(folder / f"{name}.{ending}")
            for ending in ("csv", "jsonl", "parquet")
        }
        self._csv, self._lines, parquet = self.files.values()
        self._groups = _RowGroups(parquet, columns)
        self._csv.write(csv_text([self.names]).encode())

    def __enter__(self) -> "TableFiles":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        for file in self.files.values():
            file.close()

    def write(self, cells: Sequence[Sequence[Any]]) -> None:
        """Some rows, column by column."""
        self._csv.write(csv_of_columns(self._told(cells, _FLAT)).encode())
        names, dumps, one_a_line = self.names, orjson.dumps, orjson.OPT_APPEND_NEWLINE
        objects = [
            dumps(dict(zip(names, row, strict=True)), None, one_a_line)
            for row in zip(*self._told(cells, _PLAIN), strict=True)
        ]
        lines = b"".join(objects)
        self._lines.write(lines)
        self._groups.add(lines)

    def _told(self, cells: Sequence[Sequence[Any]], ways: _Ways) -> list[Sequence[Any]]:
        return [
            ways[column.kind](own) if column.kind in ways else own
            for column, own in zip(self.columns, cells, strict=True)
        ]

    def finish(self) -> dict[str, Written]:
        self._groups.close()
        return {name: file.finish() for name, file in self.files.items()}


class _RowGroups:
    """Rows gather as Arrow has them, which is small, and are written by the row group; where one
    begins depends on the number of rows alone. They are read from lines of JSON: made of Python's
    own lists, arrays would bring in pandas, and half of a release's memory with it."""

    def __init__(self, file: Digested, columns: Sequence[Typed]) -> None:
        # pyarrow takes long to import, and only who makes a release should wait for it.
        import pyarrow as pa
        from pyarrow import json, parquet

        self._pa, self._json = pa, json
        # Arrow's own keeps what it has once taken.
        self._memory = pa.system_memory_pool()
        types = {
            Kind.TEXT: pa.string(),
            Kind.WHOLE: pa.int64(),
            Kind.NUMBER: pa.float64(),
            Kind.FLAG: pa.bool_(),
            Kind.TIME: pa.timestamp("ms", tz="UTC"),
            Kind.TEXTS: pa.list_(pa.string()),
            Kind.COUNTS: pa.list_(pa.struct([("answer", pa.string()), ("count", pa.int64())])),
        }
        self._schema = pa.schema(
            [
                pa.field(column.name, types[column.kind], metadata=_described(column))
                for column in columns
            ]
        )
        self._as_described = json.ParseOptions(
            explicit_schema=self._schema, unexpected_field_behavior="error"
        )
        self._writer = parquet.ParquetWriter(
            pa.PythonFile(file, mode="w"),
            self._schema,
            compression="zstd",
            memory_pool=self._memory,
        )
        self._waiting = pa.Table.from_batches([], schema=self._schema)

    def add(self, lines: bytes) -> None:
        self._waiting = self._pa.concat_tables([self._waiting, self._read(lines)])
        while self._waiting.num_rows >= ROWS_A_GROUP:
            self._write(self._waiting.slice(0, ROWS_A_GROUP))
            self._waiting = self._waiting.slice(ROWS_A_GROUP)

    def close(self) -> None:
        if self._waiting.num_rows:
            self._write(self._waiting)
        self._writer.close()

    def _read(self, lines: bytes) -> Any:
        in_one_block = self._json.ReadOptions(use_threads=False, block_size=len(lines))
        found = self._json.read_json(
            self._pa.BufferReader(lines),
            read_options=in_one_block,
            parse_options=self._as_described,
            memory_pool=self._memory,
        )
        return self._pa.Table.from_batches(found.to_batches(), schema=self._schema)

    def _write(self, rows: Any) -> None:
        """In one piece: how rows came in must not show in the bytes."""
        whole = rows.combine_chunks(memory_pool=self._memory)
        self._writer.write_table(whole, row_group_size=ROWS_A_GROUP)


def _described(column: Typed) -> dict[str, str] | None:
    return {"description": column.meaning} if column.meaning else None
