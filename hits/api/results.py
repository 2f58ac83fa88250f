"""Results: what people said so far, and every judgment."""

from dataclasses import replace
from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from hits.api.access import study_of
from hits.api.lists import Listing
from hits.api.study_serializers import PagesSerializer, ProgressSerializer
from hits.models import Assignment, Role, Slot
from hits.pipeline.aggregate import OutsideIds
from hits.pipeline.attention import attention_in
from hits.pipeline.outcomes import outcomes_so_far
from hits.pipeline.overview import Overview, overview_of
from hits.protocol import protocol


class ShareSerializer(serializers.Serializer[Any]):
    label = serializers.CharField()  # type: ignore[assignment]  # a field of this name
    count = serializers.IntegerField()
    of = serializers.IntegerField()


class MachineRowSerializer(serializers.Serializer[Any]):
    machine = serializers.CharField()
    rank = serializers.IntegerField(allow_null=True, help_text="Empty: all ranks together.")
    n = serializers.IntegerField()
    shares = ShareSerializer(many=True)


class GoldRowSerializer(serializers.Serializer[Any]):
    kind = serializers.CharField()
    expected = serializers.CharField()
    answered = serializers.IntegerField()
    passed = serializers.IntegerField()


class NumbersSerializer(serializers.Serializer[Any]):
    mean = serializers.FloatField()
    deviation = serializers.FloatField(help_text="Standard deviation.")
    median = serializers.FloatField()
    low = serializers.FloatField()
    high = serializers.FloatField()
    bins = serializers.ListField(
        child=serializers.IntegerField(), help_text="Judgments in equal parts from low to high."
    )


class TallySerializer(serializers.Serializer[Any]):
    field = serializers.CharField(help_text="Of the answer.")
    title = serializers.CharField()
    n = serializers.IntegerField(help_text="Judgments whose answer has it.")
    several = serializers.BooleanField(help_text="Several values can apply to one judgment.")
    shares = ShareSerializer(many=True)
    numbers = NumbersSerializer(allow_null=True)


class SaidSerializer(serializers.Serializer[Any]):
    at = serializers.DateTimeField()
    n = serializers.IntegerField()
    problems = serializers.IntegerField()
    tallies = TallySerializer(many=True)
    machines = MachineRowSerializer(many=True)
    golds = GoldRowSerializer(many=True)


class PaceSerializer(serializers.Serializer[Any]):
    pages = serializers.IntegerField()
    median_seconds = serializers.FloatField(allow_null=True)
    pay = serializers.DecimalField(max_digits=8, decimal_places=2)
    hourly = serializers.DecimalField(max_digits=10, decimal_places=2, allow_null=True)


class SpentSerializer(serializers.Serializer[Any]):
    """What a channel has cost so far, and what an hour earns there."""

    channel = serializers.CharField()
    rewards = serializers.DecimalField(max_digits=14, decimal_places=2)
    fees = serializers.DecimalField(max_digits=14, decimal_places=2)
    bonuses = serializers.DecimalField(max_digits=14, decimal_places=2, help_text="With fees.")
    compensations = serializers.DecimalField(
        max_digits=14, decimal_places=2, help_text="With fees."
    )
    total = serializers.DecimalField(max_digits=14, decimal_places=2)
    owed = serializers.DecimalField(
        max_digits=14, decimal_places=2, help_text="For work that is not decided or not paid yet."
    )
    pace = PaceSerializer(allow_null=True)


class RateSerializer(serializers.Serializer[Any]):
    judgments_a_day = serializers.FloatField()
    ends_at = serializers.DateTimeField(help_text="When all will be there at this rate.")


class AttentionSerializer(serializers.Serializer[Any]):
    text = serializers.CharField()
    level = serializers.ChoiceField(["bad", "warn", "good"])


class OutcomesSerializer(serializers.Serializer[Any]):
    """What became of every judgment: submitted is the sum of all the others. Golds and training
    are left out."""

    submitted = serializers.IntegerField()
    used = serializers.IntegerField()
    pending = serializers.IntegerField()
    not_used = serializers.DictField(child=serializers.IntegerField(), help_text="By reason.")


class ResultsSerializer(serializers.Serializer[Any]):
    attention = AttentionSerializer(many=True, help_text="What waits for somebody, first.")
    progress = ProgressSerializer()
    pages = PagesSerializer()
    pace = PaceSerializer()
    rate = RateSerializer(allow_null=True)
    cost = serializers.DecimalField(max_digits=14, decimal_places=2, help_text="So far.")
    pages_left = serializers.IntegerField(help_text="That nobody has or has done.")
    to_come = serializers.DecimalField(
        max_digits=14, decimal_places=2, help_text="For them at the study's pay, without fees."
    )
    spent = SpentSerializer(many=True)
    people = serializers.IntegerField()
    results = SaidSerializer()
    outcomes = serializers.SerializerMethodField()

    @extend_schema_field(OutcomesSerializer)
    def get_outcomes(self, overview: Overview) -> dict[str, Any]:
        return dict(OutcomesSerializer(outcomes_so_far(self.context["study"])).data)


class JudgmentSerializer(serializers.Serializer[Any]):
    """A judgment with what it is about, and what was decided on its page."""

    page = serializers.UUIDField(source="assignment.key")
    person = serializers.IntegerField(source="person_id")
    position = serializers.IntegerField()
    unit = serializers.CharField(source="unit.key")
    images = serializers.SerializerMethodField(help_text="Their outside ids.")
    captions = serializers.SerializerMethodField(help_text="Their outside ids.")
    pool = serializers.CharField(source="unit.pool")
    gold = serializers.DictField(source="unit.gold", allow_null=True)
    answer = serializers.DictField(source="judgment.answer", allow_null=True)
    problem = serializers.CharField(source="judgment.problem")
    seconds = serializers.FloatField(source="judgment.seconds", allow_null=True)
    place = serializers.ChoiceField(Slot.State.choices, source="state")
    use = serializers.ChoiceField(Assignment.Use.choices, source="assignment.use")
    is_training = serializers.BooleanField(source="assignment.is_training")
    submitted_at = serializers.DateTimeField(source="assignment.submitted_at")

    def get_images(self, slot: Slot) -> list[str]:
        return list(self._outside_ids().of(slot.unit.payload)[0])

    def get_captions(self, slot: Slot) -> list[str]:
        return list(self._outside_ids().of(slot.unit.payload)[1])

    def _outside_ids(self) -> OutsideIds:
        found: OutsideIds = self.context["outside_ids"]
        return found


class ResultsView(APIView):
    @extend_schema(operation_id="studies_results", responses=ResultsSerializer)
    def get(self, request: Request, slug: str) -> Response:
        """What needs attention, progress, cost, pay and pace, and the shares of the answers."""
        study = study_of(request, slug, Role.RESEARCHER)
        overview = overview_of(study)
        attention = attention_in(study, overview, is_published=study.publications.exists())
        return Response(
            ResultsSerializer(replace(overview, attention=attention), context={"study": study}).data
        )


class JudgmentList(Listing):
    queryset = Slot.objects.none()
    serializer_class = JudgmentSerializer
    # By page, not by slot: the pages of a study are found by an index, its slots are not.
    order = ("assignment_id", "position")
    filters = {
        "use": ("assignment__use", serializers.ChoiceField(Assignment.Use.choices)),
        "is_training": ("assignment__is_training", serializers.BooleanField()),
        "place": ("state", serializers.ChoiceField(Slot.State.choices)),
        "page": ("assignment__key", serializers.UUIDField()),
        "pool": ("unit__pool", serializers.CharField(max_length=20)),
    }

    def get_queryset(self) -> QuerySet[Slot]:
        study = study_of(self.request, self.kwargs["slug"], Role.RESEARCHER)
        return Slot.objects.filter(assignment__study=study, judgment__isnull=False).select_related(
            "judgment", "unit", "assignment"
        )

    @extend_schema(operation_id="studies_judgments_list", responses=JudgmentSerializer(many=True))
    def get(self, request: Request, slug: str) -> Response:
        slots = self.paginate_queryset(self.filter_queryset(self.get_queryset())) or []
        kind = protocol(study_of(request, slug, Role.RESEARCHER).protocol)
        context = {"outside_ids": OutsideIds(kind, [slot.unit.payload for slot in slots])}
        rows = JudgmentSerializer(slots, many=True, context=context)
        return self.get_paginated_response(rows.data)
