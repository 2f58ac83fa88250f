"""The report of a study: the tables that go into an appendix."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from hits.api.access import study_of
from hits.models import Role
from hits.pipeline.report import report_of


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


class ReportSerializer(serializers.Serializer[Any]):
    at = serializers.DateTimeField(help_text="When it was computed.")
    judgments = serializers.IntegerField(help_text="Those that are used, without golds.")
    units = serializers.IntegerField()
    people = serializers.IntegerField()
    tables = TableSerializer(many=True)


class ReportView(APIView):
    @extend_schema(operation_id="studies_report", responses=ReportSerializer)
    def get(self, request: Request, slug: str) -> Response:
        """Agreement, what the protocol reports on, machines, golds and people, as tables; computed
        anew when there is something new to read."""
        study = study_of(request, slug, Role.RESEARCHER)
        return Response(ReportSerializer(report_of(study)).data)
