"""Who sees what: a stranger's things are not there (404), not forbidden."""

from typing import Any, TypeVar

from django.db.models import Model, QuerySet
from django.http import Http404
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.serializers import Serializer
from rest_framework.views import APIView

from hits.models import Role, Study, User

T = TypeVar("T", bound=Model)


def user_of(request: Request) -> User:
    assert isinstance(request.user, User)
    return request.user


def found(rows: QuerySet[T], **lookup: object) -> T:
    row = rows.filter(**lookup).first()
    if row is None:
        raise Http404
    return row


def study_of(request: Request, slug: str, *roles: str) -> Study:
    mine = Study.objects.of(user_of(request), *roles)
    return found(mine.select_related("version", "corpus"), slug=slug)


class MayCreate(BasePermission):
    """Reading is for everybody who is logged in; creating for researchers and admins."""

    message = "Only researchers may create this."

    def has_permission(self, request: Request, view: APIView) -> bool:
        if request.method in {"GET", "HEAD", "OPTIONS"}:
            return True
        user = user_of(request)
        return user.is_researcher or user.is_staff


class IsResearching(BasePermission):
    """A researcher of any study, somebody who may create one, or an admin."""

    message = "This is for researchers."

    def has_permission(self, request: Request, view: APIView) -> bool:
        user = user_of(request)
        return (
            user.is_researcher
            or user.is_staff
            or user.memberships.filter(role=Role.RESEARCHER).exists()
        )


def sent(serializer: type[Serializer[Any]], request: Request) -> dict[str, Any]:
    """What a request says, as the serializer understands it, or a ValidationError."""
    found = serializer(data=request.data)
    found.is_valid(raise_exception=True)
    return dict(found.validated_data)
