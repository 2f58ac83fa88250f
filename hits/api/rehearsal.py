"""A study rehearsed on simulated crowds, and filled by one."""

from typing import Any

from django.http import Http404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from hits.api import throttles
from hits.api.access import study_of, user_of
from hits.api.jobs import JobSerializer
from hits.models import Role, Study
from hits.pipeline import jobs
from hits.pipeline.rehearse import MOST_PEOPLE, last_rehearsal
from hits.pipeline.simulate import may_simulate
from hits.pipeline.simulated import MOST_PEOPLE as MOST_SIMULATED


class RehearseSerializer(serializers.Serializer[Any]):
    people = serializers.IntegerField(min_value=1, max_value=MOST_PEOPLE)
    bad_share = serializers.FloatField(default=0.1, min_value=0, max_value=1)
    positives = serializers.FloatField(default=0.3, min_value=0.01, max_value=0.99)
    hours_a_day = serializers.FloatField(default=1, min_value=0.05, max_value=24)
    seed = serializers.IntegerField(default=0, min_value=0, max_value=2**31 - 1)


class SimulateSerializer(serializers.Serializer[Any]):
    people = serializers.IntegerField(min_value=1, max_value=MOST_SIMULATED)
    bad_share = serializers.FloatField(default=0.1, min_value=0, max_value=1)
    wrong_golds = serializers.FloatField(
        default=0,
        min_value=0,
        max_value=1,
        help_text="Share of the golds whose expected answer is wrong.",
    )
    seed = serializers.IntegerField(default=0, min_value=0, max_value=2**31 - 1)


class StudyRehearsal(APIView):
    throttle_classes = [throttles.AskForWork]

    @extend_schema(operation_id="studies_rehearsal", responses=OpenApiTypes.OBJECT)
    def get(self, request: Request, slug: str) -> Response:
        """What the last rehearsal found; 404 before the first."""
        last = last_rehearsal(study_of(request, slug, Role.RESEARCHER))
        if last is None:
            raise Http404
        return Response(last.result)

    @extend_schema(
        operation_id="studies_rehearse",
        request=RehearseSerializer,
        responses={202: JobSerializer},
    )
    def post(self, request: Request, slug: str) -> Response:
        """Rehearse a draft or a study on simulated crowds: cost, time, positives, rules, power."""
        study = study_of(request, slug, Role.RESEARCHER)
        return _asked(request, study, "rehearse", RehearseSerializer(data=request.data))


class StudySimulate(APIView):
    throttle_classes = [throttles.AskForWork]

    @extend_schema(
        operation_id="studies_simulate",
        request=SimulateSerializer,
        responses={202: JobSerializer},
    )
    def post(self, request: Request, slug: str) -> Response:
        """Fill an open study in which nobody has worked with a simulated crowd's answers."""
        study = study_of(request, slug, Role.RESEARCHER)
        may_simulate(study)
        return _asked(request, study, "simulate", SimulateSerializer(data=request.data))


def _asked(
    request: Request, study: Study, kind: str, sent: serializers.Serializer[Any]
) -> Response:
    sent.is_valid(raise_exception=True)
    arguments = {"study": study.pk, **sent.validated_data}
    job = jobs.ask(kind=kind, arguments=arguments, by=user_of(request), study=study)
    return Response(JobSerializer(job).data, status=status.HTTP_202_ACCEPTED)
