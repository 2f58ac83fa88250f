"""What machines proposed on a corpus together, and how differently."""

from typing import Any

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from hits.api.access import found, user_of
from hits.api.tables import TableSerializer
from hits.pipeline import visible
from hits.pipeline.compare import TOP, comparable, compare, usual


class AskedSerializer(serializers.Serializer[Any]):
    proposal = serializers.ListField(
        child=serializers.IntegerField(min_value=1, max_value=2**62), default=list, max_length=100
    )
    top = serializers.IntegerField(min_value=1, max_value=100, default=TOP)


class ComparisonSerializer(serializers.Serializer[Any]):
    top = serializers.IntegerField()
    proposed = serializers.IntegerField(help_text="Before duplicates are joined.")
    joined = serializers.IntegerField(help_text="Pairs of an image and a caption.")
    originals = serializers.IntegerField(help_text="Those that the corpus has already.")
    judged = serializers.IntegerField(help_text="Those that somebody judged.")
    coverage = serializers.FloatField(allow_null=True, help_text="The share that is judged.")
    images = serializers.IntegerField()
    captions = serializers.IntegerField()
    tables = TableSerializer(many=True)


class ComparisonView(APIView):
    @extend_schema(
        operation_id="corpora_proposals_compare",
        responses=ComparisonSerializer,
        parameters=[
            OpenApiParameter("proposal", int, many=True, description="Else the newest of each."),
            OpenApiParameter("top", int),
        ],
    )
    def get(self, request: Request, slug: str) -> Response:
        """Counts before and after joining duplicates, and the diversity of machines."""
        corpus = found(visible.corpora(user_of(request)), slug=slug)
        asked = AskedSerializer(data=request.query_params)
        asked.is_valid(raise_exception=True)
        named = asked.validated_data["proposal"]
        chosen = list(corpus.proposals.select_related("machine").filter(pk__in=named))
        if len(chosen) < len(set(named)):
            raise serializers.ValidationError({"proposal": ["The corpus has no such proposal."]})
        compared = compare(
            corpus=corpus,
            proposals=chosen or usual(comparable(corpus)),
            top=asked.validated_data["top"],
        )
        return Response(ComparisonSerializer(compared).data)
