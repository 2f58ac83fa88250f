"""The OpenAPI description of the API, at /api/schema/."""

from typing import Any

from drf_spectacular.views import SpectacularJSONAPIView

from hits.api import throttles

_ERROR = {
    "type": "object",
    "required": ["error", "message"],
    "properties": {
        "error": {"type": "string", "description": "A code for programs."},
        "message": {"type": "string", "description": "Words for people."},
        "errors": {"type": "object", "description": "What is wrong, by field or position."},
    },
}
_OF_ANY = {
    "400": "What was sent makes no sense, or does not fit.",
    "401": "No token, or one that is not known.",
    "403": "Not for this person.",
    "404": "Not there, or not for this person to see.",
    "409": "Past the state in which this can be done.",
    "429": "Too many requests; Retry-After says when to come again.",
}
_OF_BODIES = {
    "413": "More than can be sent at once.",
    "415": "Not in a format that is understood here.",
    "422": "Answers are missing or not complete.",
}


class Schema(SpectacularJSONAPIView):
    throttle_classes = [throttles.Anonymous]


def with_errors(result: dict[str, Any], **values: Any) -> dict[str, Any]:
    """Every operation answers what it cannot do alike; told once, here."""
    result["components"]["schemas"]["Error"] = _ERROR
    for operations in result["paths"].values():
        for method, operation in operations.items():
            statuses = _OF_ANY if method == "get" else _OF_ANY | _OF_BODIES
            for status, description in statuses.items():
                operation["responses"].setdefault(status, _response(description))
    return result


def _response(description: str) -> dict[str, Any]:
    told = {"schema": {"$ref": "#/components/schemas/Error"}}
    return {"description": description, "content": {"application/json": told}}
