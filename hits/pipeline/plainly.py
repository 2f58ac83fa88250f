"""What is wrong with values that a pydantic model refused, in words for people who never saw it."""

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

_SENTENCES = {
    "missing": "is missing",
    "extra_forbidden": "is not known here",
    "int_type": "must be a whole number",
    "int_parsing": "must be a whole number",
    "int_from_float": "must be a whole number",
    "float_type": "must be a number",
    "float_parsing": "must be a number",
    "finite_number": "must be a number",
    "bool_type": "must be true or false",
    "bool_parsing": "must be true or false",
    "string_type": "must be text",
    "string_too_short": "must have at least {min_length} characters",
    "string_too_long": "must have at most {max_length} characters",
    "string_pattern_mismatch": "must have the form {pattern}",
    "literal_error": "must be {expected}",
    "enum": "must be {expected}",
    "greater_than": "must be more than {gt}",
    "greater_than_equal": "must be at least {ge}",
    "less_than": "must be less than {lt}",
    "less_than_equal": "must be at most {le}",
    "list_type": "must be a list",
    "tuple_type": "must be a list",
    "dict_type": "must be an object of names and values",
    "model_type": "must be an object of names and values",
    "model_attributes_type": "must be an object of names and values",
    "too_short": "must have at least {min_length} entries",
    "too_long": "must have at most {max_length} entries",
    "none_required": "must be left out",
}


def plainly(wrong: ValidationError) -> str:
    """All that is wrong, each with where it is."""
    return "; ".join(_fault(error) for error in _told_once(wrong))


def sentence_of(error: ErrorDetails) -> str:
    """What is wrong with one value, to stand beside it."""
    said = _said(error)
    return said if said[:1].isupper() else f"This {said}."


def _fault(error: ErrorDetails) -> str:
    where = ".".join(str(part) for part in error["loc"] if not _is_branch(part))
    said = _said(error)
    if not where:
        return said
    return f"{where}: {said}" if said[:1].isupper() else f"{where} {said}"


def _said(error: ErrorDetails) -> str:
    values: Mapping[str, Any] = error.get("ctx", {})
    if error["type"] == "value_error":
        return str(values["error"])
    sentence = _SENTENCES.get(error["type"])
    return error["msg"] if sentence is None else sentence.format(**values)


def _is_branch(part: int | str) -> bool:
    """Pydantic names the kind of value that it tried, such as list[str], as a part of the place."""
    return isinstance(part, str) and ("[" in part or part in {"str", "int", "float", "bool"})


def _told_once(wrong: ValidationError) -> list[ErrorDetails]:
    """Where a value may be of several kinds, what is wrong is told of the first of them."""
    found: dict[tuple[int | str, ...], ErrorDetails] = {}
    for error in wrong.errors(include_url=False, include_input=False):
        found.setdefault(tuple(part for part in error["loc"] if not _is_branch(part)), error)
    return list(found.values())
