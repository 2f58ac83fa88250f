"""Files of lines into a study: rows that units are made of, and judgments made elsewhere."""

from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import generics, mixins, serializers, status
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from hits.api import throttles
from hits.api.access import study_of, user_of
from hits.api.corpora import source_of
from hits.api.corpora_serializers import SourceSerializer
from hits.api.jobs import JobSerializer
from hits.api.lists import Listing
from hits.api.parsing import SoundJSONParser
from hits.importers.lines import KINDS
from hits.models import JudgmentImport, Role, Study
from hits.pipeline import jobs
from hits.pipeline.judgments import may_take
from hits.pipeline.rows import remove_rows, row_model_of


class JudgmentsSerializer(SourceSerializer):
    raise_wanted = serializers.BooleanField(
        default=False, help_text="Count judgments beyond what units want, by wanting more."
    )


class JudgmentImportSerializer(serializers.ModelSerializer[JudgmentImport]):
    by = serializers.StringRelatedField[Any]()
    counts = serializers.DictField(child=serializers.IntegerField(), read_only=True)

    class Meta:
        model = JudgmentImport
        fields = ["id", "at", "by", "file_name", "sha256", "counts"]
        read_only_fields = fields


class StudyRows(generics.GenericAPIView[Study]):
    serializer_class = SourceSerializer
    parser_classes = [MultiPartParser, SoundJSONParser]
    throttle_classes = [throttles.AskForWork]

    @extend_schema(operation_id="studies_rows_import", responses={202: JobSerializer})
    def post(self, request: Request, slug: str) -> Response:
        """Import a CSV or JSONL file of rows to make units of; the same again adds nothing."""
        study = study_of(request, slug, Role.RESEARCHER)
        row_model_of(study)
        sent = SourceSerializer(data=request.data)
        sent.is_valid(raise_exception=True)
        return _asked(request, study, "rows", source_of(sent.validated_data, KINDS))

    @extend_schema(operation_id="studies_rows_remove", responses={204: None})
    def delete(self, request: Request, slug: str) -> Response:
        """Remove all rows of a draft."""
        remove_rows(study=study_of(request, slug, Role.RESEARCHER))
        return Response(status=status.HTTP_204_NO_CONTENT)


class ImportList(mixins.ListModelMixin, Listing):
    queryset = JudgmentImport.objects.none()
    serializer_class = JudgmentImportSerializer
    parser_classes = [MultiPartParser, SoundJSONParser]
    throttle_classes = [throttles.AskForWork]
    order = ("-pk",)

    def get_queryset(self) -> QuerySet[JudgmentImport]:
        study = study_of(self.request, self.kwargs["slug"], Role.RESEARCHER)
        return study.imports.select_related("by")

    @extend_schema(operation_id="studies_imports_list")
    def get(self, request: Request, slug: str) -> Response:
        """The files of judgments made elsewhere that brought something in."""
        return self.list(request)

    @extend_schema(
        operation_id="studies_imports_create",
        request=JudgmentsSerializer,
        responses={202: JobSerializer},
    )
    def post(self, request: Request, slug: str) -> Response:
        """Import a CSV or JSONL file of judgments made elsewhere, or a batch as Mechanical Turk
        gave it out; the same again adds nothing."""
        study = study_of(request, slug, Role.RESEARCHER)
        may_take(study)
        sent = JudgmentsSerializer(data=request.data)
        sent.is_valid(raise_exception=True)
        arguments = {
            **source_of(sent.validated_data, KINDS),
            "raise_wanted": sent.validated_data["raise_wanted"],
            "by": user_of(request).pk,
        }
        return _asked(request, study, "judgments", arguments)


def _asked(request: Request, study: Study, kind: str, arguments: dict[str, Any]) -> Response:
    job = jobs.ask(
        kind=kind, arguments={"study": study.pk, **arguments}, by=user_of(request), study=study
    )
    return Response(JobSerializer(job).data, status=status.HTTP_202_ACCEPTED)
