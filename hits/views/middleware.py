import time
from collections.abc import Callable

import structlog
from django.conf import settings
from django.http import HttpRequest, HttpResponse

log = structlog.get_logger("requests")

Handler = Callable[[HttpRequest], HttpResponse]

# Images in a bucket are redirects to its endpoint.
CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; "
    f"img-src 'self' data: https: {settings.S3_ENDPOINT_URL or ''}; "
    "connect-src 'self'; font-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'"
)


def request_log(handle: Handler) -> Handler:
    """One structured line a request; never its query string, which may carry secrets."""

    def middleware(request: HttpRequest) -> HttpResponse:
        started = time.perf_counter()
        response = handle(request)
        log.info(
            "request",
            method=request.method,
            path=request.path,
            status=response.status_code,
            milliseconds=round((time.perf_counter() - started) * 1000, 1),
        )
        return response

    return middleware


def content_security(handle: Handler) -> Handler:
    def middleware(request: HttpRequest) -> HttpResponse:
        response = handle(request)
        response.headers.setdefault("Content-Security-Policy", CONTENT_SECURITY_POLICY)
        return response

    return middleware
