import time
from collections.abc import Callable, Iterable

import structlog
from django.conf import settings
from django.http import HttpRequest, HttpResponse

from hits.channels import configured
from hits.views import failures
from hits.views.failures import WORKER_PAGES

log = structlog.get_logger("requests")

Handler = Callable[[HttpRequest], HttpResponse]


def content_security_policy(*, form_action: Iterable[str], frame_ancestors: Iterable[str]) -> str:
    # Images in a bucket are redirects to its endpoint.
    return (
        "default-src 'none'; script-src 'self'; style-src 'self'; "
        f"img-src 'self' data: https: {settings.S3_ENDPOINT_URL or ''}; "
        "connect-src 'self'; font-src 'self'; base-uri 'none'; "
        f"form-action {' '.join(form_action)}; frame-ancestors {' '.join(frame_ancestors)}"
    )


CONTENT_SECURITY_POLICY = content_security_policy(
    form_action=["'self'"], frame_ancestors=["'none'"]
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
        if _is_ours(request):
            response.headers.setdefault("Content-Security-Policy", CONTENT_SECURITY_POLICY)
        return response

    return middleware


def worker_pages(handle: Handler) -> Handler:
    """What marketplaces frame: only they may, and no cookie is read there."""

    def middleware(request: HttpRequest) -> HttpResponse:
        if not _is_worker_page(request):
            return handle(request)
        request.META.pop("HTTP_COOKIE", None)
        response = handle(request)
        channels = [configured.channel(name) for name in configured.names()]
        frames = {origin for channel in channels for origin in channel.frame_ancestors}
        submits = {channel.submit_origin for channel in channels if channel.submit_origin}
        response.headers["Content-Security-Policy"] = content_security_policy(
            # A marketplace may send the browser on from where it is posted to.
            form_action=["'self'", *sorted(submits | frames)],
            frame_ancestors=sorted(frames) or ["'none'"],
        )
        if frames:
            response.headers.pop("X-Frame-Options", None)
        return response

    return middleware


def no_nul(handle: Handler) -> Handler:
    """No address of ours has a NUL in it, and PostgreSQL can look none up."""

    def middleware(request: HttpRequest) -> HttpResponse:
        # The key of a worker's page is signed, and what follows it is checked by itself.
        if not _is_ours(request) or _is_worker_page(request):
            return handle(request)
        if "\0" in request.path_info or "%00" in request.META.get("QUERY_STRING", ""):
            return failures.bad_request(request)
        return handle(request)

    return middleware


def readable_refusals(handle: Handler) -> Handler:
    """A form's address that is opened as a page says so, in place of an empty page."""

    def middleware(request: HttpRequest) -> HttpResponse:
        response = handle(request)
        is_blank = response.status_code == 405 and not response.streaming and not response.content
        if is_blank and _is_ours(request):
            return failures.not_by_this_method(request, response.headers["Allow"])
        return response

    return middleware


def _is_worker_page(request: HttpRequest) -> bool:
    return request.path_info.startswith(WORKER_PAGES) and _is_ours(request)


def _is_ours(request: HttpRequest) -> bool:
    """Another host's addresses have a URL configuration of their own, and rules of their own."""
    return not hasattr(request, "urlconf")
