"""What every page of the worker site goes through."""

from collections.abc import Callable
from functools import wraps

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt

from hits.marketplace.models import Worker
from hits.marketplace.site.session import worker_of

View = Callable[..., HttpResponse]

CONTENT_SECURITY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-src http: https:; "
)
NEVER_FRAMED = CONTENT_SECURITY + "frame-ancestors 'none'"
FRAMED_BY_ITSELF = CONTENT_SECURITY + "frame-ancestors 'self'"


def for_anyone(view: View) -> View:
    """Calls the view with the worker who is logged in, or none."""

    # Django's own check keeps its secret in a cookie that the annotation app, on another port of
    # the same host, would change; browsers say where a form comes from.
    @csrf_exempt
    @never_cache
    @wraps(view)
    def guarded(request: HttpRequest, **named: object) -> HttpResponse:
        if request.method == "POST" and request.headers.get("Origin") != origin(request):
            message = "This form was not sent from the marketplace's own page. Nothing was done."
            return tell(request, None, "Not done", message, status=403)
        return view(request, worker_of(request), **named)

    return guarded


def for_workers(view: View) -> View:
    """Calls the view with the worker who is logged in; anybody else logs in first."""

    @for_anyone
    @wraps(view)
    def guarded(request: HttpRequest, worker: Worker | None, **named: object) -> HttpResponse:
        if worker is None:
            back = request.get_full_path() if request.method == "GET" else "/"
            return redirect(f"{reverse('login')}?{urlencode({'next': back})}")
        return view(request, worker, **named)

    return guarded


def origin(request: HttpRequest) -> str:
    return f"{request.scheme}://{request.get_host()}"


def show(
    request: HttpRequest, worker: Worker | None, template: str, *, status: int = 200, **more: object
) -> HttpResponse:
    context = {"worker": worker, **more}
    return render(request, f"marketplace/{template}.html", context, status=status)


def tell(
    request: HttpRequest, worker: Worker | None, title: str, message: str, *, status: int
) -> HttpResponse:
    return show(request, worker, "told", title=title, message=message, status=status)
