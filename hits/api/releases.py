"""Releases: made by a job, never changed, downloaded file by file."""

from typing import Any

from django.db.models import QuerySet
from django.http import HttpResponseRedirect
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework import mixins, serializers, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from hits.api import throttles
from hits.api.access import found, study_of, user_of
from hits.api.jobs import JobSerializer
from hits.api.lists import Listing
from hits.models import Release, ReleaseFile, Role
from hits.pipeline import jobs, links, shelf, visible
from hits.pipeline.links import LONGEST_HOURS
from hits.pipeline.release import Wish, as_arguments, check
from hits.serving import AnyResponse, file_response

SECONDS = 600
WISHES = ("licence", "free_text", "step")


class FileSerializer(serializers.ModelSerializer[ReleaseFile]):
    class Meta:
        model = ReleaseFile
        fields = ["name", "sha256", "size"]
        read_only_fields = fields


class ReleaseSerializer(serializers.ModelSerializer[Release]):
    version = serializers.CharField(read_only=True)
    studies = serializers.SlugRelatedField[Any](slug_field="slug", many=True, read_only=True)
    made_by = serializers.StringRelatedField[Any]()

    class Meta:
        model = Release
        fields = [
            "id", "name", "version", "studies", "licence", "free_text", "made_by", "made_at",
            "withdrawn_at",
        ]  # fmt: skip
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
    licence = serializers.CharField(
        max_length=200,
        allow_blank=True,
        required=False,
        help_text="Left out: that of the version before, or of the corpus.",
    )
    free_text = serializers.ChoiceField(
        Release.FreeText.choices,
        required=False,
        help_text="Left out: as in the version before, or kept.",
    )
    step = serializers.ChoiceField(
        ["major", "minor"],
        required=False,
        help_text="Left out: minor where the same studies have only grown.",
    )


class NewLinksSerializer(serializers.Serializer[Any]):
    hours = serializers.IntegerField(min_value=1, max_value=LONGEST_HOURS, default=24)


class LinkSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    url = serializers.URLField()
    expires_at = serializers.DateTimeField()


class Releases(mixins.ListModelMixin, Listing):
    queryset = Release.objects.none()
    serializer_class = ReleaseSerializer
    order = ("-pk",)
    filters = {"name": ("name", serializers.SlugField())}

    def get_queryset(self) -> QuerySet[Release]:
        theirs = visible.releases(user_of(self.request))
        return theirs.select_related("made_by").prefetch_related("studies").defer("manifest")

    @extend_schema(operation_id="releases_list")
    def get(self, request: Request) -> Response:
        """Releases of one's own studies, the newest first."""
        return self.list(request)


class StudyReleases(mixins.ListModelMixin, Listing):
    queryset = Release.objects.none()
    serializer_class = ReleaseSerializer
    throttle_classes = [throttles.AskForWork]
    order = ("-pk",)

    def get_queryset(self) -> QuerySet[Release]:
        study = study_of(self.request, self.kwargs["slug"], Role.RESEARCHER)
        theirs = visible.releases(user_of(self.request)).filter(studies=study)
        return theirs.select_related("made_by").prefetch_related("studies").defer("manifest")

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
        name = sent.validated_data["name"]
        check(studies=studies, name=name, by=user)
        said = {key: sent.validated_data[key] for key in WISHES if key in sent.validated_data}
        job = jobs.ask(
            kind="release",
            arguments=as_arguments(studies=studies, name=name, by=user, wish=Wish(**said)),
            by=user,
            study=next(study for study in studies if study.slug == slug),
        )
        return Response(JobSerializer(job).data, status=status.HTTP_202_ACCEPTED)


class ReleaseView(APIView):
    @extend_schema(operation_id="releases_retrieve", responses=ReleaseInFullSerializer)
    def get(self, request: Request, pk: int) -> Response:
        release = found(visible.releases(user_of(request)), pk=pk)
        return Response(ReleaseInFullSerializer(release).data)


class ReleaseLinks(APIView):
    @extend_schema(
        operation_id="releases_links",
        request=NewLinksSerializer,
        responses=LinkSerializer(many=True),
    )
    def post(self, request: Request, pk: int) -> Response:
        """Addresses of all files that need no token, and expire."""
        release = found(visible.releases(user_of(request)), pk=pk)
        sent = NewLinksSerializer(data=request.data)
        sent.is_valid(raise_exception=True)
        made = links.links_to(release, sent.validated_data["hours"])
        return Response(LinkSerializer(made, many=True).data)


class ReleaseFileView(APIView):
    @extend_schema(
        operation_id="releases_file",
        parameters=[
            OpenApiParameter(
                "Range",
                OpenApiTypes.STR,
                OpenApiParameter.HEADER,
                description="bytes=FIRST-LAST, for a part of the file.",
            )
        ],
        responses={
            (200, "application/octet-stream"): OpenApiTypes.BINARY,
            (206, "application/octet-stream"): OpenApiTypes.BINARY,
            302: OpenApiResponse(description="To the bucket that has it."),
            416: OpenApiResponse(description="The file has no such part."),
        },
    )
    def get(self, request: Request, pk: int, name: str) -> AnyResponse:
        release = found(visible.releases(user_of(request)), pk=pk)
        file = links.there(found(release.files.select_related("release"), name=name))
        if shelf.is_in_a_bucket(release):
            return HttpResponseRedirect(shelf.link_to(file, SECONDS))
        return file_response(request, shelf.path_of(file), name=file.name, sha256=file.sha256)
