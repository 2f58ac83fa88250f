"""Who may see what: views find their objects through here, and a stranger gets a 404."""

from typing import Any

from django.http import Http404, HttpRequest
from django.shortcuts import get_object_or_404

from hits.models import Role, Study, User

REVIEWING = (Role.REVIEWER, Role.RESEARCHER)


def user_of(request: HttpRequest) -> User:
    assert isinstance(request.user, User)
    return request.user


def study_for(request: HttpRequest, slug: str, *roles: str) -> Study:
    """The study, if the user belongs to it in one of these roles."""
    theirs = Study.objects.of(user_of(request), *roles)
    return get_object_or_404(theirs.select_related("version", "corpus"), slug=slug)


def study_to_review(request: HttpRequest, slug: str) -> Study:
    return get_object_or_404(
        Study.objects.of(user_of(request), *REVIEWING).exclude(state=Study.State.DRAFT), slug=slug
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
