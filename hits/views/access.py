"""Who may see what: views find their objects through here, and a stranger gets a 404."""

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from django.contrib import messages
from django.contrib.auth.views import redirect_to_login
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.urls import reverse

from hits.models import Role, Study, User

P = ParamSpec("P")
R = TypeVar("R")

REVIEWING = (Role.REVIEWER, Role.RESEARCHER)


def login_required(
    view: Callable[Concatenate[HttpRequest, P], R],
) -> Callable[Concatenate[HttpRequest, P], R | HttpResponse]:
    """Who is logged out is asked to log in, and comes back to a page: the one asked for, or the
    one whose form was sent, to send it again."""

    @wraps(view)
    def checked(request: HttpRequest, /, *args: P.args, **kwargs: P.kwargs) -> R | HttpResponse:
        if request.user.is_authenticated:
            return view(request, *args, **kwargs)
        if request.method in {"GET", "HEAD"}:
            return redirect_to_login(request.get_full_path())
        messages.warning(request, "You were logged out, so nothing was done. Log in, press again.")
        return redirect_to_login(_page_of_the_form(request))

    return checked


def _page_of_the_form(request: HttpRequest) -> str:
    """Where the browser says that the form was, if that is a page of ours."""
    referer = request.headers.get("Referer", "")
    ours = request.build_absolute_uri("/")
    return f"/{referer.removeprefix(ours)}" if referer.startswith(ours) else reverse("home")


def user_of(request: HttpRequest) -> User:
    assert isinstance(request.user, User)
    return request.user


def study_for(request: HttpRequest, slug: str, *roles: str) -> Study:
    """The study, if the user belongs to it in one of these roles."""
    theirs = Study.objects.of(user_of(request), *roles)
    return get_object_or_404(theirs.select_related("version", "corpus"), slug=slug)


def study_to_review(request: HttpRequest, slug: str) -> Study:
    return get_object_or_404(
        Study.objects.of(user_of(request), *REVIEWING)
        .exclude(state=Study.State.DRAFT)
        .select_related("version"),
        slug=slug,
    )


def study_of_researcher(request: HttpRequest, slug: str) -> Study:
    return study_for(request, slug, Role.RESEARCHER)


def may_create(user: User) -> bool:
    return user.is_researcher or user.is_staff


def desks(user: User) -> dict[str, Any]:
    """Which desks the navigation offers; a rater sees none of them."""
    roles = set(user.memberships.values_list("role", flat=True).distinct())
    researches = may_create(user) or Role.RESEARCHER in roles
    return {
        "may_rate": Role.RATER in roles,
        "may_review": user.is_staff or bool(roles & set(REVIEWING)),
        "may_research": researches,
    }


def desks_or_404(request: HttpRequest, desk: str) -> dict[str, Any]:
    found = desks(user_of(request))
    if not found[desk]:
        raise Http404
    return found
