"""What is removed from a study's data, asked again, and made a gold; each with a reason."""

from io import TextIOWrapper
from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import mixins, serializers, status
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from hits.api.access import study_of, user_of
from hits.api.lists import Listing
from hits.api.parsing import SoundJSONParser
from hits.models import Curation, Role
from hits.pipeline import golds, rejudge, remove
from hits.pipeline.doubtful import Doubtful, denied, rated_low
from hits.pipeline.naming import keys_of


class CurationSerializer(serializers.ModelSerializer[Curation]):
    image = serializers.SlugRelatedField[Any](slug_field="external_id", read_only=True)
    caption = serializers.SlugRelatedField[Any](slug_field="external_id", read_only=True)
    unit = serializers.SlugRelatedField[Any](slug_field="key", read_only=True)
    details = serializers.DictField(read_only=True)
    by = serializers.StringRelatedField[Any]()

    class Meta:
        model = Curation
        fields = [
            "id",
            "kind",
            "image",
            "caption",
            "unit",
            "units",
            "details",
            "reason",
            "by",
            "at",
        ]
        read_only_fields = fields


class ThingSerializer(serializers.Serializer[Any]):
    """An image, a caption, or both as a pair, by their ids in the corpus."""

    image = serializers.CharField(max_length=200, default="")
    caption = serializers.CharField(max_length=200, default="")


class ReasonSerializer(serializers.Serializer[Any]):
    reason = serializers.CharField(max_length=remove.LONGEST_REASON)


class ThingsSerializer(ReasonSerializer):
    things = ThingSerializer(many=True)


class LowSerializer(serializers.Serializer[Any]):
    file = serializers.FileField(help_text="A CSV with the columns caption, image, agg_score.")
    below = serializers.FloatField(default=2.5, min_value=0, max_value=5)


class DoubtfulSerializer(serializers.Serializer[Doubtful]):
    image = serializers.CharField()
    caption = serializers.CharField()
    text = serializers.CharField()
    why = serializers.CharField()


class AgainSerializer(ReasonSerializer):
    units = serializers.ListField(
        child=serializers.CharField(max_length=400),
        help_text="Each by its key, or by the outside ids of what it shows.",
    )
    more = serializers.IntegerField(default=0, min_value=0, max_value=rejudge.MOST_WANTED)
    set_aside = serializers.BooleanField(
        default=False, help_text="Earlier judgments count no more and are replaced."
    )


class OverlapSerializer(ReasonSerializer):
    units = serializers.IntegerField(min_value=1, max_value=rejudge.MOST_AT_ONCE)
    judgments = serializers.IntegerField(min_value=2, max_value=rejudge.MOST_WANTED)
    seed = serializers.IntegerField(default=0, min_value=0, max_value=2**31 - 1)


class AskedAgainSerializer(serializers.Serializer[rejudge.Again]):
    units = serializers.IntegerField()
    set_aside = serializers.IntegerField()


class PromisingSerializer(serializers.Serializer[golds.Promising]):
    unit = serializers.CharField(source="unit.key")
    pool = serializers.CharField()
    gold = serializers.DictField()
    judgments = serializers.IntegerField()
    agreement = serializers.FloatField()


class PromoteSerializer(ReasonSerializer):
    units = serializers.ListField(child=serializers.CharField(max_length=400))
    agreement = serializers.FloatField(default=1.0, min_value=0.5, max_value=1)


class RetireSerializer(ReasonSerializer):
    unit = serializers.CharField(max_length=100)


class CurationList(mixins.ListModelMixin, Listing):
    queryset = Curation.objects.none()
    serializer_class = CurationSerializer
    order = ("-pk",)
    filters = {"kind": ("kind", serializers.ChoiceField(Curation.Kind.choices))}

    def get_queryset(self) -> QuerySet[Curation]:
        study = study_of(self.request, self.kwargs["slug"], Role.RESEARCHER)
        return study.curations.select_related("image", "caption", "unit", "by")

    @extend_schema(operation_id="curations_list")
    def get(self, request: Request, slug: str) -> Response:
        """What was done to the units of a study, by whom and why."""
        return self.list(request)


class _Curating(APIView):
    def _sent(self, request: Request, model: type[serializers.Serializer[Any]]) -> dict[str, Any]:
        sent = model(data=request.data)
        sent.is_valid(raise_exception=True)
        return {**sent.validated_data, "by": user_of(request)}


class Remove(_Curating):
    @extend_schema(
        operation_id="studies_remove",
        request=ThingsSerializer,
        responses=CurationSerializer(many=True),
    )
    def post(self, request: Request, slug: str) -> Response:
        """Remove items and pairs from the data; what is gone already is left as it is."""
        return self._curated(request, slug, remove.remove)

    def _curated(self, request: Request, slug: str, act: Any) -> Response:
        study = study_of(request, slug, Role.RESEARCHER)
        sent = self._sent(request, ThingsSerializer)
        things = [remove.named(study, **thing) for thing in sent.pop("things")]
        made = act(study=study, things=things, **sent)
        return Response(CurationSerializer(made, many=True).data)


class Restore(Remove):
    @extend_schema(
        operation_id="studies_restore",
        request=ThingsSerializer,
        responses=CurationSerializer(many=True),
    )
    def post(self, request: Request, slug: str) -> Response:
        """Take removed items and pairs in again."""
        return self._curated(request, slug, remove.restore)


class DoubtfulPairs(_Curating):
    parser_classes = [MultiPartParser, SoundJSONParser]

    @extend_schema(operation_id="studies_doubtful", responses=DoubtfulSerializer(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """Original pairs that everybody who was asked here denied."""
        study = study_of(request, slug, Role.RESEARCHER)
        return Response([DoubtfulSerializer(each).data for each in denied(study)])

    @extend_schema(
        operation_id="studies_rated_low",
        request=LowSerializer,
        responses=DoubtfulSerializer(many=True),
    )
    def post(self, request: Request, slug: str) -> Response:
        """Original pairs that a file as Crisscrossed Captions publishes them rates low."""
        study = study_of(request, slug, Role.RESEARCHER)
        sent = self._sent(request, LowSerializer)
        lines = TextIOWrapper(sent["file"], encoding="utf-8", errors="replace")
        found = rated_low(study, lines, sent["below"])
        return Response([DoubtfulSerializer(each).data for each in found])


class Rejudge(_Curating):
    @extend_schema(
        operation_id="studies_rejudge", request=AgainSerializer, responses=AskedAgainSerializer
    )
    def post(self, request: Request, slug: str) -> Response:
        """Ask for more judgments of chosen units, or anew for those they have."""
        study = study_of(request, slug, Role.RESEARCHER)
        sent = self._sent(request, AgainSerializer)
        keys = keys_of(study, sent.pop("units"))
        again = rejudge.rejudge(study=study, keys=keys, **sent)
        return Response(AskedAgainSerializer(again).data)


class Overlap(_Curating):
    @extend_schema(
        operation_id="studies_overlap", request=OverlapSerializer, responses=AskedAgainSerializer
    )
    def post(self, request: Request, slug: str) -> Response:
        """So many units, drawn by a seed, want so many judgments."""
        study = study_of(request, slug, Role.RESEARCHER)
        again = rejudge.overlap(study=study, **self._sent(request, OverlapSerializer))
        return Response(AskedAgainSerializer(again).data)


class Golds(_Curating):
    @extend_schema(operation_id="golds_promising", responses=PromisingSerializer(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """Units on which all of two people or more agree, and the golds they would make."""
        study = study_of(request, slug, Role.RESEARCHER)
        found = golds.promising(study=study)
        return Response([PromisingSerializer(each).data for each in found])

    @extend_schema(
        operation_id="golds_promote",
        request=PromoteSerializer,
        responses={201: CurationSerializer(many=True)},
    )
    def post(self, request: Request, slug: str) -> Response:
        """Make golds of units that people agree on."""
        study = study_of(request, slug, Role.RESEARCHER)
        sent = self._sent(request, PromoteSerializer)
        keys = keys_of(study, sent.pop("units"))
        made = golds.promote(study=study, keys=keys, **sent)
        events = Curation.objects.filter(unit__in=made, kind="gold").select_related("unit", "by")
        data = CurationSerializer(events, many=True).data
        return Response(data, status=status.HTTP_201_CREATED)


class RetireGold(_Curating):
    @extend_schema(operation_id="golds_retire", request=RetireSerializer, responses={204: None})
    def post(self, request: Request, slug: str) -> Response:
        """No page has this gold any more."""
        study = study_of(request, slug, Role.RESEARCHER)
        sent = self._sent(request, RetireSerializer)
        golds.retire(study=study, key=sent.pop("unit"), **sent)
        return Response(status=status.HTTP_204_NO_CONTENT)
