"""botocore's own model of the API: what a request may hold, and what an answer must be."""

import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import botocore.session
from botocore.model import ListShape, OperationModel, ServiceModel, Shape, StructureShape

SERVICE = "mturk"
NUMBERS = {"integer": 2**31, "long": 2**63}
# PostgreSQL stores neither of them.
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def _model() -> ServiceModel:
    return botocore.session.get_session().get_service_model(SERVICE)


MODEL = _model()
TARGET_PREFIX: str = MODEL.metadata["targetPrefix"]
OPERATIONS = frozenset(MODEL.operation_names)


@dataclass(frozen=True)
class Problem:
    """`is_type` tells a value of the wrong type from one that breaks a constraint."""

    at: str
    value: Any
    constraint: str
    is_type: bool = False

    def __str__(self) -> str:
        return (
            f"Value '{self.value}' at '{self.at}' failed to satisfy constraint: {self.constraint}"
        )


def operation(name: str) -> OperationModel:
    return MODEL.operation_model(name)


def problems(shape: Shape | None, value: Any, at: str = "") -> list[Problem]:
    return list(_problems(shape, value, at)) if shape is not None else []


def parsed(shape: Shape | None, value: Any) -> Any:
    """The request as Python sees it: epochs become moments, members set to null are left out."""
    if isinstance(shape, StructureShape):
        return {
            name: parsed(shape.members[name], member)
            for name, member in value.items()
            if member is not None and name in shape.members
        }
    if isinstance(shape, ListShape):
        return [parsed(shape.member, member) for member in value]
    if shape is not None and shape.type_name == "timestamp":
        return datetime.fromtimestamp(value, UTC)
    return value


def serialized(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: serialized(member) for name, member in value.items()}
    if isinstance(value, list):
        return [serialized(member) for member in value]
    if isinstance(value, datetime):
        return value.timestamp()
    return value


def _problems(shape: Shape, value: Any, at: str) -> Iterator[Problem]:
    if isinstance(shape, StructureShape):
        yield from _of_structure(shape, value, at)
    elif isinstance(shape, ListShape):
        yield from _of_list(shape, value, at)
    else:
        yield from _SCALARS[shape.type_name](shape, value, at)


def _wrong_type(shape: Shape, value: Any, at: str) -> Problem:
    return Problem(at, value, f"Member must be of type {shape.type_name}", is_type=True)


def _of_structure(shape: StructureShape, value: Any, at: str) -> Iterator[Problem]:
    if not isinstance(value, Mapping):
        yield _wrong_type(shape, value, at)
        return
    for name in shape.required_members:
        if value.get(name) is None:
            yield Problem(_path(at, name), "null", "Member must not be null")
    for name, member in value.items():
        if name in shape.members and member is not None:
            yield from _problems(shape.members[name], member, _path(at, name))


def _of_list(shape: ListShape, value: Any, at: str) -> Iterator[Problem]:
    if not isinstance(value, list):
        yield _wrong_type(shape, value, at)
        return
    yield from _of_size(shape, len(value), value, at, "length")
    for position, member in enumerate(value, 1):
        where = f"{at}.{position}.member"
        if member is None:
            yield Problem(where, "null", "Member must not be null")
        else:
            yield from _problems(shape.member, member, where)


def _of_string(shape: Shape, value: Any, at: str) -> Iterator[Problem]:
    if not isinstance(value, str):
        yield _wrong_type(shape, value, at)
        return
    if _UNSTORABLE.search(value):
        yield Problem(at, value.encode(errors="replace"), "Member must be text", is_type=True)
    allowed = shape.metadata.get("enum")
    if allowed and value not in allowed:
        yield Problem(at, value, f"Member must satisfy enum value set: [{', '.join(allowed)}]")
    yield from _of_size(shape, len(value), value, at, "length")
    pattern = shape.metadata.get("pattern")
    if pattern and not re.fullmatch(pattern, value):
        yield Problem(at, value, f"Member must satisfy regular expression pattern: {pattern}")


def _of_number(shape: Shape, value: Any, at: str) -> Iterator[Problem]:
    limit = NUMBERS[shape.type_name]
    if not isinstance(value, int) or isinstance(value, bool) or not -limit <= value < limit:
        yield _wrong_type(shape, value, at)
        return
    yield from _of_size(shape, value, value, at, "value")


def _of_boolean(shape: Shape, value: Any, at: str) -> Iterator[Problem]:
    if not isinstance(value, bool):
        yield _wrong_type(shape, value, at)


def _of_timestamp(shape: Shape, value: Any, at: str) -> Iterator[Problem]:
    if isinstance(value, datetime):
        return
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    # From the year 1 to the year 9999, which is as far as a datetime goes.
    if not is_number or not math.isfinite(value) or not -62135596800 <= value < 253402300800:
        yield _wrong_type(shape, value, at)


def _of_size(shape: Shape, size: int, value: Any, at: str, what: str) -> Iterator[Problem]:
    least, most = shape.metadata.get("min"), shape.metadata.get("max")
    if least is not None and size < least:
        yield Problem(at, value, f"Member must have {what} greater than or equal to {least}")
    if most is not None and size > most:
        yield Problem(at, value, f"Member must have {what} less than or equal to {most}")


def _path(at: str, name: str) -> str:
    return f"{at}.{name}" if at else name


_SCALARS: Mapping[str, Callable[[Shape, Any, str], Iterator[Problem]]] = {
    "string": _of_string,
    "integer": _of_number,
    "long": _of_number,
    "boolean": _of_boolean,
    "timestamp": _of_timestamp,
}
