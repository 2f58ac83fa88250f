from typing import Any

from rest_framework import serializers

from hits.models import Assignment, Decision
from hits.pipeline.evidence import Answered, TrackRecord
from hits.pipeline.review import LONGEST_REASON


class QueuedSerializer(serializers.ModelSerializer[Assignment]):
    """A page in the queue. The person is a number here, never a name."""

    person = serializers.IntegerField(source="person_id", read_only=True)
    auto_approval_at = serializers.DateTimeField(
        source="claim.auto_approval_at",
        read_only=True,
        default=None,
        help_text="When a marketplace approves the page by itself.",
    )

    class Meta:
        model = Assignment
        fields = [
            "key", "person", "submitted_at", "is_late", "golds_shown", "golds_failed", "use",
            "payment", "auto_approval_at",
        ]  # fmt: skip
        read_only_fields = fields


class DecisionSerializer(serializers.ModelSerializer[Decision]):
    assignment = serializers.SlugRelatedField[Assignment](slug_field="key", read_only=True)
    by = serializers.StringRelatedField[Any](help_text="Empty: a rule.")

    class Meta:
        model = Decision
        fields = ["id", "assignment", "kind", "value", "reason", "by", "at"]
        read_only_fields = fields


class ImageShownSerializer(serializers.Serializer[Any]):
    url = serializers.CharField()
    width = serializers.IntegerField()
    height = serializers.IntegerField()


class AnsweredSerializer(serializers.Serializer[Answered]):
    position = serializers.IntegerField()
    images = ImageShownSerializer(many=True)
    texts = serializers.ListField(child=serializers.CharField())
    answer = serializers.CharField()
    problem = serializers.CharField()
    seconds = serializers.FloatField(allow_null=True)
    is_gold = serializers.BooleanField()
    expected = serializers.CharField(help_text="Of a gold.")
    passed = serializers.BooleanField(allow_null=True)


class TrackRecordSerializer(serializers.Serializer[TrackRecord]):
    number = serializers.IntegerField()
    pages = serializers.IntegerField()
    golds_shown = serializers.IntegerField()
    golds_passed = serializers.IntegerField()
    used = serializers.IntegerField()
    not_used = serializers.IntegerField()
    refused = serializers.IntegerField()
    waiting = serializers.IntegerField()
    median_seconds = serializers.FloatField(allow_null=True)


class EvidenceSerializer(serializers.Serializer[Any]):
    page = QueuedSerializer()
    person = TrackRecordSerializer()
    answers = AnsweredSerializer(many=True)
    decisions = DecisionSerializer(many=True)
    last_decision = serializers.IntegerField(allow_null=True)
    payment_there = serializers.CharField(
        help_text="What a marketplace has done about payment that cannot be changed any more."
    )


class DecideSerializer(serializers.Serializer[Any]):
    use = serializers.ChoiceField(Assignment.Use.choices)
    payment = serializers.ChoiceField(Assignment.Payment.choices)
    reason = serializers.CharField(max_length=LONGEST_REASON)
    last_decision = serializers.IntegerField(
        required=False,
        allow_null=True,
        help_text="As the evidence gave it: the decision is refused if another came in between.",
    )
