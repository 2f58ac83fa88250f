"""Tables in the API, and each as a file."""

from typing import Any

from django.http import Http404, HttpResponse
from rest_framework import serializers

from hits.exporters.files import TYPES, file_among
from hits.records import Table


class ColumnSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    kind = serializers.ChoiceField(
        ["text", "count", "share", "number"], help_text="Shares lie between 0 and 1."
    )


class TableSerializer(serializers.Serializer[Any]):
    slug = serializers.CharField()
    title = serializers.CharField()
    note = serializers.CharField(help_text="What is counted, and what was left out.")
    why = serializers.CharField(help_text="Why there are no rows; else empty.")
    columns = ColumnSerializer(many=True)
    rows = serializers.ListField(
        child=serializers.ListField(child=serializers.JSONField(allow_null=True)),
        help_text="A cell for each column: a text, a number, or nothing.",
    )
    has_figure = serializers.SerializerMethodField(help_text="It can be had as SVG, PDF and PNG.")

    def get_has_figure(self, table: Table) -> bool:
        return table.chart is not None


def file_of(tables: list[Table], slug: str, form: str) -> HttpResponse:
    made = file_among(tables, slug, form)
    if made is None:
        raise Http404
    response = HttpResponse(made, content_type=TYPES[form])
    response.headers["Content-Disposition"] = f'attachment; filename="{slug}.{form}"'
    return response
