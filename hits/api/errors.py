"""Every error of the API is {"error": code, "message": text, …} with a status that fits."""

from typing import Any

from django.core.exceptions import PermissionDenied, ValidationError
from django.http import Http404, HttpRequest, JsonResponse
from django.views.decorators.csrf import csrf_exempt
from rest_framework import exceptions, status
from rest_framework.response import Response
from rest_framework.views import set_rollback

from hits.api.answers import by_position
from hits.pipeline import errors

_PIPELINE: list[tuple[type[errors.PipelineError], int, str]] = [
    (errors.NotAllowed, status.HTTP_403_FORBIDDEN, "not_allowed"),
    (errors.NothingLeft, status.HTTP_409_CONFLICT, "nothing_left"),
    (errors.Closed, status.HTTP_409_CONFLICT, "closed"),
    (errors.Stale, status.HTTP_409_CONFLICT, "stale"),
    (errors.NotComputed, status.HTTP_409_CONFLICT, "not_computed"),
    (errors.Refused, status.HTTP_400_BAD_REQUEST, "refused"),
    (errors.Incomplete, status.HTTP_422_UNPROCESSABLE_ENTITY, "incomplete"),
]


@csrf_exempt
def unknown_address(request: HttpRequest, unknown: str = "") -> JsonResponse:
    message = "There is no such address. See /api/schema/ for those there are."
    return JsonResponse({"error": "not_found", "message": message}, status=404)


def answer(error: Exception, context: dict[str, Any]) -> Response | None:
    """Django REST framework's exception handler; None leaves the error to Django."""
    response = _response(error)
    if response is not None:
        set_rollback()
    return response


def _response(error: Exception) -> Response | None:
    match error:
        case errors.PipelineError():
            return _of_pipeline(error)
        case Http404():
            return _body(status.HTTP_404_NOT_FOUND, "not_found", "There is no such thing here.")
        case PermissionDenied():
            return _body(status.HTTP_403_FORBIDDEN, "not_allowed", "You may not do this.")
        case ValidationError():
            return _body(status.HTTP_400_BAD_REQUEST, "invalid", " ".join(error.messages))
        case exceptions.ValidationError():
            return _body(
                status.HTTP_400_BAD_REQUEST,
                "invalid",
                "The request does not fit; see the errors.",
                errors=error.detail,
            )
        case exceptions.APIException():
            return _of_framework(error)
    return None


def _of_pipeline(error: errors.PipelineError) -> Response:
    code, name = next(
        (status_code, name) for kind, status_code, name in _PIPELINE if isinstance(error, kind)
    )
    extra = {"errors": by_position(error.errors)} if isinstance(error, errors.Incomplete) else {}
    return _body(code, name, error.message, **extra)


def _of_framework(error: exceptions.APIException) -> Response:
    codes = error.get_codes()
    response = _body(
        error.status_code,
        codes if isinstance(codes, str) else error.default_code,
        str(error.detail),
    )
    wait = getattr(error, "wait", None)
    if wait:
        response["Retry-After"] = str(int(wait) + 1)
    challenge = getattr(error, "auth_header", None)
    if challenge:
        response["WWW-Authenticate"] = challenge
    return response


def _body(code: int, error: str, message: str, **extra: Any) -> Response:
    return Response({"error": error, "message": message, **extra}, status=code)
