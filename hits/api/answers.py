"""Answers by position in the API, flat fields in the form: one and the other."""

from collections.abc import Mapping
from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.exceptions import ValidationError

from hits.records import Fields

MOST_POSITIONS = 500
MOST_VALUES = 50
LONGEST_VALUE = 5_000
LONGEST_NAME = 30


@extend_schema_field(
    {"type": "object", "additionalProperties": {"type": "object", "additionalProperties": True}}
)
class AnswersField(serializers.Field[Fields, Any, Any, Any]):
    """{"1": {"choice": "yes", "reasons": ["wrong"], "ms": 1234}, …} as the fields of the form."""

    _text = serializers.CharField(allow_blank=True, max_length=LONGEST_VALUE, trim_whitespace=False)

    def to_internal_value(self, data: Any) -> Fields:
        if not isinstance(data, dict) or len(data) > MOST_POSITIONS:
            raise ValidationError("Send an object with the answers by position.")
        return {
            f"q{self._position(position)}-{self._name(name)}": self._values(value)
            for position, answer in data.items()
            for name, value in self._answer(answer).items()
        }

    def to_representation(self, value: Fields) -> Any:
        return by_position(value)

    def _position(self, position: str) -> int:
        if not (position.isascii() and position.isdigit()) or len(position) > 3:
            raise ValidationError(f"{position!r} is no position.")
        return int(position)

    def _answer(self, answer: Any) -> dict[str, Any]:
        if not isinstance(answer, dict) or len(answer) > MOST_VALUES:
            raise ValidationError("An answer is an object of names and values.")
        return answer

    def _name(self, name: str) -> str:
        if not name.isidentifier() or not name.isascii() or len(name) > LONGEST_NAME:
            raise ValidationError(f"{name[:LONGEST_NAME]!r} is no name of a field.")
        return name

    def _values(self, value: Any) -> list[str]:
        values = value if isinstance(value, list) else [value]
        if len(values) > MOST_VALUES:
            raise ValidationError("These are too many values for a field.")
        return [self._text.run_validation(each) for each in values]


def by_position(fields: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The form's q1-choice as {"1": {"choice": …}}."""
    found: dict[str, dict[str, Any]] = {}
    for field, value in fields.items():
        position, _, name = field.partition("-")
        found.setdefault(position.removeprefix("q"), {})[name] = value
    return found
