"""What is sent as JSON."""

from collections.abc import Mapping
from typing import IO, Any

from rest_framework.exceptions import ParseError
from rest_framework.parsers import JSONParser

from hits.importers.records import is_unicode

DEEPEST = 100


class SoundJSONParser(JSONParser):
    """What is nested without end or no text is the sender's fault, wherever it would break."""

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
        _refuse_unsound(found)
        return found


def _refuse_unsound(found: Any) -> None:
    level = [found]
    for _ in range(DEEPEST):
        if not all(is_unicode(each) for each in level if isinstance(each, str)):
            raise ParseError("The JSON holds a lone surrogate, which is no text.")
        level = [inner for each in level for inner in _inside(each)]
        if not level:
            return
    raise _too_deep()


def _inside(value: Any) -> Any:
    if isinstance(value, dict):
        return (*value.keys(), *value.values())
    return value if isinstance(value, list) else ()


def _too_deep() -> ParseError:
    return ParseError(f"The JSON is nested more than {DEEPEST} levels deep.")
