from datetime import datetime
from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from hits.api.answers import AnswersField
from hits.models import Assignment
from hits.pipeline.own_work import told
from hits.pipeline.submit import DEVICES
from hits.pipeline.terms import Terms, terms_of


class DraftSerializer(serializers.Serializer[Any]):
    revision = serializers.IntegerField(min_value=0, max_value=2**30)
    answers = AnswersField()


class SubmissionSerializer(serializers.Serializer[Any]):
    revision = serializers.IntegerField(
        min_value=0,
        max_value=2**31 - 1,
        default=0,
        help_text="Of the newest saved answers that these go on from.",
    )
    answers = AnswersField(
        help_text="By position. Beside its fields a question can have the milliseconds it took "
        "as `ms`, of which times and hourly pay are counted."
    )
    device = serializers.ChoiceField(sorted(DEVICES), required=False)


class SavedSerializer(serializers.Serializer[Any]):
    saved_at = serializers.DateTimeField()
    revision = serializers.IntegerField()


class ReceiptSerializer(serializers.Serializer[Any]):
    key = serializers.UUIDField()
    submitted_at = serializers.DateTimeField()


class OptionSerializer(serializers.Serializer[Any]):
    value = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment]  # a field of this name
    help = serializers.CharField()


class QuestionSerializer(serializers.Serializer[Any]):
    position = serializers.IntegerField()
    shown = serializers.DictField(help_text="Images and texts, as the protocol shows them.")


class PageSerializer(serializers.Serializer[Any]):
    """What the page of a HIT shows its rater, and nothing else."""

    key = serializers.UUIDField()
    study = serializers.SlugField()
    study_name = serializers.CharField()
    state = serializers.ChoiceField(Assignment.State.choices)
    is_training = serializers.BooleanField()
    pay = serializers.CharField()
    terms = serializers.CharField(help_text="Pay, time and wage in words.")
    lease_until = serializers.DateTimeField()
    revision = serializers.IntegerField()
    saved_at = serializers.DateTimeField(allow_null=True)
    wording = serializers.DictField()
    settings = serializers.DictField(help_text="Those that shape the form.")
    options = serializers.DictField(child=OptionSerializer(many=True))
    questions = QuestionSerializer(many=True)
    answers = AnswersField(help_text="What was saved so far.")


class AssignmentSerializer(serializers.ModelSerializer[Assignment]):
    """A page of one's own; what became of it is the rater's to know."""

    study = serializers.SlugRelatedField[Any](slug_field="slug", read_only=True)
    pay = serializers.DecimalField(
        source="version.pay", max_digits=8, decimal_places=2, read_only=True
    )
    payment_reason = serializers.SerializerMethodField()
    payment_decided_at = serializers.SerializerMethodField()

    class Meta:
        model = Assignment
        fields = [
            "key", "study", "state", "is_training", "drawn_at", "lease_until", "saved_at",
            "submitted_at", "pay", "payment", "payment_reason", "payment_decided_at",
        ]  # fmt: skip
        read_only_fields = fields

    def get_payment_reason(self, page: Assignment) -> str:
        decided = told(page)
        return decided.reason if decided else ""

    def get_payment_decided_at(self, page: Assignment) -> datetime | None:
        decided = told(page)
        return decided.at if decided else None


class TrainedAnswerSerializer(serializers.Serializer[Any]):
    position = serializers.IntegerField()
    answer = serializers.CharField(help_text="One's own, in words; empty: could not be answered.")
    expected = serializers.CharField(help_text="What is right, in words.")
    is_right = serializers.SerializerMethodField()
    explanation = serializers.CharField(help_text="Why it is right, where the study says so.")

    def get_is_right(self, answered: Any) -> bool:
        return answered.passed is True


class FeedbackSerializer(serializers.Serializer[Any]):
    """What one learns of a training page of one's own."""

    right = serializers.IntegerField()
    asked = serializers.IntegerField()
    needed = serializers.IntegerField(help_text="Answers that had to be right.")
    has_qualified = serializers.BooleanField()
    tries_left = serializers.IntegerField()
    answers = TrainedAnswerSerializer(many=True)


class TermsSerializer(serializers.Serializer[Terms]):
    """What a page pays and how long it takes."""

    pay = serializers.DecimalField(max_digits=8, decimal_places=2)
    minutes = serializers.FloatField(allow_null=True, help_text="Empty: not known yet.")
    is_measured = serializers.BooleanField(help_text="The median of pages, not an estimate.")
    hourly = serializers.DecimalField(max_digits=10, decimal_places=2, allow_null=True)


class InformationSerializer(serializers.Serializer[Any]):
    study = serializers.SlugField()
    study_name = serializers.CharField()
    information = serializers.CharField()
    terms = TermsSerializer()
    version = serializers.IntegerField()
    has_agreed = serializers.BooleanField()


class AgreeSerializer(serializers.Serializer[Any]):
    version = serializers.IntegerField(help_text="The version whose information was read.")


class WorkSerializer(serializers.Serializer[Any]):
    """A study as its rater's home shows it."""

    study = serializers.SlugField(source="slug")
    study_name = serializers.CharField(source="name")
    state = serializers.CharField()
    pay = serializers.DecimalField(source="version.pay", max_digits=8, decimal_places=2)
    terms = serializers.SerializerMethodField()
    pages_done = serializers.SerializerMethodField()
    judgments_done = serializers.SerializerMethodField()

    @extend_schema_field(TermsSerializer)
    def get_terms(self, study: Any) -> Any:
        return TermsSerializer(terms_of(study, study.version)).data

    def get_pages_done(self, study: Any) -> int:
        return self._done(study, "pages_done")

    def get_judgments_done(self, study: Any) -> int:
        return self._done(study, "judgments_done")

    def _done(self, study: Any, name: str) -> int:
        taking_part = study.own_participation
        return getattr(taking_part[0], name) if taking_part else 0
