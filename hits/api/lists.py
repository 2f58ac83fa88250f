"""Lists: pages by cursor, and filters that a view names one by one."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from django.db import DataError
from django.db.models import QuerySet
from rest_framework import generics, serializers
from rest_framework.exceptions import NotFound, ValidationError
from rest_framework.filters import BaseFilterBackend
from rest_framework.pagination import CursorPagination
from rest_framework.request import Request
from rest_framework.views import APIView

PAGING = frozenset({"cursor", "page_size"})


class Paginator(CursorPagination):
    page_size = 50
    page_size_query_param = "page_size"
    max_page_size = 200
    # Rows that share a place in the order are passed by counting; a queue may have many.
    offset_cutoff = 100_000

    def get_ordering(
        self, request: Request, queryset: QuerySet[Any], view: APIView
    ) -> tuple[str, ...]:
        assert isinstance(view, Listing)
        return tuple(view.order)

    def paginate_queryset(
        self, queryset: QuerySet[Any], request: Request, view: APIView | None = None
    ) -> list[Any] | None:
        try:
            return super().paginate_queryset(queryset, request, view)
        except (ValueError, DataError):
            raise NotFound(self.invalid_cursor_message) from None


class NamedFilters(BaseFilterBackend):
    """Equality with the columns that a view names; any other parameter is refused."""

    def filter_queryset(
        self, request: Request, queryset: QuerySet[Any], view: APIView
    ) -> QuerySet[Any]:
        assert isinstance(view, Listing)
        unknown = sorted(set(request.query_params) - set(view.filters) - PAGING)
        if unknown:
            raise ValidationError({name: ["There is no such filter."] for name in unknown})
        for name, (column, field) in view.filters.items():
            if name in request.query_params:
                queryset = queryset.filter(**{column: _value(name, field, request)})
        return queryset

    def get_schema_operation_parameters(self, view: APIView) -> list[dict[str, Any]]:
        assert isinstance(view, Listing)
        return [
            {"name": name, "in": "query", "required": False, "schema": _schema(field)}
            for name, (_, field) in view.filters.items()
        ]


def _value(name: str, field: serializers.Field[Any, Any, Any, Any], request: Request) -> Any:
    try:
        return field.run_validation(request.query_params[name])
    except ValidationError as wrong:
        raise ValidationError({name: wrong.detail}) from None


def _schema(field: serializers.Field[Any, Any, Any, Any]) -> dict[str, Any]:
    if isinstance(field, serializers.ChoiceField):
        return {"type": "string", "enum": list(field.choices)}
    return {"type": "string"}


Filters = Mapping[str, tuple[str, serializers.Field[Any, Any, Any, Any]]]


class Listing(generics.GenericAPIView[Any]):
    """A view whose GET is a list."""

    pagination_class = Paginator
    filter_backends = [NamedFilters]
    order: ClassVar[Sequence[str]] = ("pk",)
    filters: ClassVar[Filters] = {}
