from typing import Any

from rest_framework import serializers

from hits.models import Assignment, Decision, Flag, GoldDecision, Opinion, PersonEvent
from hits.pipeline.evidence import Answered, Side, TrackRecord
from hits.pipeline.gold_doubt import GoldInDoubt
from hits.pipeline.review import LONGEST_REASON


class QueuedSerializer(serializers.ModelSerializer[Assignment]):
    """A page in the queue. The person is a number here, never a name."""

    person = serializers.IntegerField(source="person_id", read_only=True)
    second_opinion = serializers.SerializerMethodField(help_text="Somebody asked for one.")
    auto_approval_at = serializers.DateTimeField(
        source="claim.auto_approval_at",
        read_only=True,
        default=None,
        help_text="When a marketplace approves the page by itself.",
    )

    class Meta:
        model = Assignment
        fields = [
            "key", "person", "submitted_at", "is_late", "doubt", "golds_shown", "golds_failed",
            "use", "payment", "second_opinion", "auto_approval_at",
        ]  # fmt: skip
        read_only_fields = fields

    def get_second_opinion(self, page: Assignment) -> bool:
        return page.second_asked_by_id is not None


class FlagSerializer(serializers.ModelSerializer[Flag]):
    """What a signal raised, with its figure and in words."""

    person = serializers.IntegerField(source="person_id", read_only=True)
    page = serializers.SlugRelatedField[Assignment](
        source="assignment", slug_field="key", read_only=True, help_text="Empty: the person."
    )
    other = serializers.IntegerField(source="other_id", read_only=True, allow_null=True)

    class Meta:
        model = Flag
        fields = ["person", "page", "signal", "figure", "threshold", "doubt", "says", "other"]
        read_only_fields = fields


class OpinionSerializer(serializers.ModelSerializer[Opinion]):
    by = serializers.StringRelatedField[Any]()

    class Meta:
        model = Opinion
        fields = ["use", "payment", "reason", "by", "at"]
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


class SideSerializer(serializers.Serializer[Side]):
    name = serializers.CharField()
    images = ImageShownSerializer(many=True)
    texts = serializers.ListField(child=serializers.CharField())


class AnsweredSerializer(serializers.Serializer[Answered]):
    position = serializers.IntegerField()
    images = ImageShownSerializer(many=True)
    texts = serializers.ListField(child=serializers.CharField())
    sides = SideSerializer(many=True, help_text="What stood beside each other.")
    place = serializers.IntegerField(
        allow_null=True, help_text="Where what was chosen stood, from 0, if places were drawn."
    )
    answer = serializers.CharField()
    problem = serializers.CharField()
    seconds = serializers.FloatField(allow_null=True)
    is_gold = serializers.BooleanField()
    expected = serializers.CharField(help_text="Of a gold.")
    passed = serializers.BooleanField(allow_null=True)
    is_retired = serializers.BooleanField(help_text="A gold that is not counted any more.")


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
    others = serializers.DictField(
        child=serializers.DictField(child=serializers.IntegerField()),
        help_text="What others answered to the same units: position, answer, people.",
    )
    signals = FlagSerializer(many=True)
    decisions = DecisionSerializer(many=True)
    opinions = OpinionSerializer(many=True)
    unseen = serializers.ListField(
        child=serializers.IntegerField(),
        help_text="Questions you have not looked at; refusing payment needs all of them seen.",
    )
    loss = serializers.DecimalField(
        max_digits=8, decimal_places=2, help_text="What refusing payment costs the worker."
    )
    last_decision = serializers.IntegerField(allow_null=True)
    payment_there = serializers.CharField(
        help_text="What a marketplace has done about payment that cannot be changed any more."
    )


class DecideSerializer(serializers.Serializer[Any]):
    use = serializers.ChoiceField(Assignment.Use.choices)
    payment = serializers.ChoiceField(Assignment.Payment.choices)
    reason = serializers.CharField(max_length=LONGEST_REASON)
    loss = serializers.DecimalField(
        max_digits=8,
        decimal_places=2,
        required=False,
        allow_null=True,
        help_text="To refuse payment: what the worker loses, as the evidence gave it.",
    )
    last_decision = serializers.IntegerField(
        required=False,
        allow_null=True,
        help_text="As the evidence gave it: the decision is refused if another came in between.",
    )


class SeenSerializer(serializers.Serializer[Any]):
    positions = serializers.ListField(child=serializers.IntegerField(min_value=1), max_length=1000)


class SecondSerializer(serializers.Serializer[Any]):
    """What you would decide; whoever decides does not see it before."""

    use = serializers.ChoiceField(Assignment.Use.choices)
    payment = serializers.ChoiceField(Assignment.Payment.choices)
    reason = serializers.CharField(max_length=LONGEST_REASON)


class TakeBackSerializer(serializers.Serializer[Any]):
    last_decision = serializers.IntegerField(required=False, allow_null=True)


class ManySerializer(serializers.Serializer[Any]):
    """Pages by their keys, or all of the queue that match."""

    use = serializers.ChoiceField(
        Assignment.Use.choices, help_text="Used or not used; all of them are paid."
    )
    payment = serializers.CharField(
        default=Assignment.Payment.APPROVED.value, help_text="Only “approved”."
    )
    reason = serializers.CharField(max_length=LONGEST_REASON)
    pages = serializers.ListField(
        child=serializers.UUIDField(), required=False, help_text="Left out: all that match."
    )
    signal = serializers.CharField(max_length=20, required=False, default="")
    person = serializers.IntegerField(required=False, allow_null=True, default=None)

    def validate_payment(self, value: str) -> str:
        if value != Assignment.Payment.APPROVED:
            raise serializers.ValidationError("Many at once are paid; refuse page by page.")
        return value


class PersonRecordSerializer(serializers.Serializer[Any]):
    number = serializers.IntegerField()
    doubt = serializers.FloatField(help_text="Of their most doubtful page.")
    signals = serializers.ListField(child=serializers.CharField())
    pages = serializers.IntegerField()
    golds_shown = serializers.IntegerField()
    golds_passed = serializers.IntegerField()
    used = serializers.IntegerField()
    not_used = serializers.IntegerField()
    waiting = serializers.IntegerField()
    refused = serializers.IntegerField(help_text="Pages whose payment was refused.")
    paid = serializers.DecimalField(max_digits=14, decimal_places=2)
    median_seconds = serializers.FloatField(allow_null=True)
    seconds = serializers.FloatField(allow_null=True)
    last_at = serializers.DateTimeField()
    excluded = serializers.CharField(help_text="Why; empty where they are not.")
    has_appeal = serializers.BooleanField(help_text="One that waits for an answer.")


class PersonEventSerializer(serializers.ModelSerializer[PersonEvent]):
    person = serializers.IntegerField(source="person_id", read_only=True)
    page = serializers.SlugRelatedField[Assignment](
        source="assignment", slug_field="key", read_only=True
    )
    by = serializers.SerializerMethodField(help_text="Raters are numbers, never names.")
    answer = serializers.SerializerMethodField(help_text="To an appeal; empty until then.")

    class Meta:
        model = PersonEvent
        fields = ["id", "person", "kind", "text", "page", "by", "at", "answer"]
        read_only_fields = fields

    def get_by(self, event: PersonEvent) -> str:
        return "" if event.kind == PersonEvent.Kind.APPEAL or event.by is None else str(event.by)

    def get_answer(self, event: PersonEvent) -> str:
        return event.answer.text if hasattr(event, "answer") else ""


class PersonPageSerializer(serializers.Serializer[Any]):
    record = PersonRecordSerializer()
    rolling = serializers.ListField(
        child=serializers.BooleanField(), help_text="Their last golds, the oldest first."
    )
    signals = FlagSerializer(many=True)
    events = PersonEventSerializer(many=True)


class ActSerializer(serializers.Serializer[Any]):
    kind = serializers.ChoiceField(["warning", "excluded", "readmitted", "qualified", "appeal"])
    text = serializers.CharField(max_length=LONGEST_REASON)


class TextSerializer(serializers.Serializer[Any]):
    text = serializers.CharField(max_length=LONGEST_REASON)


class AppealSerializer(TextSerializer):
    page = serializers.UUIDField(required=False, help_text="A page of yours that it is about.")


class OwnEventSerializer(PersonEventSerializer):
    """Without who wrote it: reviewers are no more than that to a rater."""

    kind = serializers.CharField(read_only=True)

    class Meta(PersonEventSerializer.Meta):
        fields = ["id", "kind", "text", "page", "at", "answer"]
        read_only_fields = fields


class OwnRecordSerializer(serializers.Serializer[Any]):
    """What a study tells a rater of themselves: the golds only where its rules allow it."""

    study = serializers.CharField(source="study.slug")
    golds_passed = serializers.IntegerField(allow_null=True)
    golds_shown = serializers.IntegerField(allow_null=True)
    said = OwnEventSerializer(many=True)
    may_appeal = serializers.BooleanField(help_text="Not while the last note waits.")


class AskGoldsSerializer(serializers.Serializer[Any]):
    failed_often = serializers.BooleanField(
        default=False, help_text="Those that are failed often and are not in doubt, instead."
    )


class GoldInDoubtSerializer(serializers.Serializer[Any]):
    gold = serializers.IntegerField(source="unit.pk")
    answered = serializers.IntegerField(source="record.answered")
    failed = serializers.IntegerField(source="record.failed")
    good_answered = serializers.IntegerField(
        source="record.good_answered", help_text="By people who do well on other golds."
    )
    good_failed = serializers.IntegerField(source="record.good_failed")
    images = ImageShownSerializer(many=True)
    texts = serializers.ListField(child=serializers.CharField())
    sides = SideSerializer(many=True)
    expected = serializers.CharField()
    given = serializers.SerializerMethodField(help_text="How many people gave which answer.")
    why_not_doubted = serializers.CharField(help_text="Empty for a gold in doubt.")

    def get_given(self, gold: GoldInDoubt) -> dict[str, int]:
        return dict(gold.given)


class GoldDecideSerializer(serializers.Serializer[Any]):
    gold = serializers.IntegerField()
    value = serializers.ChoiceField(GoldDecision.Value.choices)
    reason = serializers.CharField(max_length=LONGEST_REASON)


class GoldDecisionSerializer(serializers.ModelSerializer[GoldDecision]):
    gold = serializers.IntegerField(source="unit_id", read_only=True)
    by = serializers.StringRelatedField[Any]()

    class Meta:
        model = GoldDecision
        fields = ["gold", "value", "answered", "failed", "reason", "by", "at"]
        read_only_fields = fields


class ReadingSerializer(serializers.Serializer[Any]):
    """When the signals were last computed, and which say nothing, and why."""

    at = serializers.DateTimeField(allow_null=True)
    judgments = serializers.IntegerField()
    silent = serializers.DictField(child=serializers.CharField())
    flags = serializers.DictField(
        child=serializers.IntegerField(), help_text="How many pages and people each is raised on."
    )
