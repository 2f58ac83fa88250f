"""Review: the queue, the evidence on a page, and two decisions on it."""

from uuid import UUID

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import mixins, serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from hits.api.access import found, study_of, user_of
from hits.api.lists import Listing
from hits.api.review_serializers import (
    DecideSerializer,
    DecisionSerializer,
    EvidenceSerializer,
    QueuedSerializer,
)
from hits.models import Account, Assignment, Claim, Decision, Role, Study, User
from hits.pipeline import doubt, evidence, review
from hits.pipeline.errors import NotAllowed
from hits.pipeline.pay import payment_there

REVIEWING = (Role.REVIEWER, Role.RESEARCHER)


def _person_of(user: User) -> int:
    """0, which nobody has, for a user who never rated."""
    return Account.objects.filter(user=user).values_list("person_id", flat=True).first() or 0


def submitted_page(request: Request, key: UUID) -> Assignment:
    """A page of a study that the user reviews, done by somebody else."""
    user = user_of(request)
    pages = Assignment.objects.filter(
        study__in=Study.objects.of(user, *REVIEWING), state=Assignment.State.SUBMITTED
    )
    assignment = found(pages.select_related("study", "version"), key=key)
    if assignment.person_id == _person_of(user):
        raise NotAllowed("You did this page yourself: somebody else has to decide on it.")
    return assignment


class ReviewQueue(mixins.ListModelMixin, Listing):
    queryset = Assignment.objects.none()
    serializer_class = QueuedSerializer
    order = ("-doubt", "submitted_at", "pk")
    filters = {"person": ("person_id", serializers.IntegerField())}

    def get_queryset(self) -> QuerySet[Assignment]:
        study = study_of(self.request, self.kwargs["slug"], *REVIEWING)
        return review.queue(study, user=user_of(self.request)).select_related("claim")

    @extend_schema(operation_id="studies_review_list")
    def get(self, request: Request, slug: str) -> Response:
        """Pages that wait for a person: the most doubtful first, then the oldest."""
        return self.list(request)


class ReviewView(APIView):
    @extend_schema(operation_id="reviews_retrieve", responses=EvidenceSerializer)
    def get(self, request: Request, key: UUID) -> Response:
        return Response(evidence_of(request, submitted_page(request, key)))


class ReviewDecide(APIView):
    @extend_schema(
        operation_id="reviews_decide", request=DecideSerializer, responses=EvidenceSerializer
    )
    def post(self, request: Request, key: UUID) -> Response:
        """Decide on use and payment, or decide anew; earlier decisions stay on record."""
        assignment = submitted_page(request, key)
        sent = DecideSerializer(data=request.data)
        sent.is_valid(raise_exception=True)
        values = sent.validated_data
        seen = values.pop("last_decision", None)
        review.decide(assignment=assignment, by=user_of(request), seen=seen, **values)
        assignment.refresh_from_db()
        return Response(evidence_of(request, assignment))


def evidence_of(request: Request, assignment: Assignment) -> dict[str, object]:
    claim = Claim.objects.filter(assignment=assignment).select_related("hit__publication").first()
    is_first = assignment.second_asked_by_id is not None
    said = evidence.said_by_others(assignment)
    gathered = {
        "page": assignment,
        "person": evidence.track_record(assignment),
        "answers": evidence.answers_of(assignment),
        "others": {str(position): dict(words) for position, words in said.items()},
        "signals": doubt.flags_on(
            assignment.pk, assignment.study_id, assignment.person_id
        ).select_related("assignment"),
        "decisions": evidence.decisions_on(assignment).select_related("assignment"),
        "opinions": [] if is_first else assignment.opinions.select_related("by").order_by("-pk"),
        "unseen": review.unseen(assignment, user_of(request)),
        "loss": review.loss_of(assignment).pay,
        "last_decision": review.last_decision(assignment),
        "payment_there": payment_there(claim) if claim is not None and claim.theirs else "",
    }
    return dict(EvidenceSerializer(gathered).data)


class DecisionList(mixins.ListModelMixin, Listing):
    queryset = Decision.objects.none()
    serializer_class = DecisionSerializer
    order = ("-pk",)
    filters = {
        "kind": ("kind", serializers.ChoiceField(Decision.Kind.choices)),
        "value": ("value", serializers.CharField(max_length=10)),
        "assignment": ("assignment__key", serializers.UUIDField()),
    }

    def get_queryset(self) -> QuerySet[Decision]:
        study = study_of(self.request, self.kwargs["slug"], *REVIEWING)
        return evidence.decisions_in(study, by_rule=True).exclude(
            assignment__person_id=_person_of(user_of(self.request))
        )

    @extend_schema(operation_id="studies_decisions_list")
    def get(self, request: Request, slug: str) -> Response:
        """All decisions, of people and of rules, the newest first."""
        return self.list(request)
