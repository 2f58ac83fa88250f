"""Who takes part in a study, and who qualified for it."""

from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import mixins, serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from hits.api.access import found, study_of, user_of
from hits.api.lists import Listing
from hits.models import Participation, Role
from hits.pipeline import training


class StandingSerializer(serializers.Serializer[Any]):
    person = serializers.IntegerField(source="person_id")
    tries = serializers.IntegerField(help_text="Training pages submitted.")
    best = serializers.IntegerField(allow_null=True, help_text="Most right answers on one of them.")
    has_started = serializers.SerializerMethodField(help_text="Was given units to judge.")
    qualified_at = serializers.DateTimeField(allow_null=True)
    let_in_by = serializers.CharField(allow_null=True, help_text="Empty: training qualified.")

    def get_has_started(self, standing: Any) -> bool:
        return standing.started_at is not None


class TrainingList(mixins.ListModelMixin, Listing):
    queryset = Participation.objects.none()
    serializer_class = StandingSerializer

    def get_queryset(self) -> QuerySet[Participation]:
        return training.standings(study_of(self.request, self.kwargs["slug"], Role.RESEARCHER))

    @extend_schema(operation_id="studies_training_list")
    def get(self, request: Request, slug: str) -> Response:
        return self.list(request)


class TrainingLetIn(APIView):
    @extend_schema(
        operation_id="studies_training_let_in", request=None, responses=StandingSerializer
    )
    def post(self, request: Request, slug: str, person: int) -> Response:
        """Let somebody judge units who did not qualify by training."""
        study = study_of(request, slug, Role.RESEARCHER)
        training.let_in(study=study, person_id=person, by=user_of(request))
        standing = found(training.standings(study), person=person)
        return Response(StandingSerializer(standing).data)
