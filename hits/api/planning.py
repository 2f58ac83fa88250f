"""Procedures to start from, what a draft would ask and cost, copies and pilots of a study."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from hits.api import throttles
from hits.api.access import study_of, user_of
from hits.api.study_serializers import StudyInFullSerializer, VersionSerializer
from hits.models import Role, Study
from hits.pipeline.clone import MOST_PILOT_PAGES, clone_study, make_pilot, pilot_times, use_pilot
from hits.pipeline.errors import Closed, Refused
from hits.pipeline.open import refuse_without_source
from hits.pipeline.plan import Plan, plan_of
from hits.procedures import Procedure, procedures


class ProcedureSerializer(serializers.Serializer[Procedure]):
    slug = serializers.CharField()
    paper = serializers.CharField()
    name = serializers.CharField()
    protocol = serializers.CharField()
    next_step = serializers.CharField()
    settings = serializers.DictField()
    pay = serializers.DecimalField(max_digits=8, decimal_places=2)
    expected_minutes = serializers.IntegerField()


class PlanSerializer(serializers.Serializer[Plan]):
    units = serializers.DictField(child=serializers.IntegerField(), help_text="By pool.")
    judged = serializers.IntegerField(help_text="Units that the study is about.")
    is_more = serializers.BooleanField(help_text="There are more than were counted.")
    pages = serializers.IntegerField()
    cost = serializers.DecimalField(max_digits=12, decimal_places=2)
    cost_with_fee = serializers.DecimalField(max_digits=12, decimal_places=2)
    hours = serializers.FloatField(allow_null=True)


class NewCopySerializer(serializers.Serializer[Any]):
    slug = serializers.SlugField(max_length=50)
    name = serializers.CharField(max_length=200)


class NewPilotSerializer(serializers.Serializer[Any]):
    pages = serializers.IntegerField(min_value=1, max_value=MOST_PILOT_PAGES)


class WageSerializer(serializers.Serializer[Any]):
    pilot = serializers.SlugField()
    hourly = serializers.DecimalField(max_digits=6, decimal_places=2, min_value=0, max_value=1000)


class ProcedureList(APIView):
    @extend_schema(operation_id="procedures_list", responses=ProcedureSerializer(many=True))
    def get(self, request: Request) -> Response:
        """The studies of five papers, to start from."""
        return Response([ProcedureSerializer(each).data for each in procedures().values()])


class StudyPlan(APIView):
    throttle_classes = [throttles.AskForWork]

    @extend_schema(operation_id="studies_plan", responses=PlanSerializer)
    def get(self, request: Request, slug: str) -> Response:
        """What opening a draft would make, and what judging it would cost."""
        study = study_of(request, slug, Role.RESEARCHER)
        if study.state != Study.State.DRAFT:
            raise Closed("This study has been opened already.")
        refuse_without_source(study)
        return Response(PlanSerializer(plan_of(study)).data)


class StudyClone(APIView):
    @extend_schema(
        operation_id="studies_clone",
        request=NewCopySerializer,
        responses={201: StudyInFullSerializer},
    )
    def post(self, request: Request, slug: str) -> Response:
        """A draft with the same settings, wording, rules and sources."""
        study = study_of(request, slug, Role.RESEARCHER)
        sent = NewCopySerializer(data=request.data)
        sent.is_valid(raise_exception=True)
        made = clone_study(study=study, by=user_of(request), **sent.validated_data)
        return Response(StudyInFullSerializer(made).data, status=status.HTTP_201_CREATED)


class StudyPilot(APIView):
    @extend_schema(
        operation_id="studies_pilot",
        request=NewPilotSerializer,
        responses={201: StudyInFullSerializer},
    )
    def post(self, request: Request, slug: str) -> Response:
        """A draft of so many pages, whose times tell what a page should pay; never released."""
        study = study_of(request, slug, Role.RESEARCHER)
        sent = NewPilotSerializer(data=request.data)
        sent.is_valid(raise_exception=True)
        made = make_pilot(study=study, by=user_of(request), **sent.validated_data)
        return Response(StudyInFullSerializer(made).data, status=status.HTTP_201_CREATED)


class StudyWage(APIView):
    @extend_schema(operation_id="studies_wage", request=WageSerializer, responses=VersionSerializer)
    def post(self, request: Request, slug: str) -> Response:
        """A new version that pays this much an hour at the median pace of a pilot."""
        study = study_of(request, slug, Role.RESEARCHER)
        sent = WageSerializer(data=request.data)
        sent.is_valid(raise_exception=True)
        named = sent.validated_data["pilot"]
        timed = next((each for each in pilot_times(study) if each.pilot.slug == named), None)
        if timed is None:
            raise Refused("There is no such pilot of this study that was opened.")
        hourly = sent.validated_data["hourly"]
        version = use_pilot(study=study, timed=timed, hourly=hourly, by=user_of(request))
        return Response(VersionSerializer(version).data)
