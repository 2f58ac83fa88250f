"""The report of a study: the tables and figures that go into an appendix."""

from typing import Any

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from hits.api.access import study_of, user_of
from hits.api.jobs import JobSerializer
from hits.api.tables import TableSerializer, file_of
from hits.models import Role
from hits.pipeline.report import ask_for_report, report_of


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
        anew when there is something new to read. Of more than 20,000 judgments it is the last one
        that was asked for, and 409 before that."""
        study = study_of(request, slug, Role.RESEARCHER)
        return Response(ReportSerializer(report_of(study)).data)

    @extend_schema(
        operation_id="studies_report_compute", request=None, responses={202: JobSerializer}
    )
    def post(self, request: Request, slug: str) -> Response:
        """Have the report computed by a job."""
        study = study_of(request, slug, Role.RESEARCHER)
        job = ask_for_report(study=study, by=user_of(request))
        return Response(JobSerializer(job).data, status=status.HTTP_202_ACCEPTED)


class ReportFile(APIView):
    @extend_schema(
        operation_id="studies_report_file",
        responses={(200, "application/octet-stream"): OpenApiTypes.BINARY},
    )
    def get(self, request: Request, slug: str, table: str, form: str) -> HttpResponse:
        """A table as csv or tex, its figure as svg, pdf or png."""
        study = study_of(request, slug, Role.RESEARCHER)
        return file_of(report_of(study).tables, table, form)
