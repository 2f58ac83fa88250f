"""Judgments made elsewhere: a line of a plain file, or of a batch as Mechanical Turk gave it out.

A line says who judged (`worker`), what (`unit`, or the fields of the protocol's rows) and, in the
fields of the protocol's form, the answer. It may say on which `page`, in how many `seconds`, when
(`submitted_at`), what was decided by chance (`shown`) and why it is not used (`rejected`). Where
a name means two things, `Input.` before it stands for the row and `Answer.` for the form.
"""

import math
from collections.abc import Collection, Iterator
from datetime import UTC, datetime, timedelta, timezone
from typing import Any, NamedTuple

import orjson

from hits.importers.lines import Line
from hits.importers.records import Bad, plain_text, shown

MOST_WORKER = 150
MOST_PAGE = 200
MOST_REASON = 2000
FIRST_YEAR = 1970
ROW, FORM = "Input.", "Answer."
OWN = frozenset({"worker", "unit", "page", "seconds", "submitted_at", "shown", "rejected"})
_ZONES = {"UTC": 0, "GMT": 0, "EST": -5, "EDT": -4, "CST": -6, "CDT": -5, "MST": -7, "MDT": -6,
          "PST": -8, "PDT": -7}  # fmt: skip


class Said(NamedTuple):
    """What a line says: of a unit by its key, or by a row where that is empty."""

    number: int
    worker: str
    unit: str
    row: dict[str, Any]
    form: dict[str, list[str]]
    page: str
    seconds: float | None
    page_seconds: float | None
    submitted_at: str
    shown: dict[str, Any] | None
    rejected: str


def said(line: Line, row_fields: Collection[str], written: Collection[str] = ()) -> Said:
    """What somebody wrote is taken as it stands, whatever signs are in it."""
    fields = line.fields
    is_batch = "WorkerId" in fields
    own = _of_batch(fields) if is_batch else {n: v for n, v in fields.items() if n in OWN}
    unit = _text(own, "unit", MOST_PAGE) or _text(fields, f"{ROW}unit", MOST_PAGE)
    row, form = _parts(fields, () if unit else row_fields, written, is_batch)
    worker = _text(own, "worker", MOST_WORKER)
    if not worker:
        raise Bad("no-worker", "The line does not say who judged: there is no worker.")
    if not unit and not row:
        raise Bad("no-unit", "The line does not say what was judged: neither a unit nor a row.")
    return Said(
        line.number,
        worker,
        unit,
        row,
        form,
        _text(own, "page", MOST_PAGE),
        _seconds(own.get("seconds")),
        _seconds(own.get("page_seconds")),
        _moment(own.get("submitted_at")),
        _shown(own.get("shown")),
        _text(own, "rejected", MOST_REASON),
    )


def _of_batch(fields: dict[str, Any]) -> dict[str, Any]:
    found = {
        "worker": fields.get("WorkerId"),
        "page": fields.get("AssignmentId") or fields.get("HITId"),
        "page_seconds": fields.get("WorkTimeInSeconds"),
        "submitted_at": fields.get("SubmitTime"),
    }
    if str(fields.get("AssignmentStatus", "")).lower() == "rejected":
        why = fields.get("RequesterFeedback") or fields.get("Reject")
        found["rejected"] = f"Rejected at the marketplace: {why}" if why else (
            "Rejected at the marketplace."
        )  # fmt: skip
    return found


def _parts(
    fields: dict[str, Any], row_fields: Collection[str], written: Collection[str], is_batch: bool
) -> tuple[dict[str, Any], dict[str, list[str]]]:
    row: dict[str, Any] = {}
    form: dict[str, list[str]] = {}
    for name, value in fields.items():
        if name.startswith(ROW):
            if name.removeprefix(ROW) in row_fields:
                row[name.removeprefix(ROW)] = value
        elif name.startswith(FORM):
            for own, values in _answered(name.removeprefix(FORM), value, written):
                form.setdefault(own, []).extend(values)
        elif is_batch or name in OWN:
            continue
        elif name in row_fields:
            row[name] = value
        else:
            form[name] = _given(name, value, written)
    return row, form


def _answered(name: str, value: Any, written: Collection[str]) -> Iterator[tuple[str, list[str]]]:
    """As a batch has it: boxes ticked under one name come as a|b, or each as true or false under
    name.box; the newer forms give all of it as JSON."""
    if name == "taskAnswers":
        yield from _task_answers(value, written)
        return
    field, dot, box = name.partition(".")
    if dot and str(value).lower() in {"true", "false"}:
        yield field, [box] if str(value).lower() == "true" else []
    elif isinstance(value, str) and "|" in value and name not in written:
        yield name, [each for each in value.split("|") if each]
    else:
        yield name, _given(name, value, written)


def _task_answers(value: Any, written: Collection[str]) -> Iterator[tuple[str, list[str]]]:
    found = _as_json(value)
    for task in found if isinstance(found, list) else []:
        for name, given in task.items() if isinstance(task, dict) else []:
            if isinstance(given, dict):
                yield name, [box for box, ticked in given.items() if ticked is True]
            else:
                yield name, _given(name, given, written)


def _given(name: str, value: Any, written: Collection[str]) -> list[str]:
    return [value] if name in written and isinstance(value, str) else _values(value)


def _values(value: Any) -> list[str]:
    """A cell that holds a list of JSON is that list."""
    if isinstance(value, str) and value.startswith("["):
        found = _as_json(value)
        value = found if isinstance(found, list) else value
    if isinstance(value, list):
        return [_as_text(each) for each in value]
    return [_as_text(value)]


def _as_text(value: Any) -> str:
    try:
        return value if isinstance(value, str) else orjson.dumps(value).decode()
    except TypeError:
        raise Bad("too-deep", "The line holds lists in lists without end.") from None


def _as_json(text: Any) -> Any:
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return None


def _text(fields: dict[str, Any], name: str, most: int) -> str:
    value = fields.get(name)
    if value is None:
        return ""
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    return plain_text(value, name.removeprefix(ROW), most).strip()


def _seconds(value: Any) -> float | None:
    if value is None:
        return None
    try:
        seconds = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError):
        seconds = math.nan
    if not math.isfinite(seconds) or seconds < 0:
        raise Bad("bad-seconds", f"{shown(value)} is not a number of seconds.")
    return seconds


def _moment(value: Any) -> str:
    """In ISO 8601, in UTC where it names no zone; or as batches write it."""
    if value is None:
        return ""
    try:
        moment = _from_batch(value) if isinstance(value, str) else None
        moment = moment or datetime.fromisoformat(value)
    except (TypeError, ValueError):
        raise Bad("bad-time", f"{shown(value)} is not a date and time in ISO 8601.") from None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    if moment.year <= FIRST_YEAR or moment > datetime.now(UTC) + timedelta(days=1):
        raise Bad("bad-time", f"{shown(value)} cannot be when this was judged.")
    return moment.isoformat()


def _from_batch(value: str) -> datetime | None:
    """Mon Nov 16 10:05:27 PST 2026"""
    words = value.split()
    if len(words) != 6 or words[4] not in _ZONES:
        return None
    _, month, day, time, zone, year = words
    moment = datetime.strptime(f"{month} {day} {time} {year}", "%b %d %H:%M:%S %Y")
    return moment.replace(tzinfo=timezone(timedelta(hours=_ZONES[zone])))


def _shown(value: Any) -> dict[str, Any] | None:
    if value is None:
        return None
    found = _as_json(value) if isinstance(value, str) else value
    if not isinstance(found, dict):
        raise Bad("bad-shown", "What was shown is not a JSON object.")
    return found
