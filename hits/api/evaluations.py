"""Evaluations: analyses of files that researchers bring, computed by a job and kept."""

from typing import Any

from django.core.files.uploadedfile import UploadedFile
from django.db.models import QuerySet
from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import mixins, serializers, status
from rest_framework.parsers import MultiPartParser
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from hits.analysis.evaluations.contract import FILES, Kind, Setting, Upload
from hits.analysis.evaluations.kinds import KINDS
from hits.api import throttles
from hits.api.access import IsResearching, found, user_of
from hits.api.lists import Listing
from hits.api.tables import TableSerializer, file_of
from hits.models import Evaluation, ReleaseFile, User
from hits.pipeline import visible
from hits.pipeline.evaluate import RELEASED, ask_to_evaluate, settings_of, tables_of, why_not


class UploadSerializer(serializers.Serializer[Upload]):
    name = serializers.CharField(help_text="The field of the form that the file is sent in.")
    label = serializers.CharField()  # type: ignore[assignment]  # a field of this name
    help = serializers.CharField()
    files = serializers.SerializerMethodField(help_text="How its name may end.")
    required = serializers.BooleanField()  # type: ignore[assignment]  # a field of this name
    released = serializers.ListField(
        child=serializers.CharField(),
        help_text=f"Files of a release that can be taken: send their number as <name>{RELEASED}.",
    )

    def get_files(self, upload: Upload) -> list[str]:
        return list(FILES[upload.form])


class SettingSerializer(serializers.Serializer[Setting]):
    name = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment]  # a field of this name
    help = serializers.CharField()
    default = serializers.JSONField()
    options = serializers.DictField(child=serializers.CharField(), allow_null=True)
    low = serializers.IntegerField()
    high = serializers.IntegerField()


class KindSerializer(serializers.Serializer[Any]):
    slug = serializers.CharField()
    title = serializers.CharField()
    description = serializers.CharField()
    uploads = UploadSerializer(many=True)
    settings = SettingSerializer(many=True)


class EvaluationSerializer(serializers.ModelSerializer[Evaluation]):
    by = serializers.StringRelatedField[Any]()
    state = serializers.CharField(source="job.state", read_only=True)
    message = serializers.CharField(
        source="job.message", read_only=True, help_text="How far it is, or why it failed."
    )
    settings = serializers.DictField(read_only=True)
    files = serializers.DictField(read_only=True, help_text="Name, size and checksum, by upload.")

    class Meta:
        model = Evaluation
        fields = ["id", "kind", "name", "by", "at", "state", "message", "job", "settings", "files"]
        read_only_fields = fields


class EvaluationInFullSerializer(EvaluationSerializer):
    tables = serializers.SerializerMethodField()

    class Meta(EvaluationSerializer.Meta):
        fields = [*EvaluationSerializer.Meta.fields, "tables"]
        read_only_fields = fields

    @extend_schema_field(TableSerializer(many=True))
    def get_tables(self, evaluation: Evaluation) -> Any:
        return TableSerializer(tables_of(evaluation), many=True).data


class NewEvaluationSerializer(serializers.Serializer[Any]):
    """Beside these, the uploads and settings of the kind, each by its name."""

    kind = serializers.ChoiceField(list(KINDS))
    name = serializers.CharField(max_length=120, default="", allow_blank=True)


class KindList(APIView):
    permission_classes = [IsAuthenticated, IsResearching]

    @extend_schema(operation_id="evaluation_kinds_list", responses=KindSerializer(many=True))
    def get(self, request: Request) -> Response:
        """What can be computed, and which files and settings each asks for."""
        return Response(KindSerializer(list(KINDS.values()), many=True).data)


class EvaluationList(mixins.ListModelMixin, Listing):
    queryset = Evaluation.objects.none()
    serializer_class = EvaluationSerializer
    permission_classes = [IsAuthenticated, IsResearching]
    parser_classes = [MultiPartParser]
    throttle_classes = [throttles.AskForWork]
    order = ("-pk",)
    filters = {"kind": ("kind", serializers.ChoiceField(list(KINDS)))}

    def get_queryset(self) -> QuerySet[Evaluation]:
        mine = visible.evaluations(user_of(self.request))
        return mine.defer("tables").select_related("job", "by")

    @extend_schema(operation_id="evaluations_list")
    def get(self, request: Request) -> Response:
        return self.list(request)

    @extend_schema(
        operation_id="evaluations_create",
        request={"multipart/form-data": NewEvaluationSerializer},
        responses={202: EvaluationSerializer},
    )
    def post(self, request: Request) -> Response:
        """Evaluate files: send them, and the settings, in the fields that the kind names."""
        asked = NewEvaluationSerializer(data=request.data)
        asked.is_valid(raise_exception=True)
        kind = KINDS[asked.validated_data["kind"]]
        _refuse_unknown(kind, request)
        user = user_of(request)
        made = ask_to_evaluate(
            kind=kind,
            name=asked.validated_data["name"],
            sent=sent_files(kind, request, user),
            settings=settings_of(kind, request.data),
            by=user,
        )
        return Response(EvaluationSerializer(made).data, status=status.HTTP_202_ACCEPTED)


def _refuse_unknown(kind: Kind, request: Request) -> None:
    """A misspelt setting would else be left at what it is without one."""
    uploads = [upload.name for upload in kind.uploads]
    known = {"kind", "name", "csrfmiddlewaretoken", *uploads}
    known |= {name + RELEASED for name in uploads} | {each.name for each in kind.settings}
    if unknown := sorted(set(request.data) - known):
        raise serializers.ValidationError(
            {name: [f"{kind.slug} has no such file or setting."] for name in unknown}
        )


def sent_files(kind: Kind, request: Request, user: User) -> dict[str, UploadedFile | ReleaseFile]:
    files = {upload.name: _file(upload, request, user) for upload in kind.uploads}
    wrong = {
        upload.name: [why]
        for upload in kind.uploads
        if (why := why_not(upload, files[upload.name]))
    }
    if wrong:
        raise serializers.ValidationError(wrong)
    return {name: file for name, file in files.items() if file is not None}


def _file(upload: Upload, request: Request, user: User) -> UploadedFile | ReleaseFile | None:
    file = request.data.get(upload.name)
    number = str(request.data.get(upload.name + RELEASED, ""))
    if isinstance(file, UploadedFile) and number:
        raise serializers.ValidationError(
            {upload.name: ["Upload a file or take one of a release, not both."]}
        )
    if isinstance(file, UploadedFile):
        return file
    if file not in (None, ""):
        raise serializers.ValidationError({upload.name: ["Send a file."]})
    if not number:
        return None
    if not number.isdecimal() or len(number) > 18:
        raise serializers.ValidationError({upload.name + RELEASED: ["The number of a file."]})
    chosen = visible.release_files(user).filter(pk=int(number)).first()
    if chosen is None:
        raise serializers.ValidationError({upload.name + RELEASED: ["There is no such file."]})
    return chosen


class EvaluationView(APIView):
    permission_classes = [IsAuthenticated, IsResearching]

    @extend_schema(operation_id="evaluations_retrieve", responses=EvaluationInFullSerializer)
    def get(self, request: Request, pk: int) -> Response:
        """What was asked, how far it is, and the tables once they are there."""
        mine = visible.evaluations(user_of(request)).select_related("job", "by")
        return Response(EvaluationInFullSerializer(found(mine, pk=pk)).data)


class EvaluationFile(APIView):
    permission_classes = [IsAuthenticated, IsResearching]

    @extend_schema(
        operation_id="evaluations_file",
        responses={(200, "application/octet-stream"): OpenApiTypes.BINARY},
    )
    def get(self, request: Request, pk: int, table: str, form: str) -> HttpResponse:
        """A table as csv or tex, its figure as svg, pdf or png."""
        evaluation = found(visible.evaluations(user_of(request)), pk=pk)
        return file_of(tables_of(evaluation), table, form)
