"""A study at marketplaces: costs, publications and how they run, their ledgers."""

from datetime import timedelta
from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import mixins, serializers, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from hits.api import throttles
from hits.api.access import found, study_of, user_of
from hits.api.channel_serializers import (
    AskEstimateSerializer,
    ChannelSerializer,
    ClaimSerializer,
    DeletedSerializer,
    EstimateSerializer,
    IntentSerializer,
    MessageToManySerializer,
    NewPublicationSerializer,
    PublicationInFullSerializer,
    PublicationSerializer,
    SentSerializer,
    StateSerializer,
    ToppedUpSerializer,
    TopUpSerializer,
)
from hits.api.jobs import JobSerializer
from hits.api.lists import Listing
from hits.channels.configured import names
from hits.models import Claim, ClaimState, Intent, Publication, Role, Study
from hits.pipeline import follow, jobs, publish, workers
from hits.pipeline.errors import Closed, Refused
from hits.pipeline.estimate import estimate as estimate_of
from hits.pipeline.offer import terms_of


def _opened(request: Request, slug: str) -> Study:
    study = study_of(request, slug, Role.RESEARCHER)
    if study.state == Study.State.DRAFT:
        raise Closed("A draft has no pages to publish. Open the study first.")
    return study


def _known(channel: str) -> str:
    if channel not in names():
        raise Refused("There is no such channel. See those of the study.")
    return channel


def _pages(study: Study, wanted: int | None) -> int:
    pages = wanted if wanted is not None else publish.pages_short(study)
    if not pages:
        raise Refused("No page is wanting. Say how many there shall be.")
    return pages


def publication_of(request: Request, pk: int) -> Publication:
    theirs = Study.objects.of(user_of(request), Role.RESEARCHER)
    publications = Publication.objects.filter(study__in=theirs)
    return found(publications.select_related("study__version", "created_by"), pk=pk)


class ChannelList(APIView):
    @extend_schema(operation_id="studies_channels_list", responses=ChannelSerializer(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """The marketplaces that this installation speaks to."""
        study = study_of(request, slug, Role.RESEARCHER)
        is_draft = study.state == Study.State.DRAFT
        wanting = 0 if is_draft else publish.pages_short(study)
        published = list(study.publications.values_list("channel", flat=True))
        rows = [
            {"name": name, "publications": published.count(name), "pages_wanting": wanting}
            for name in names()
        ]
        return Response(ChannelSerializer(rows, many=True).data)


class EstimateView(APIView):
    @extend_schema(
        operation_id="studies_channels_estimate",
        parameters=[AskEstimateSerializer],
        responses=EstimateSerializer,
    )
    def get(self, request: Request, slug: str, channel: str) -> Response:
        """What pages would cost at a channel, and what an hour would earn."""
        study = _opened(request, slug)
        sent = AskEstimateSerializer(data=request.query_params)
        sent.is_valid(raise_exception=True)
        assert study.version is not None
        values = sent.validated_data
        estimate = estimate_of(
            study=study,
            channel=_known(channel),
            reward=values.get("reward", study.version.pay),
            pages=_pages(study, values.get("pages")),
            least_wage=values.get("least_wage"),
            duration=timedelta(minutes=values["minutes"]) if "minutes" in values else None,
        )
        return Response(EstimateSerializer(estimate).data)


class PublicationList(mixins.ListModelMixin, Listing):
    queryset = Publication.objects.none()
    serializer_class = PublicationSerializer
    throttle_classes = [throttles.AskForWork]
    order = ("-pk",)
    filters = {
        "channel": ("channel", serializers.SlugField()),
        "state": ("state", serializers.ChoiceField(Publication.State.choices)),
    }

    def get_queryset(self) -> QuerySet[Publication]:
        study = study_of(self.request, self.kwargs["slug"], Role.RESEARCHER)
        return study.publications.select_related("study", "created_by")

    @extend_schema(operation_id="studies_publications_list")
    def get(self, request: Request, slug: str) -> Response:
        return self.list(request)

    @extend_schema(
        operation_id="studies_publications_create",
        request=NewPublicationSerializer,
        responses={201: PublicationSerializer},
    )
    def post(self, request: Request, slug: str) -> Response:
        """Publish; a job makes the HITs."""
        study = _opened(request, slug)
        sent = NewPublicationSerializer(data=request.data)
        sent.is_valid(raise_exception=True)
        assert study.version is not None
        values = {"reward": study.version.pay, **sent.validated_data}
        made = publish.publish(
            study=study,
            channel=_known(values.pop("channel")),
            pages=_pages(study, values.pop("pages", None)),
            least_wage=values.pop("least_wage"),
            seen=values.pop("last_publication", None),
            by=user_of(request),
            terms=terms_of(**values),
        )
        return Response(PublicationSerializer(made).data, status=status.HTTP_201_CREATED)


class PublicationView(APIView):
    @extend_schema(operation_id="publications_retrieve", responses=PublicationInFullSerializer)
    def get(self, request: Request, pk: int) -> Response:
        """A publication as it runs: HITs, work by state, money, pay an hour."""
        return Response(_in_full(publication_of(request, pk)))


def _in_full(publication: Publication) -> dict[str, Any]:
    publication.following = follow.following(publication)  # type: ignore[attr-defined]
    return dict(PublicationInFullSerializer(publication).data)


class PublicationState(APIView):
    @extend_schema(
        operation_id="publications_state",
        request=StateSerializer,
        responses=PublicationSerializer,
    )
    def post(self, request: Request, pk: int) -> Response:
        """Pause or close, which ends its HITs at the marketplace, or open it again."""
        publication = publication_of(request, pk)
        sent = StateSerializer(data=request.data)
        sent.is_valid(raise_exception=True)
        publish.set_state(publication=publication, by=user_of(request), **sent.validated_data)
        publication.refresh_from_db(fields=["state"])
        return Response(PublicationSerializer(publication).data)


class PublicationTopUp(APIView):
    throttle_classes = [throttles.AskForWork]

    @extend_schema(
        operation_id="publications_top_up",
        request=TopUpSerializer,
        responses=ToppedUpSerializer,
    )
    def post(self, request: Request, pk: int) -> Response:
        """More pages; the answer says how many are being made."""
        publication = publication_of(request, pk)
        sent = TopUpSerializer(data=request.data)
        sent.is_valid(raise_exception=True)
        more = publish.top_up(publication=publication, by=user_of(request), **sent.validated_data)
        return Response({"pages": more})


class PublicationReconcile(APIView):
    throttle_classes = [throttles.AskForWork]

    @extend_schema(
        operation_id="publications_reconcile", request=None, responses={202: JobSerializer}
    )
    def post(self, request: Request, pk: int) -> Response:
        """Read the marketplace's own list now."""
        publication = publication_of(request, pk)
        job = jobs.ask_for_one(
            kind="reconcile",
            arguments={"publication": publication.pk},
            by=user_of(request),
            study=publication.study,
            queue="marketplace",
        )
        return Response(JobSerializer(job).data, status=status.HTTP_202_ACCEPTED)


class PublicationResume(APIView):
    throttle_classes = [throttles.AskForWork]

    @extend_schema(
        operation_id="publications_resume", request=None, responses=PublicationSerializer
    )
    def post(self, request: Request, pk: int) -> Response:
        """Go on with a launch that was stopped."""
        publication = publication_of(request, pk)
        publish.resume(publication=publication, by=user_of(request))
        return Response(PublicationSerializer(publication).data)


class PublicationDelete(APIView):
    throttle_classes = [throttles.AskForWork]

    @extend_schema(
        operation_id="publications_delete_hits", request=None, responses=DeletedSerializer
    )
    def post(self, request: Request, pk: int) -> Response:
        """Let the marketplace forget the HITs of a closed publication that are over and settled."""
        publication = publication_of(request, pk)
        return Response({"hits": publish.delete_hits(publication=publication, by=user_of(request))})


class PublicationNotify(APIView):
    throttle_classes = [throttles.AskForWork]

    @extend_schema(
        operation_id="publications_notify",
        request=MessageToManySerializer,
        responses=SentSerializer,
    )
    def post(self, request: Request, pk: int) -> Response:
        """Write to the workers of a publication, or to those whose work is in one state."""
        publication = publication_of(request, pk)
        sent = MessageToManySerializer(data=request.data)
        sent.is_valid(raise_exception=True)
        values = sent.validated_data
        accounts = list(follow.workers_of(publication, values.pop("state", "")))
        workers.notify(publication=publication, accounts=accounts, by=user_of(request), **values)
        return Response({"workers": len(accounts)})


class ClaimList(mixins.ListModelMixin, Listing):
    queryset = Claim.objects.none()
    serializer_class = ClaimSerializer
    order = ("-pk",)
    filters = {
        "state": ("how_far", serializers.ChoiceField(ClaimState.choices)),
        "worker": ("account__external_id", serializers.CharField(max_length=200)),
    }

    def get_queryset(self) -> QuerySet[Claim]:
        claims = follow.claims_of(publication_of(self.request, self.kwargs["pk"]))
        return claims.select_related("hit", "account", "assignment")

    @extend_schema(operation_id="publications_claims_list")
    def get(self, request: Request, pk: int) -> Response:
        """The work of workers, the newest first."""
        return self.list(request)


class Ledger(mixins.ListModelMixin, Listing):
    queryset = Intent.objects.none()
    serializer_class = IntentSerializer
    order = ("-pk",)
    filters = {
        "state": ("state", serializers.ChoiceField(Intent.State.choices)),
        "action": ("action", serializers.CharField(max_length=40)),
    }

    def get_queryset(self) -> QuerySet[Intent]:
        publication = publication_of(self.request, self.kwargs["pk"])
        return publication.intents.select_related("by")

    @extend_schema(operation_id="publications_ledger_list")
    def get(self, request: Request, pk: int) -> Response:
        """Every creating or paying call, as it was written down before it was made."""
        return self.list(request)
