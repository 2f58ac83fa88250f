from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from hits.marketplace.site.guards import NEVER_FRAMED

Handler = Callable[[HttpRequest], HttpResponse]


class OwnHost:
    """The marketplace answers at an address of its own: the requester's API where calls are
    posted, its worker site everywhere else."""

    def __init__(self, handle: Handler) -> None:
        self.handle = handle

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if settings.MARKETPLACE_HOST and request.get_host() == settings.MARKETPLACE_HOST:
            is_call = request.method == "POST" and request.path == "/"
            urls = "hits.marketplace.api_urls" if is_call else "hits.marketplace.urls"
            request.urlconf = urls  # type: ignore[attr-defined]
            response = self.handle(request)
            response.headers.setdefault("Content-Security-Policy", NEVER_FRAMED)
            return response
        return self.handle(request)
