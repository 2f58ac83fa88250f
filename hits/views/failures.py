"""What is said when a request is refused before a view can answer it."""

from django.core.exceptions import RequestDataTooBig, TooManyFieldsSent, TooManyFilesSent
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.template.loader import render_to_string

WORKER_PAGES = "/hit/"
TOO_LARGE = (RequestDataTooBig, TooManyFieldsSent, TooManyFilesSent)


def bad_request(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    if isinstance(exception, TOO_LARGE):
        message = "This is more than can be sent at once. Go back, shorten it and send it again."
        return _say(request, "too_large", "Too large", message, status=413)
    message = "This request or its address cannot be read. Nothing was changed."
    return _say(request, "bad_request", "Not understood", message, status=400)


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    message = (
        "You logged in again in another window, or this site may keep no cookies here. Nothing "
        "was changed: go back, reload the page and press again."
    )
    return _say(request, "forgery", "Press again", message, status=403)


def not_by_this_method(request: HttpRequest, allowed: str) -> HttpResponse:
    message = "This address only takes what is sent from a page. Go back to that page and press."
    response = _say(request, "method_not_allowed", "Nothing to see", message, status=405)
    response.headers["Allow"] = allowed
    return response


def _say(
    request: HttpRequest, error: str, title: str, message: str, *, status: int
) -> HttpResponse:
    """Rendered without the request: neither its session nor its addresses can be relied on."""
    is_read_by_a_program = request.path.startswith("/api/")
    if is_read_by_a_program or "application/json" in request.headers.get("Accept", ""):
        return JsonResponse({"error": error, "message": message}, status=status)
    if request.path.startswith(WORKER_PAGES):
        text = render_to_string("work/worker_message.html", {"sentence": message})
    else:
        text = render_to_string("refused.html", {"title": title, "message": message})
    return HttpResponse(text, status=status)
