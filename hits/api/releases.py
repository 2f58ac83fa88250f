"""Releases: made by a job, never changed, downloaded file by file."""

from typing import Any

from django.db.models import QuerySet
from django.http import FileResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import mixins, serializers, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from hits.api import throttles
from hits.api.access import found, study_of, user_of
from hits.api.jobs import JobSerializer
from hits.api.lists import Listing
from hits.models import Release, ReleaseFile, Role
from hits.pipeline import jobs, visible
from hits.pipeline.release import check, path_of


class FileSerializer(serializers.ModelSerializer[ReleaseFile]):
    class Meta:
        model = ReleaseFile
        fields = ["name", "sha256", "size"]
        read_only_fields = fields


class ReleaseSerializer(serializers.ModelSerializer[Release]):
    studies = serializers.SlugRelatedField[Any](slug_field="slug", many=True, read_only=True)
    made_by = serializers.StringRelatedField[Any]()

    class Meta:
        model = Release
        fields = ["id", "name", "number", "studies", "made_by", "made_at"]
        read_only_fields = fields


class ReleaseInFullSerializer(ReleaseSerializer):
    files = FileSerializer(many=True, read_only=True)
    manifest = serializers.DictField(read_only=True)

    class Meta(ReleaseSerializer.Meta):
        fields = [*ReleaseSerializer.Meta.fields, "files", "manifest"]
        read_only_fields = fields


class NewReleaseSerializer(serializers.Serializer[Any]):
    name = serializers.SlugField(max_length=80)
    with_studies = serializers.ListField(
        child=serializers.SlugField(),
        default=list,
        max_length=50,
        help_text="Other studies that the release spans.",
    )


class StudyReleases(mixins.ListModelMixin, Listing):
    queryset = Release.objects.none()
    serializer_class = ReleaseSerializer
    throttle_classes = [throttles.AskForWork]
    order = ("-pk",)

    def get_queryset(self) -> QuerySet[Release]:
        study = study_of(self.request, self.kwargs["slug"], Role.RESEARCHER)
        theirs = visible.releases(user_of(self.request)).filter(studies=study)
        return theirs.select_related("made_by").prefetch_related("studies")

    @extend_schema(operation_id="studies_releases_list")
    def get(self, request: Request, slug: str) -> Response:
        return self.list(request)

    @extend_schema(
        operation_id="studies_releases_create",
        request=NewReleaseSerializer,
        responses={202: JobSerializer},
    )
    def post(self, request: Request, slug: str) -> Response:
        """Release a study, alone or with others of one's own."""
        sent = NewReleaseSerializer(data=request.data)
        sent.is_valid(raise_exception=True)
        slugs = {slug, *sent.validated_data["with_studies"]}
        studies = [study_of(request, each, Role.RESEARCHER) for each in sorted(slugs)]
        user = user_of(request)
        check(studies=studies, name=sent.validated_data["name"], by=user)
        job = jobs.ask(
            kind="release",
            arguments={
                "studies": [study.pk for study in studies],
                "name": sent.validated_data["name"],
                "by": user.pk,
            },
            by=user,
            study=next(study for study in studies if study.slug == slug),
        )
        return Response(JobSerializer(job).data, status=status.HTTP_202_ACCEPTED)


class ReleaseView(APIView):
    @extend_schema(operation_id="releases_retrieve", responses=ReleaseInFullSerializer)
    def get(self, request: Request, pk: int) -> Response:
        release = found(visible.releases(user_of(request)), pk=pk)
        return Response(ReleaseInFullSerializer(release).data)


class ReleaseFileView(APIView):
    @extend_schema(
        operation_id="releases_file",
        responses={(200, "application/octet-stream"): OpenApiTypes.BINARY},
    )
    def get(self, request: Request, pk: int, name: str) -> FileResponse:
        release = found(visible.releases(user_of(request)), pk=pk)
        file = found(release.files.select_related("release"), name=name)
        return FileResponse(
            path_of(file).open("rb"),
            as_attachment=True,
            filename=file.name,
            content_type="application/octet-stream",
        )
