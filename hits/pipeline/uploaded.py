"""Uploaded: files of lines into a study. What is wrong with a line is reported, and the others
are taken; outside ids become ids here."""

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import UnionType
from typing import IO, Any, Protocol, TextIO, Union, cast, get_args, get_origin
from uuid import uuid4

import orjson
from django.conf import settings
from django.db import connection
from pydantic import ValidationError

from hits.importers.entries import Entry
from hits.importers.json_stream import Open
from hits.importers.lines import Line, read
from hits.importers.records import Bad, Refusal, shown
from hits.importers.sources import UNREADABLE, is_clutter, open_source
from hits.models import Study
from hits.pipeline.copying import as_array
from hits.pipeline.errors import Refused
from hits.pipeline.plainly import plainly
from hits.protocol import CaptionRef, Frozen, ImageRef, RegionRef
from hits.records import Json, Named

FIRST_REFUSALS = 20
BATCH = 5000
MOST_FILE_NAME = 200

_UNIONS = (Union, UnionType)
Ids = Mapping[type[str], Mapping[str, int]]

_TABLES: dict[type[str], tuple[str, str]] = {
    ImageRef: ("hits_image", "image"),
    CaptionRef: ("hits_caption", "caption"),
    RegionRef: ("hits_region", "region"),
}
_IDS = """
    SELECT external_id, id FROM {table}
    WHERE corpus_id = %(corpus)s AND external_id = ANY (%(names)s)
"""

_SIZES = """
    SELECT i.id, coalesce(b.width, i.width), coalesce(b.height, i.height)
    FROM hits_image i LEFT JOIN hits_blob b ON b.sha256 = i.blob_id
    WHERE i.id = ANY (%s::bigint[]) AND coalesce(b.width, i.width) IS NOT NULL
"""
_IMAGE_OF = "SELECT id, image_id FROM hits_caption WHERE id = ANY (%s::bigint[])"


class Tell(Protocol):
    def __call__(self, done: int, total: int | None = None, message: str = "") -> None: ...


def silent(done: int, total: int | None = None, message: str = "") -> None:
    pass


@dataclass
class Uploaded:
    """A file that is being read: its lines, and what of it was refused."""

    name: str
    report: str
    _open: Open
    _lines: TextIO
    refused: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    first_refusals: list[dict[str, str]] = field(default_factory=list)
    _digest: Any = field(default_factory=hashlib.sha256)

    @property
    def sha256(self) -> str:
        """Of what was read so far: of the whole file, once its lines are."""
        return str(self._digest.hexdigest())

    def lines(self) -> Iterator[Line]:
        """Those that can be read; the whole is refused where it cannot be read on."""
        try:
            for line in read(self.name, self._hashed):
                if isinstance(line, Refusal):
                    self._write(line.place, line.reason, line.detail)
                else:
                    yield line
        except Bad as bad:
            raise Refused(bad.detail) from None
        except UNREADABLE as fault:
            raise Refused(f"The file cannot be read: {shown(str(fault))}") from fault

    def refuse(self, number: int, bad: Bad) -> None:
        self._write(f"line {number}", bad.reason, bad.detail)

    def _write(self, place: str, reason: str, detail: str) -> None:
        line = {"file": shown(self.name), "place": place, "kind": "line", "id": "",
                "reason": reason, "detail": detail}  # fmt: skip
        self._lines.write(json.dumps(line) + "\n")
        self.refused += 1
        self.reasons[reason] += 1
        if len(self.first_refusals) < FIRST_REFUSALS:
            self.first_refusals.append(line)

    def outcome(self) -> dict[str, Any]:
        """As a job tells it."""
        return {
            "refused": self.refused,
            "reasons": dict(self.reasons.most_common()),
            "first_refusals": self.first_refusals,
            "refusals": self.report,
        }

    def _hashed(self) -> IO[bytes]:
        return cast(IO[bytes], _Hashed(self._open(), self._digest))


class _Hashed:
    def __init__(self, file: IO[bytes], digest: Any) -> None:
        self._file = file
        self._digest = digest

    def readline(self, size: int = -1) -> bytes:
        line = self._file.readline(size)
        self._digest.update(line)
        return line

    def __enter__(self) -> "_Hashed":
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()


@contextmanager
def opened(*, study: Study, source: str, called: str = "", report: str = "") -> Iterator[Uploaded]:
    """The one file at a path, in a zip or in a bucket; `called` is what people know it as."""
    path = Path(report) if report else _report_path(study)
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with (
            open_source(source, settings.S3_ENDPOINT_URL) as files,
            path.open("w", encoding="utf-8") as lines,
        ):
            entry = _only(files.entries())
            name = (called or entry.base)[-MOST_FILE_NAME:]
            yield Uploaded(name, str(path), entry.open, lines)
    except Bad as bad:
        raise Refused(bad.detail) from None


def _report_path(study: Study) -> Path:
    folder: Path = settings.DATA_DIR / "imports"
    return folder / f"{study.slug}-{uuid4().hex}.jsonl"


def _only(entries: Iterable[Entry | Refusal]) -> Entry:
    found = []
    for entry in entries:
        if isinstance(entry, Refusal):
            raise Bad(entry.reason, entry.detail)
        if not is_clutter(entry):
            found.append(entry)
    if len(found) != 1:
        raise Bad("not-one", f"Give one file: there are {len(found)}.")
    return found[0]


def batches(lines: Iterator[Line]) -> Iterator[list[Line]]:
    while batch := [line for _, line in zip(range(BATCH), lines, strict=False)]:
        yield batch


def row_of(fields: Mapping[str, Any], model: type[Frozen]) -> Json:
    """A row as the model has it, with outside ids in it; lists and objects in a cell are JSON."""
    try:
        return model.model_validate(_decoded(fields, model)).model_dump()
    except ValidationError as wrong:
        raise Bad("not-a-row", shown(plainly(wrong))) from None


def _decoded(fields: Mapping[str, Any], model: type[Frozen]) -> dict[str, Any]:
    return {
        name: _json_or_text(value)
        if isinstance(value, str) and value[:1] in {"[", "{"} and _is_structured(model, name)
        else value
        for name, value in fields.items()
    }


def _is_structured(model: type[Frozen], name: str) -> bool:
    """Whether the field takes something else than text."""
    of = model.model_fields.get(name)
    if of is None:
        return False
    kinds = get_args(of.annotation) if get_origin(of.annotation) in _UNIONS else (of.annotation,)
    return not any(isinstance(kind, type) and issubclass(kind, str) for kind in kinds)


def _json_or_text(text: str) -> Any:
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return text


def ids_of(study: Study, rows: Iterable[Json]) -> Ids:
    """The ids here of all outside ids in some rows, in one statement a kind of item."""
    named: dict[type[str], set[str]] = {kind: set() for kind in _TABLES}
    for row in rows:
        _collect(row, named)
    return {kind: _look_up(study.corpus_id, kind, names) for kind, names in named.items() if names}


def _collect(value: Any, named: dict[type[str], set[str]]) -> None:
    if type(value) in named:
        named[type(value)].add(value)
    elif isinstance(value, dict):
        for each in value.values():
            _collect(each, named)
    elif isinstance(value, list | tuple | set | frozenset):
        for each in value:
            _collect(each, named)


def _look_up(corpus_id: int, kind: type[str], names: set[str]) -> dict[str, int]:
    table, _ = _TABLES[kind]
    with connection.cursor() as cursor:
        values: dict[str, Any] = {"corpus": corpus_id, "names": list(map(str, names))}
        cursor.execute(_IDS.format(table=table), values)
        return dict(cursor.fetchall())


def items_named(ids: Ids) -> Named:
    with connection.cursor() as cursor:
        cursor.execute(_SIZES, [as_array(ids.get(ImageRef, {}).values())])
        sizes = {pk: (width, height) for pk, width, height in cursor.fetchall()}
        cursor.execute(_IMAGE_OF, [as_array(ids.get(CaptionRef, {}).values())])
        return Named(sizes, dict(cursor.fetchall()))


def with_ids(value: Any, ids: Ids) -> Any:
    """The same with ids here in the place of outside ones."""
    kind = type(value)
    if kind in _TABLES:
        try:
            return ids[kind][value]
        except KeyError:
            what = _TABLES[kind][1]
            raise Bad(f"no-{what}", f"There is no {what} {shown(str(value))} here.") from None
    if isinstance(value, dict):
        return {name: with_ids(each, ids) for name, each in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return list(map(partial(with_ids, ids=ids), value))
    return value


def as_json(value: Any) -> str:
    """As PostgreSQL takes it."""
    try:
        text = orjson.dumps(value).decode()
    except TypeError:
        raise Bad("not-text", "The line holds what cannot be stored as text.") from None
    if "\\u0000" in text:
        raise Bad("not-text", "The line holds a NUL.")
    return text
