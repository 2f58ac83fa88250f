"""What is sent as JSON."""

from collections.abc import Mapping
from typing import IO, Any

from rest_framework.exceptions import ParseError
from rest_framework.parsers import JSONParser

DEEPEST = 100


class ShallowJSONParser(JSONParser):
    """JSON that is nested without end is the sender's fault, wherever it would break."""

    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:
        try:
            found = super().parse(stream, media_type, parser_context)
        except RecursionError:
            raise _too_deep() from None
        _refuse_too_deep(found)
        return found


def _refuse_too_deep(found: Any) -> None:
    level = [found]
    for _ in range(DEEPEST):
        level = [inner for each in level for inner in _inside(each)]
        if not level:
            return
    raise _too_deep()


def _inside(value: Any) -> Any:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


def _too_deep() -> ParseError:
    return ParseError(f"The JSON is nested more than {DEEPEST} levels deep.")
