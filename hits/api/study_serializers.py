from typing import Any

from django.conf import settings
from django.urls import reverse
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from hits.models import Exclusion, Invitation, Membership, Role, Study, StudyVersion
from hits.pipeline.open import INFORMATION
from hits.pipeline.overview import Pages, Progress, pages_of, progress_of
from hits.procedures import procedures
from hits.protocol import registry


class VersionSerializer(serializers.ModelSerializer[StudyVersion]):
    settings = serializers.DictField(read_only=True)
    wording = serializers.DictField(read_only=True)
    quality = serializers.DictField(read_only=True)
    created_by = serializers.StringRelatedField[Any]()

    class Meta:
        model = StudyVersion
        fields = [
            "number", "settings", "wording", "information", "consent_number", "judgments_wanted",
            "lease_minutes", "pay", "expected_minutes", "most_units_a_person", "most_units_a_day",
            "training_units", "training_accuracy", "training_attempts", "quality", "created_by",
            "created_at",
        ]  # fmt: skip
        read_only_fields = fields


class StudySerializer(serializers.ModelSerializer[Study]):
    corpus = serializers.SlugRelatedField[Any](slug_field="slug", read_only=True)
    version = serializers.IntegerField(source="version.number", read_only=True, allow_null=True)

    class Meta:
        model = Study
        fields = [
            "slug", "name", "corpus", "split", "protocol", "state", "seed", "version",
            "pilot_pages", "created_at", "opened_at",
        ]  # fmt: skip
        read_only_fields = fields


class ProgressSerializer(serializers.Serializer[Progress]):
    units = serializers.IntegerField()
    complete = serializers.IntegerField()
    wanted = serializers.IntegerField(help_text="Judgments that the units need in all.")
    counted = serializers.IntegerField()
    held = serializers.IntegerField()
    open = serializers.IntegerField()
    fill_judged = serializers.IntegerField()
    golds = serializers.IntegerField()


class PagesSerializer(serializers.Serializer[Pages]):
    submitted = serializers.IntegerField()
    out = serializers.IntegerField()
    given_up = serializers.IntegerField()
    used = serializers.IntegerField()
    not_used = serializers.IntegerField()
    to_review = serializers.IntegerField()
    golds_shown = serializers.IntegerField()
    golds_failed = serializers.IntegerField()
    last_drawn = serializers.DateTimeField(allow_null=True)


class StudyInFullSerializer(StudySerializer):
    version = VersionSerializer(read_only=True, allow_null=True)  # type: ignore[assignment]
    continues = serializers.SlugRelatedField[Study](slug_field="slug", many=True, read_only=True)
    fed_by = serializers.SlugRelatedField[Study](slug_field="slug", many=True, read_only=True)
    progress = serializers.SerializerMethodField()
    pages = serializers.SerializerMethodField()

    class Meta(StudySerializer.Meta):
        fields = [*StudySerializer.Meta.fields, "continues", "fed_by", "progress", "pages"]
        read_only_fields = fields

    @extend_schema_field(ProgressSerializer)
    def get_progress(self, study: Study) -> dict[str, Any]:
        return dict(ProgressSerializer(progress_of(study)).data)

    @extend_schema_field(PagesSerializer)
    def get_pages(self, study: Study) -> dict[str, Any]:
        return dict(PagesSerializer(pages_of(study)).data)


class ChangeSerializer(serializers.Serializer[Any]):
    """What a new version may change; the protocol checks settings and wording."""

    settings = serializers.DictField(required=False)
    wording = serializers.DictField(required=False)
    quality = serializers.DictField(
        required=False, help_text="Rules of the signals; what is left out is as usual."
    )
    information = serializers.CharField(required=False, max_length=20_000)
    judgments_wanted = serializers.IntegerField(required=False, min_value=1, max_value=1000)
    lease_minutes = serializers.IntegerField(required=False, min_value=1, max_value=365 * 24 * 60)
    expected_minutes = serializers.IntegerField(
        required=False,
        min_value=0,
        max_value=24 * 60,
        help_text="For a page, shown to raters until times are measured. 0: not known.",
    )
    pay = serializers.DecimalField(
        required=False, max_digits=8, decimal_places=2, min_value=0, coerce_to_string=True
    )
    most_units_a_person = serializers.IntegerField(
        required=False,
        min_value=0,
        max_value=10**6,
        help_text="Units that one person judges at most, golds not counted. 0: no limit.",
    )
    most_units_a_day = serializers.IntegerField(
        required=False,
        min_value=0,
        max_value=10**6,
        help_text="Units that one person judges at most in a day (UTC). 0: no limit.",
    )
    training_units = serializers.IntegerField(
        required=False,
        min_value=0,
        max_value=100,
        help_text="Golds on the training page that everybody does first. 0: no training.",
    )
    training_accuracy = serializers.IntegerField(
        required=False,
        min_value=1,
        max_value=100,
        help_text="Percent of them that must be right to qualify.",
    )
    training_attempts = serializers.IntegerField(required=False, min_value=1, max_value=20)


class NewStudySerializer(ChangeSerializer):
    slug = serializers.SlugField(max_length=50)
    name = serializers.CharField(max_length=200)
    corpus = serializers.SlugField()
    procedure = serializers.ChoiceField(
        sorted(procedures()),
        required=False,
        help_text="A paper's study: its protocol, settings and pay, unless said otherwise.",
    )
    protocol = serializers.ChoiceField(sorted(registry()), required=False)
    seed = serializers.IntegerField(default=0, min_value=0, max_value=2**62)
    split = serializers.CharField(
        default="",
        allow_blank=True,
        max_length=40,
        help_text="Of the corpus, where units come straight from it. Empty: all of it.",
    )

    def validate(self, sent: dict[str, Any]) -> dict[str, Any]:
        started_from = procedures().get(sent.pop("procedure", ""))
        if started_from is not None:
            sent = {
                "protocol": started_from.protocol,
                "settings": dict(started_from.settings),
                "pay": started_from.pay,
                "expected_minutes": started_from.expected_minutes,
            } | sent
            if sent["protocol"] != started_from.protocol:
                raise serializers.ValidationError(
                    {"protocol": f"This procedure is of the protocol {started_from.protocol}."}
                )
        if "protocol" not in sent:
            raise serializers.ValidationError({"protocol": "Say the protocol or the procedure."})
        return sent

    information = serializers.CharField(default=INFORMATION, max_length=20_000)

    def validate_slug(self, slug: str) -> str:
        if Study.objects.filter(slug=slug).exists():
            raise serializers.ValidationError("There is a study with this slug.")
        return slug


class MemberSerializer(serializers.ModelSerializer[Membership]):
    name = serializers.CharField(source="user.first_name", read_only=True)
    email = serializers.EmailField(source="user.email", read_only=True)

    class Meta:
        model = Membership
        fields = ["id", "name", "email", "role", "created_at"]
        read_only_fields = fields


class NewMemberSerializer(serializers.Serializer[Any]):
    email = serializers.EmailField()
    role = serializers.ChoiceField(Role.choices)


class InvitationSerializer(serializers.ModelSerializer[Invitation]):
    created_by = serializers.StringRelatedField[Any]()
    is_usable = serializers.BooleanField(read_only=True)
    url = serializers.SerializerMethodField(help_text="The link to send.")

    class Meta:
        model = Invitation
        fields = [
            "id", "url", "token", "role", "places", "taken", "is_usable", "created_by",
            "created_at", "expires_at",
        ]  # fmt: skip
        read_only_fields = fields

    def get_url(self, invitation: Invitation) -> str:
        return settings.SITE_URL + reverse("join", args=[invitation.token])


class NewInvitationSerializer(serializers.Serializer[Any]):
    role = serializers.ChoiceField(Role.choices, default=Role.RATER)
    places = serializers.IntegerField(min_value=1, max_value=10_000, default=1)
    days = serializers.IntegerField(min_value=1, max_value=365, default=14)


class ProposalsSerializer(serializers.Serializer[Any]):
    proposals = serializers.ListField(child=serializers.IntegerField(min_value=1), max_length=100)
    continues = serializers.ListField(
        child=serializers.SlugField(),
        max_length=50,
        default=list,
        help_text="Studies of one's own whose units are not asked again.",
    )


class FeedersSerializer(serializers.Serializer[Any]):
    feeders = serializers.ListField(
        child=serializers.SlugField(),
        max_length=50,
        help_text="Studies of one's own, on the same corpus, that were opened.",
    )


class ExclusionSerializer(serializers.ModelSerializer[Exclusion]):
    other = serializers.SlugRelatedField[Study](slug_field="slug", read_only=True)

    class Meta:
        model = Exclusion
        fields = ["other", "created_at"]
        read_only_fields = fields


class NewExclusionSerializer(serializers.Serializer[Any]):
    other = serializers.SlugField(help_text="The slug of the other study.")
