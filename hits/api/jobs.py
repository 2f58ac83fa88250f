"""Long work: what was asked for, how far it is, and how to stop it."""

from pathlib import Path
from typing import Any

from django.conf import settings
from django.db.models import QuerySet
from django.http import FileResponse, Http404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import generics, mixins, serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from hits.api.access import found, user_of
from hits.api.lists import Listing
from hits.models import Job
from hits.models.job import IMPORTS
from hits.pipeline import jobs, visible

REFUSALS = "refusals"


class JobSerializer(serializers.ModelSerializer[Job]):
    """No path of the server is told: neither what was asked nor where refusals are kept."""

    corpus = serializers.SlugRelatedField[Any](slug_field="slug", read_only=True)
    study = serializers.SlugRelatedField[Any](slug_field="slug", read_only=True)
    asked_by = serializers.StringRelatedField[Any]()
    about = serializers.CharField(read_only=True, help_text="The machine, the release, the study.")
    seconds_left = serializers.IntegerField(read_only=True, allow_null=True)
    result = serializers.SerializerMethodField()

    class Meta:
        model = Job
        fields = [
            "id", "kind", "about", "state", "corpus", "study", "asked_by", "asked_at", "started_at",
            "finished_at", "attempts", "done", "total", "rate", "seconds_left", "message",
            "result", "cancel_asked",
        ]  # fmt: skip
        read_only_fields = fields

    def get_result(self, job: Job) -> dict[str, Any] | None:
        if job.result is None:
            return None
        return {name: value for name, value in job.result.items() if name != REFUSALS}


class JobWithLogSerializer(JobSerializer):
    class Meta(JobSerializer.Meta):
        fields = [*JobSerializer.Meta.fields, "log"]
        read_only_fields = fields


def seen_by(request: Request) -> QuerySet[Job]:
    return visible.jobs(user_of(request)).select_related("corpus", "study", "asked_by")


class JobList(mixins.ListModelMixin, Listing):
    queryset = Job.objects.none()
    serializer_class = JobSerializer
    order = ("-pk",)
    filters = {
        "state": ("state", serializers.ChoiceField(Job.State.choices)),
        "kind": ("kind", serializers.CharField(max_length=40)),
        "study": ("study__slug", serializers.SlugField()),
        "corpus": ("corpus__slug", serializers.SlugField()),
    }

    def get_queryset(self) -> QuerySet[Job]:
        return seen_by(self.request).defer("log")

    @extend_schema(operation_id="jobs_list")
    def get(self, request: Request) -> Response:
        return self.list(request)


class JobView(generics.GenericAPIView[Job]):
    serializer_class = JobWithLogSerializer

    @extend_schema(operation_id="jobs_retrieve")
    def get(self, request: Request, pk: int) -> Response:
        return Response(JobWithLogSerializer(found(seen_by(request), pk=pk)).data)


class JobCancel(APIView):
    @extend_schema(operation_id="jobs_cancel", request=None, responses=JobWithLogSerializer)
    def post(self, request: Request, pk: int) -> Response:
        """Stop a job; one that runs stops at its next step, a finished one stays as it is."""
        jobs.cancel(found(seen_by(request), pk=pk))
        return Response(JobWithLogSerializer(found(seen_by(request), pk=pk)).data)


class JobRefused(APIView):
    @extend_schema(
        operation_id="jobs_refused",
        responses={(200, "application/x-ndjson"): OpenApiTypes.STR},
    )
    def get(self, request: Request, pk: int) -> FileResponse:
        """Every line that an import refused, and why: one JSON object a line."""
        job = found(seen_by(request), pk=pk, kind__in=IMPORTS)
        path = Path((job.result or {}).get(REFUSALS, ""))
        folder = Path(settings.DATA_DIR).resolve() / "imports"
        if path.resolve().parent != folder or not path.is_file():
            raise Http404
        return FileResponse(path.open("rb"), content_type="application/x-ndjson")
