"""Studies: set up, changed by new versions, opened, paused and closed."""

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import generics, mixins, serializers, status
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from hits.api import throttles
from hits.api.access import MayCreate, study_of, user_of
from hits.api.corpora_serializers import ProposalSerializer
from hits.api.jobs import JobSerializer
from hits.api.lists import Listing
from hits.api.study_serializers import (
    ChangeSerializer,
    ExclusionSerializer,
    FeedersSerializer,
    NewExclusionSerializer,
    NewStudySerializer,
    ProposalsSerializer,
    StudyInFullSerializer,
    StudySerializer,
    VersionSerializer,
)
from hits.models import Exclusion, Job, Proposal, Role, Study, StudyVersion
from hits.pipeline import arrange, jobs, visible
from hits.pipeline.chain import choose_feeders, exclude, stop_excluding
from hits.pipeline.errors import Closed, Refused
from hits.pipeline.open import create_study, refuse_without_source, set_state
from hits.pipeline.versions import change_version
from hits.protocol import registry

READERS = (Role.REVIEWER, Role.RESEARCHER)


class StudyList(mixins.ListModelMixin, Listing):
    queryset = Study.objects.none()
    serializer_class = StudySerializer
    permission_classes = [IsAuthenticated, MayCreate]
    order = ("slug",)
    filters = {
        "state": ("state", serializers.ChoiceField(Study.State.choices)),
        "protocol": ("protocol", serializers.ChoiceField(sorted(registry()))),
        "corpus": ("corpus__slug", serializers.SlugField()),
    }

    def get_queryset(self) -> QuerySet[Study]:
        mine = Study.objects.of(user_of(self.request), *READERS)
        return mine.select_related("version", "corpus")

    @extend_schema(operation_id="studies_list")
    def get(self, request: Request) -> Response:
        return self.list(request)

    @extend_schema(
        operation_id="studies_create",
        request=NewStudySerializer,
        responses={201: StudyInFullSerializer},
    )
    def post(self, request: Request) -> Response:
        sent = NewStudySerializer(data=request.data)
        sent.is_valid(raise_exception=True)
        values = sent.validated_data
        corpus = visible.corpora(user_of(request)).filter(slug=values.pop("corpus")).first()
        if corpus is None:
            raise Refused("There is no such corpus of yours.")
        study = create_study(
            corpus=corpus, protocol_slug=values.pop("protocol"), by=user_of(request), **values
        )
        return Response(StudyInFullSerializer(study).data, status=status.HTTP_201_CREATED)


class StudyView(APIView):
    @extend_schema(operation_id="studies_retrieve", responses=StudyInFullSerializer)
    def get(self, request: Request, slug: str) -> Response:
        return Response(StudyInFullSerializer(study_of(request, slug, *READERS)).data)

    @extend_schema(
        operation_id="studies_change", request=ChangeSerializer, responses=VersionSerializer
    )
    def patch(self, request: Request, slug: str) -> Response:
        """Make a new version; pages drawn before keep the one they were done under."""
        study = study_of(request, slug, Role.RESEARCHER)
        sent = ChangeSerializer(data=request.data)
        sent.is_valid(raise_exception=True)
        if not sent.validated_data:
            raise Refused("Say what changes.")
        version = change_version(study=study, by=user_of(request), **sent.validated_data)
        return Response(VersionSerializer(version).data)


class VersionList(mixins.ListModelMixin, Listing):
    queryset = StudyVersion.objects.none()
    serializer_class = VersionSerializer
    order = ("-number",)

    def get_queryset(self) -> QuerySet[StudyVersion]:
        study = study_of(self.request, self.kwargs["slug"], Role.RESEARCHER)
        return study.versions.select_related("created_by")

    @extend_schema(operation_id="studies_versions_list")
    def get(self, request: Request, slug: str) -> Response:
        return self.list(request)


class StudyOpen(APIView):
    throttle_classes = [throttles.AskForWork]

    @extend_schema(operation_id="studies_open", request=None, responses={202: JobSerializer})
    def post(self, request: Request, slug: str) -> Response:
        """Make the units of a draft, and open it."""
        study = study_of(request, slug, Role.RESEARCHER)
        if study.state != Study.State.DRAFT:
            raise Closed("This study has been opened already.")
        refuse_without_source(study)
        job = _ask_for_one(request, study, "open")
        return Response(JobSerializer(job).data, status=status.HTTP_202_ACCEPTED)


def _ask_for_one(request: Request, study: Study, kind: str) -> Job:
    arguments = {"study": study.pk}
    return jobs.ask_for_one(kind=kind, arguments=arguments, by=user_of(request), study=study)


class StudyUnits(APIView):
    throttle_classes = [throttles.AskForWork]

    @extend_schema(operation_id="studies_units_add", request=None, responses={202: JobSerializer})
    def post(self, request: Request, slug: str) -> Response:
        """Add units to an open study: what its feeding studies have finished and what was
        uploaded since. Asked again, it adds nothing twice."""
        study = study_of(request, slug, Role.RESEARCHER)
        if study.state in {Study.State.DRAFT, Study.State.CLOSED}:
            raise Closed("Only a study that is open or paused takes more units.")
        job = _ask_for_one(request, study, "feed")
        return Response(JobSerializer(job).data, status=status.HTTP_202_ACCEPTED)


class _StateChange(APIView):
    state: str

    def change(self, request: Request, slug: str) -> Response:
        study = study_of(request, slug, Role.RESEARCHER)
        set_state(study=study, state=self.state, by=user_of(request))
        return Response(StudySerializer(study).data)


class StudyPause(_StateChange):
    state = Study.State.PAUSED

    @extend_schema(operation_id="studies_pause", request=None, responses=StudySerializer)
    def post(self, request: Request, slug: str) -> Response:
        """Draw no more pages; those that people have can still be submitted."""
        return self.change(request, slug)


class StudyReopen(_StateChange):
    state = Study.State.OPEN

    @extend_schema(operation_id="studies_reopen", request=None, responses=StudySerializer)
    def post(self, request: Request, slug: str) -> Response:
        return self.change(request, slug)


class StudyClose(_StateChange):
    state = Study.State.CLOSED

    @extend_schema(operation_id="studies_close", request=None, responses=StudySerializer)
    def post(self, request: Request, slug: str) -> Response:
        return self.change(request, slug)


class StudyProposals(mixins.ListModelMixin, Listing):
    queryset = Proposal.objects.none()
    serializer_class = ProposalSerializer

    def get_queryset(self) -> QuerySet[Proposal]:
        study = study_of(self.request, self.kwargs["slug"], Role.RESEARCHER)
        return study.proposals.select_related("machine")

    @extend_schema(operation_id="studies_proposals_list")
    def get(self, request: Request, slug: str) -> Response:
        return self.list(request)

    @extend_schema(
        operation_id="studies_proposals_choose",
        request=ProposalsSerializer,
        responses=ProposalSerializer(many=True),
    )
    def put(self, request: Request, slug: str) -> Response:
        """Choose the proposals that a draft will be opened from."""
        study = study_of(request, slug, Role.RESEARCHER)
        sent = ProposalsSerializer(data=request.data)
        sent.is_valid(raise_exception=True)
        earlier = sent.validated_data["continues"]
        arrange.choose_proposals(
            study=study,
            proposals=sent.validated_data["proposals"],
            continues=[study_of(request, other, Role.RESEARCHER) for other in earlier],
        )
        return self.list(request)


class StudyFeeders(mixins.ListModelMixin, Listing):
    queryset = Study.objects.none()
    serializer_class = StudySerializer
    order = ("slug",)

    def get_queryset(self) -> QuerySet[Study]:
        study = study_of(self.request, self.kwargs["slug"], Role.RESEARCHER)
        return study.fed_by.select_related("version", "corpus")

    @extend_schema(operation_id="studies_feeders_list")
    def get(self, request: Request, slug: str) -> Response:
        return self.list(request)

    @extend_schema(
        operation_id="studies_feeders_choose",
        request=FeedersSerializer,
        responses=StudySerializer(many=True),
    )
    def put(self, request: Request, slug: str) -> Response:
        """Choose the studies whose finished units become units of this one."""
        study = study_of(request, slug, Role.RESEARCHER)
        sent = FeedersSerializer(data=request.data)
        sent.is_valid(raise_exception=True)
        named = sent.validated_data["feeders"]
        chosen = [study_of(request, other, Role.RESEARCHER) for other in named]
        choose_feeders(study=study, feeders=chosen)
        return self.list(request)


class ExclusionList(mixins.ListModelMixin, Listing):
    queryset = Exclusion.objects.none()
    serializer_class = ExclusionSerializer

    def get_queryset(self) -> QuerySet[Exclusion]:
        study = study_of(self.request, self.kwargs["slug"], Role.RESEARCHER)
        return study.exclusions.select_related("other")

    @extend_schema(operation_id="studies_exclusions_list")
    def get(self, request: Request, slug: str) -> Response:
        return self.list(request)

    @extend_schema(
        operation_id="studies_exclusions_create",
        request=NewExclusionSerializer,
        responses={201: ExclusionSerializer},
    )
    def post(self, request: Request, slug: str) -> Response:
        """Nobody may work in both studies; both must be one's own."""
        study = study_of(request, slug, Role.RESEARCHER)
        sent = NewExclusionSerializer(data=request.data)
        sent.is_valid(raise_exception=True)
        other = study_of(request, sent.validated_data["other"], Role.RESEARCHER)
        exclude(study=study, other=other)
        kept = study.exclusions.get(other=other)
        return Response(ExclusionSerializer(kept).data, status=status.HTTP_201_CREATED)


class ExclusionView(generics.GenericAPIView[Exclusion]):
    serializer_class = ExclusionSerializer

    @extend_schema(operation_id="studies_exclusions_destroy", responses={204: None})
    def delete(self, request: Request, slug: str, other: str) -> Response:
        study = study_of(request, slug, Role.RESEARCHER)
        for each in study.exclusions.filter(other__slug=other).select_related("other"):
            stop_excluding(study=study, other=each.other)
        return Response(status=status.HTTP_204_NO_CONTENT)
