"""What the marketplace says instead of the annotation app's own error pages."""

from django.http import HttpRequest, HttpResponse

from hits.marketplace.site.guards import tell


def bad_request(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    message = "The marketplace cannot read this request. Nothing was changed."
    return tell(request, None, "Not understood", message, status=400)


def forbidden(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    return tell(request, None, "Not allowed", "You may not do this.", status=403)


def not_found(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    message = "Nothing is here. The address may be wrong, or the HIT is gone."
    return tell(request, None, "Not found", message, status=404)


def server_error(request: HttpRequest) -> HttpResponse:
    message = "Something went wrong here. Try again in a moment."
    return tell(request, None, "Out of order", message, status=500)
