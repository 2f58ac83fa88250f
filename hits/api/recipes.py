"""Recipes: a paper's whole procedure on a corpus, started and gone on with by a job."""

from typing import Any

from django.http import Http404
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers, status
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from hits.api import throttles
from hits.api.access import MayCreate, found, user_of
from hits.api.jobs import JobSerializer
from hits.models import Corpus
from hits.pipeline import visible
from hits.pipeline.recipe import Standing, State, standing
from hits.pipeline.runs import LONGEST_NAME, Run, ask
from hits.recipes import Recipe, recipes


class RecipeSerializer(serializers.Serializer[Recipe]):
    slug = serializers.CharField()
    paper = serializers.CharField()
    name = serializers.CharField()
    description = serializers.CharField()
    needs = serializers.CharField()


class StepSerializer(serializers.Serializer[Standing]):
    key = serializers.CharField()
    title = serializers.CharField()
    state = serializers.ChoiceField(list(State))
    text = serializers.CharField()
    study = serializers.SlugField(source="study.slug", allow_null=True, default=None)
    release = serializers.IntegerField(source="release.pk", allow_null=True, default=None)


class RunSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    split = serializers.CharField()
    is_started = serializers.BooleanField()
    steps = StepSerializer(many=True)


class StartSerializer(serializers.Serializer[Any]):
    """What counts when it is started; going on needs the name alone."""

    name = serializers.SlugField(max_length=LONGEST_NAME, required=False, default="")
    machines = serializers.ListField(
        child=serializers.CharField(max_length=100), required=False, default=list, max_length=20
    )
    split = serializers.CharField(max_length=40, required=False, allow_blank=True)
    train_split = serializers.CharField(max_length=40, required=False, allow_blank=True)
    queries = serializers.IntegerField(
        min_value=1, max_value=2**31 - 1, required=False, allow_null=True
    )
    seed = serializers.IntegerField(min_value=0, max_value=2**62, required=False, default=0)


class RecipeList(APIView):
    @extend_schema(operation_id="recipes_list", responses=RecipeSerializer(many=True))
    def get(self, request: Request) -> Response:
        """The whole procedures of five papers."""
        return Response([RecipeSerializer(each).data for each in recipes().values()])


class RecipeRun(APIView):
    permission_classes = [IsAuthenticated, MayCreate]
    throttle_classes = [throttles.AskForWork]

    def _given(self, request: Request, slug: str, recipe: str) -> dict[str, Any]:
        if recipe not in recipes():
            raise Http404
        corpus: Corpus = found(visible.corpora(user_of(request)), slug=slug)
        return {"recipe": recipe, "corpus": corpus, "by": user_of(request)}

    @extend_schema(
        operation_id="corpora_recipes_retrieve",
        parameters=[OpenApiParameter("name", str, description="Empty: the usual one.")],
        responses=RunSerializer,
    )
    def get(self, request: Request, slug: str, recipe: str) -> Response:
        """Where it stands: every step, and what it waits for."""
        given = self._given(request, slug, recipe)
        run = Run.of(**given, name=request.query_params.get("name", "").replace("\0", ""))
        return Response(
            {
                "name": run.name,
                "split": run.split,
                "is_started": run.is_started,
                "steps": [StepSerializer(each).data for each in standing(run)],
            }
        )

    @extend_schema(
        operation_id="corpora_recipes_go_on",
        request=StartSerializer,
        responses={202: JobSerializer},
    )
    def post(self, request: Request, slug: str, recipe: str) -> Response:
        """Start it, or go on with it up to the next step that waits for people."""
        given = self._given(request, slug, recipe)
        sent = StartSerializer(data=request.data)
        sent.is_valid(raise_exception=True)
        job = ask(Run.of(**given, **sent.validated_data))
        return Response(JobSerializer(job).data, status=status.HTTP_202_ACCEPTED)
