"""The reviewer's desk by script: what was seen, second opinions, many pages at once, people, golds
and signals."""

from typing import Any
from uuid import UUID

from django.db.models import Count, QuerySet
from django.http import Http404
from drf_spectacular.utils import extend_schema
from rest_framework import mixins, serializers, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from hits.api.access import found, sent, study_of, user_of
from hits.api.jobs import JobSerializer
from hits.api.lists import Listing
from hits.api.review import REVIEWING, evidence_of, submitted_page
from hits.api.review_serializers import (
    ActSerializer,
    AppealSerializer,
    AskGoldsSerializer,
    EvidenceSerializer,
    FlagSerializer,
    GoldDecideSerializer,
    GoldDecisionSerializer,
    GoldInDoubtSerializer,
    ManySerializer,
    OpinionSerializer,
    OwnRecordSerializer,
    PersonEventSerializer,
    PersonPageSerializer,
    PersonRecordSerializer,
    ReadingSerializer,
    SecondSerializer,
    SeenSerializer,
    TakeBackSerializer,
    TextSerializer,
)
from hits.models import Flag, Participation, PersonEvent, Reading, Study
from hits.pipeline import bulk, doubt, gold_doubt, review, standing
from hits.pipeline.gold_failures import gold_failures
from hits.pipeline.people import account_of


def _study(request: Request, slug: str) -> Study:
    return study_of(request, slug, *REVIEWING)


class ReviewSeen(APIView):
    @extend_schema(operation_id="reviews_seen", request=SeenSerializer, responses={204: None})
    def post(self, request: Request, key: UUID) -> Response:
        """Say which questions of a page you have looked at."""
        positions = sent(SeenSerializer, request)["positions"]
        page = submitted_page(request, key)
        review.look(assignment=page, by=user_of(request), positions=positions)
        return Response(status=status.HTTP_204_NO_CONTENT)


class ReviewSecond(APIView):
    @extend_schema(
        operation_id="reviews_second", request=SecondSerializer, responses={201: OpinionSerializer}
    )
    def post(self, request: Request, key: UUID) -> Response:
        """Leave a page to another reviewer, and say what you would decide."""
        values = sent(SecondSerializer, request)
        page = submitted_page(request, key)
        opinion = review.ask_second(assignment=page, by=user_of(request), **values)
        return Response(OpinionSerializer(opinion).data, status=status.HTTP_201_CREATED)


class ReviewTakeBack(APIView):
    @extend_schema(
        operation_id="reviews_take_back", request=TakeBackSerializer, responses=EvidenceSerializer
    )
    def post(self, request: Request, key: UUID) -> Response:
        """Undo your last decision on a page, as far as a marketplace lets you."""
        seen = sent(TakeBackSerializer, request).get("last_decision")
        page = submitted_page(request, key)
        review.take_back(assignment=page, by=user_of(request), seen=seen)
        page.refresh_from_db()
        return Response(evidence_of(request, page))


class ReviewMany(APIView):
    @extend_schema(
        operation_id="studies_review_many", request=ManySerializer, responses={202: JobSerializer}
    )
    def post(self, request: Request, slug: str) -> Response:
        """Approve many waiting pages, or pay and not use them. Payment is never refused so."""
        values = sent(ManySerializer, request)
        study, user = _study(request, slug), user_of(request)
        waiting = bulk.matching(study, user=user, signal=values["signal"], person=values["person"])
        if "pages" in values:
            waiting = waiting.filter(key__in=values["pages"])
        pages = list(waiting.values_list("pk", flat=True)[: bulk.MOST + 1])
        job = bulk.ask(
            study=study, by=user, pages=pages, use=values["use"], reason=values["reason"]
        )
        return Response(JobSerializer(job).data, status=status.HTTP_202_ACCEPTED)


class ReviewManyBack(APIView):
    @extend_schema(
        operation_id="studies_review_many_take_back", request=None, responses={202: JobSerializer}
    )
    def post(self, request: Request, slug: str, pk: int) -> Response:
        """Take back what you decided on many pages at once, by the number of that job."""
        decided = found(_study(request, slug).jobs.filter(kind=bulk.KIND), pk=pk)
        job = bulk.ask_back(job=decided, by=user_of(request))
        return Response(JobSerializer(job).data, status=status.HTTP_202_ACCEPTED)


class SignalsView(APIView):
    @extend_schema(operation_id="studies_signals", responses=ReadingSerializer)
    def get(self, request: Request, slug: str) -> Response:
        study = _study(request, slug)
        reading = Reading.objects.filter(study=study).first() or Reading(study=study)
        counts = study.flags.order_by("signal").values_list("signal").annotate(Count("pk"))
        told = {
            "at": reading.at,
            "judgments": reading.judgments,
            "silent": reading.silent,
            "flags": dict(counts),
        }
        return Response(ReadingSerializer(told).data)

    @extend_schema(
        operation_id="studies_signals_compute", request=None, responses={202: JobSerializer}
    )
    def post(self, request: Request, slug: str) -> Response:
        """Compute the signals now, over all that has come in."""
        job = doubt.ask(study=_study(request, slug), by=user_of(request))
        return Response(JobSerializer(job).data, status=status.HTTP_202_ACCEPTED)


class FlagList(mixins.ListModelMixin, Listing):
    queryset = Flag.objects.none()
    serializer_class = FlagSerializer
    order = ("-doubt", "pk")
    filters = {
        "signal": ("signal", serializers.CharField(max_length=20)),
        "person": ("person_id", serializers.IntegerField()),
    }

    def get_queryset(self) -> QuerySet[Flag]:
        return _study(self.request, self.kwargs["slug"]).flags.select_related("assignment")

    @extend_schema(operation_id="studies_flags_list")
    def get(self, request: Request, slug: str) -> Response:
        """What the signals raised against pages and people, the strongest first."""
        return self.list(request)


class PersonList(Listing):
    queryset = Participation.objects.none()
    serializer_class = PersonRecordSerializer
    order = ("-doubt", "person")

    @extend_schema(operation_id="studies_people_list")
    def get(self, request: Request, slug: str) -> Response:
        """Everybody who submitted a page, those first whose work is most in doubt."""
        study = _study(request, slug)
        people = self.paginate_queryset(self.filter_queryset(standing.who_submitted(study)))
        assert people is not None
        records = standing.records_of(study, people=[each.person_id for each in people])
        return self.get_paginated_response(PersonRecordSerializer(records, many=True).data)


class PersonView(APIView):
    @extend_schema(operation_id="studies_person", responses=PersonPageSerializer)
    def get(self, request: Request, slug: str, person: int) -> Response:
        study = _study(request, slug)
        return Response(_person_page(study, person))

    @extend_schema(
        operation_id="studies_person_act",
        request=ActSerializer,
        responses={201: PersonEventSerializer},
    )
    def post(self, request: Request, slug: str, person: int) -> Response:
        """Warn, exclude, readmit or qualify somebody, or write down an appeal that reached you."""
        study = _study(request, slug)
        _person_page(study, person)
        values = sent(ActSerializer, request)
        event = standing.act(study=study, person=person, by=user_of(request), **values)
        return Response(PersonEventSerializer(event).data, status=status.HTTP_201_CREATED)


def _person_page(study: Study, person: int) -> dict[str, Any]:
    found(study.participations.filter(person__assignments__study=study), person=person)
    record = standing.record_of(study, person)
    flags = Flag.objects.filter(study=study, person=person).select_related("assignment")
    page = {
        "record": record,
        "rolling": standing.rolling(study, person),
        "signals": flags.order_by("-doubt", "pk"),
        "events": standing.events_of(study, person),
    }
    return dict(PersonPageSerializer(page).data)


class AppealList(mixins.ListModelMixin, Listing):
    queryset = PersonEvent.objects.none()
    serializer_class = PersonEventSerializer
    order = ("pk",)

    def get_queryset(self) -> QuerySet[PersonEvent]:
        study = _study(self.request, self.kwargs["slug"])
        return standing.open_appeals(study).select_related("by", "answer")

    @extend_schema(operation_id="studies_appeals_list")
    def get(self, request: Request, slug: str) -> Response:
        """Appeals that wait for an answer, the oldest first."""
        return self.list(request)


class AppealAnswer(APIView):
    @extend_schema(operation_id="appeals_answer", request=TextSerializer, responses={201: None})
    def post(self, request: Request, slug: str, pk: int) -> Response:
        study = _study(request, slug)
        appealed = found(study.person_events.filter(kind=PersonEvent.Kind.APPEAL), pk=pk)
        text = sent(TextSerializer, request)["text"]
        standing.answer(appealed=appealed, text=text, by=user_of(request))
        return Response(status=status.HTTP_201_CREATED)


class OwnAppeal(APIView):
    @extend_schema(operation_id="studies_own_record", responses=OwnRecordSerializer)
    def get(self, request: Request, slug: str) -> Response:
        """What the study tells you of your own work, and what was said."""
        records = standing.own_records(user_of(request))
        record = next((each for each in records if each.study.slug == slug), None)
        if record is None:
            raise Http404
        return Response(OwnRecordSerializer(record).data)

    @extend_schema(
        operation_id="studies_appeal",
        request=AppealSerializer,
        responses={201: PersonEventSerializer},
    )
    def post(self, request: Request, slug: str) -> Response:
        """Write to the reviewers of a study in which you worked."""
        worked = Study.objects.filter(assignments__account__user=user_of(request)).distinct()
        study = found(worked, slug=slug)
        account = account_of(user_of(request))
        event = standing.appeal(study=study, account=account, **sent(AppealSerializer, request))
        return Response(PersonEventSerializer(event).data, status=status.HTTP_201_CREATED)


class GoldsView(APIView):
    @extend_schema(
        operation_id="studies_golds",
        parameters=[AskGoldsSerializer],
        responses=GoldInDoubtSerializer(many=True),
    )
    def get(self, request: Request, slug: str) -> Response:
        """Golds that people fail who do well on the others, and what was answered; or others that
        are failed often, and why they are not in doubt."""
        study = _study(request, slug)
        asked = AskGoldsSerializer(data=request.query_params)
        asked.is_valid(raise_exception=True)
        failures = gold_failures(study)
        chosen = failures.often if asked.validated_data["failed_often"] else failures.in_doubt
        golds = gold_doubt.described(study, chosen)
        return Response(GoldInDoubtSerializer(golds, many=True).data)

    @extend_schema(
        operation_id="studies_golds_decide",
        request=GoldDecideSerializer,
        responses={201: GoldDecisionSerializer},
    )
    def post(self, request: Request, slug: str) -> Response:
        """Keep or retire a gold; pages that failed a retired one are checked again."""
        study = _study(request, slug)
        values = sent(GoldDecideSerializer, request)
        unit = found(study.units.filter(gold__isnull=False), pk=values.pop("gold"))
        made = gold_doubt.decide(study=study, unit=unit, by=user_of(request), **values)
        return Response(GoldDecisionSerializer(made).data, status=status.HTTP_201_CREATED)
