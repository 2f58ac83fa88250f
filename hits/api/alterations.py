"""BISON's queries, altered: a file in, a file out."""

from typing import Any

from django.http import StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.parsers import MultiPartParser
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.views import APIView

from hits.analysis.alterations import KINDS
from hits.api import throttles
from hits.api.access import IsResearching, user_of
from hits.api.evaluations import sent_files
from hits.pipeline.alter import ASKED, altered_queries
from hits.pipeline.evaluate import settings_of


class AlterSerializer(serializers.Serializer[Any]):
    annotations = serializers.FileField(
        required=False, help_text="JSON in the public BISON layout, with captions."
    )
    annotations_release = serializers.IntegerField(
        required=False, help_text="Or the number of a release's bison_annotations.json."
    )
    alteration = serializers.ChoiceField(list(KINDS))
    seed = serializers.IntegerField(min_value=0, max_value=2**31 - 1, default=0)


class AlterQueries(APIView):
    permission_classes = [IsAuthenticated, IsResearching]
    parser_classes = [MultiPartParser]
    throttle_classes = [throttles.AskForWork]

    @extend_schema(
        operation_id="alterations_create",
        request={"multipart/form-data": AlterSerializer},
        responses={(200, "application/json"): OpenApiTypes.BINARY},
    )
    def post(self, request: Request) -> StreamingHttpResponse:
        """The same file with altered captions; queries that cannot be altered are left out."""
        AlterSerializer(data=request.data).is_valid(raise_exception=True)
        files = sent_files(ASKED, request, user_of(request))
        pieces = altered_queries(files["annotations"], **settings_of(ASKED, request.data))
        return StreamingHttpResponse(pieces, content_type="application/json")
