"""Registering, logging in and out."""

from django.db import IntegrityError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_http_methods, require_POST

from hits.marketplace.accounts import enroll_worker
from hits.marketplace.models import Worker
from hits.marketplace.site import session
from hits.marketplace.site.forms import Login, Registration
from hits.marketplace.site.guards import for_anyone, show

WRONG = "No worker has this name and this password."
TOO_MANY = "Too many wrong passwords. Try again in 15 minutes."


@require_http_methods(["GET", "POST"])
@for_anyone
def login(request: HttpRequest, worker: Worker | None) -> HttpResponse:
    form = Login(request.POST or None)
    if form.is_valid():
        try:
            found = session.authenticated(request, **form.cleaned_data)
        except session.TooManyFailures:
            form.add_error(None, TOO_MANY)
        else:
            if found is not None:
                return _logged_in(request, found, _next(request))
            form.add_error(None, WRONG)
    status = 400 if form.errors else 200
    return show(request, worker, "login", form=form, next=_next(request), status=status)


@require_http_methods(["GET", "POST"])
@for_anyone
def register(request: HttpRequest, worker: Worker | None) -> HttpResponse:
    form = Registration(request.POST.dict() if request.method == "POST" else None)
    if form.is_valid():
        try:
            return _logged_in(request, enroll_worker(**form.cleaned_data), "/dashboard/?welcome")
        except IntegrityError:
            form.add_error("name", "Somebody has this name already. Choose another one.")
    return show(request, worker, "register", form=form, status=400 if form.errors else 200)


@require_POST
@for_anyone
def logout(_request: HttpRequest, _worker: Worker | None) -> HttpResponse:
    response = redirect("login")
    session.log_out(response)
    return response


def _logged_in(request: HttpRequest, worker: Worker, to: str) -> HttpResponse:
    response = redirect(to)
    session.log_in(request, response, worker)
    return response


def _next(request: HttpRequest) -> str:
    asked = request.POST.get("next") or request.GET.get("next") or ""
    is_ours = url_has_allowed_host_and_scheme(asked, allowed_hosts=None)
    return asked if is_ours else "/"
