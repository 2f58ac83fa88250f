from decimal import Decimal
from typing import Any

from rest_framework import serializers

from hits.models import Claim, ClaimState, Intent, Publication
from hits.pipeline.estimate import Estimate
from hits.pipeline.follow import Following
from hits.pipeline.offer import (
    COUNTRY,
    requirement_of,
    unknown_countries,
    what_cannot_be_shown,
)

LONGEST_TEXT = 4096


def _dollars(**options: Any) -> serializers.DecimalField:
    return serializers.DecimalField(**{"max_digits": 8, "decimal_places": 2, **options})


def _shown_in_a_line(text: str) -> None:
    if why := what_cannot_be_shown(text):
        raise serializers.ValidationError(why)


def _shown_in_lines(text: str) -> None:
    if why := what_cannot_be_shown(text, in_lines=True):
        raise serializers.ValidationError(why)


def _known_country(code: str) -> None:
    if unknown_countries([code]):
        raise serializers.ValidationError(f"{code}: there is no such country.")


def _known_qualification(text: str) -> None:
    if requirement_of(text) is None:
        raise serializers.ValidationError(f"{text}: this is no qualification.")


class ChannelSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    publications = serializers.IntegerField()
    pages_wanting = serializers.IntegerField(
        help_text="Units are open for them, and no HIT is out."
    )


class AskEstimateSerializer(serializers.Serializer[Any]):
    reward = _dollars(min_value=0, required=False, help_text="The study's pay if left out.")
    pages = serializers.IntegerField(
        min_value=1,
        max_value=100_000,
        required=False,
        help_text="If left out: all that are wanting.",
    )
    least_wage = _dollars(min_value=0, required=False)
    minutes = serializers.IntegerField(
        min_value=1, required=False, max_value=365 * 24 * 60, help_text="Given for a page."
    )


class EstimateSerializer(serializers.Serializer[Estimate]):
    pages = serializers.IntegerField()
    reward = _dollars()
    fee = _dollars(help_text="Of the marketplace, for a page.")
    page_cost = _dollars()
    total = _dollars(max_digits=14)
    minutes = serializers.FloatField(allow_null=True, help_text="Null: nobody has done a page yet.")
    hourly = _dollars(allow_null=True)
    balance = _dollars(
        max_digits=14, allow_null=True, help_text="Null: the marketplace did not answer."
    )
    warning = serializers.CharField(help_text="Of low pay, of too little time or money.")


class NewPublicationSerializer(serializers.Serializer[Any]):
    channel = serializers.SlugField()
    title = serializers.CharField(max_length=128, validators=[_shown_in_a_line])
    description = serializers.CharField(max_length=2000, validators=[_shown_in_lines])
    keywords = serializers.CharField(
        max_length=1000, allow_blank=True, default="", validators=[_shown_in_a_line]
    )
    reward = _dollars(
        min_value=Decimal("0.01"), required=False, help_text="The study's pay if left out."
    )
    pages = serializers.IntegerField(
        min_value=1,
        max_value=100_000,
        required=False,
        help_text="If left out: all that are wanting.",
    )
    least_wage = _dollars(min_value=0, allow_null=True, default=None)
    minutes = serializers.IntegerField(
        min_value=1, max_value=365 * 24 * 60, help_text="To do a page."
    )
    days = serializers.IntegerField(min_value=1, max_value=365, default=7, help_text="It stays.")
    approval_days = serializers.IntegerField(
        min_value=1, max_value=30, default=7, help_text="Until work is approved by itself."
    )
    approved_hits = serializers.IntegerField(
        min_value=0, max_value=1_000_000, allow_null=True, default=None
    )
    approval_rate = serializers.IntegerField(
        min_value=0, max_value=100, allow_null=True, default=None
    )
    countries = serializers.ListField(
        child=serializers.RegexField(COUNTRY, validators=[_known_country]),
        max_length=100,
        default=list,
    )
    qualifications = serializers.ListField(
        child=serializers.CharField(max_length=80, validators=[_known_qualification]),
        max_length=7,
        default=list,
        help_text="Of the marketplace, by their ids: 3ABC for who has it, !3ABC for who has not, "
        "3ABC >= 80 for a score, masters for Masters.",
    )
    last_publication = serializers.IntegerField(
        required=False,
        help_text="The id of the newest publication known, 0 for none: it is refused if another "
        "came in between, so that a request sent twice does not spend twice.",
    )


class PublicationSerializer(serializers.ModelSerializer[Publication]):
    study = serializers.SlugRelatedField[Any](slug_field="slug", read_only=True)
    created_by = serializers.StringRelatedField[Any]()
    terms = serializers.DictField(read_only=True)

    class Meta:
        model = Publication
        fields = [
            "id", "study", "channel", "state", "reward", "least_wage", "terms", "hit_type_id",
            "compensates", "created_by", "created_at", "reconciled_at",
        ]  # fmt: skip
        read_only_fields = fields


class FollowingSerializer(serializers.Serializer[Following]):
    hits = serializers.DictField(child=serializers.IntegerField(), help_text="By state.")
    claims = serializers.DictField(child=serializers.IntegerField(), help_text="By state.")
    paid = _dollars(source="money.paid", max_digits=14, help_text="With the fees.")
    fees = _dollars(max_digits=14, help_text="That are in what was paid.")
    bonuses = _dollars(source="money.bonuses", max_digits=14, help_text="With their fees.")
    owed = _dollars(
        source="money.owed", max_digits=14, help_text="For confirmed work that is not paid."
    )
    offered = _dollars(
        source="money.offered",
        max_digits=14,
        help_text="For HITs that are live, to be made or still in work.",
    )
    total = _dollars(source="money.total", max_digits=14)
    median_seconds = serializers.FloatField(source="pace.median_seconds", allow_null=True)
    hourly = serializers.DecimalField(
        source="pace.hourly", max_digits=8, decimal_places=2, allow_null=True
    )
    warning = serializers.CharField()
    calls_refused = serializers.IntegerField(source="refused")
    calls_unknown = serializers.IntegerField(source="unknown")
    messages_undelivered = serializers.IntegerField(
        source="undelivered", help_text="Messages that did not reach all they are for."
    )
    near_deadlines = serializers.IntegerField(
        source="near", help_text="Undecided pages that approve themselves within 48 hours."
    )


class PublicationInFullSerializer(PublicationSerializer):
    following = FollowingSerializer(read_only=True)

    class Meta(PublicationSerializer.Meta):
        fields = [*PublicationSerializer.Meta.fields, "following"]
        read_only_fields = fields


class StateSerializer(serializers.Serializer[Any]):
    state = serializers.ChoiceField(Publication.State.choices)


class TopUpSerializer(serializers.Serializer[Any]):
    pages = serializers.IntegerField(min_value=1, max_value=100_000)
    seen = serializers.IntegerField(
        required=False,
        min_value=0,
        help_text="How many HITs the publication has, in all states together: it is refused if "
        "there are others by now, so that a request sent twice does not spend twice.",
    )


class ToppedUpSerializer(serializers.Serializer[Any]):
    pages = serializers.IntegerField()


class DeletedSerializer(serializers.Serializer[Any]):
    hits = serializers.IntegerField(help_text="That are being deleted at the marketplace.")


class ClaimSerializer(serializers.ModelSerializer[Claim]):
    """The work of a worker at a marketplace; researchers know the worker by the id there."""

    publication = serializers.IntegerField(source="hit.publication_id", read_only=True)
    hit_id = serializers.CharField(source="hit.hit_id", read_only=True)
    worker = serializers.CharField(source="account.external_id", read_only=True)
    state = serializers.ChoiceField(ClaimState.choices, read_only=True)
    page = serializers.UUIDField(source="assignment.key", read_only=True, default=None)

    class Meta:
        model = Claim
        fields = [
            "id", "publication", "hit_id", "ref", "worker", "state", "page", "opened_at",
            "handed_over_at", "confirmed_at", "submitted_there_at", "auto_approval_at",
        ]  # fmt: skip
        read_only_fields = fields


class IntentSerializer(serializers.ModelSerializer[Intent]):
    by = serializers.StringRelatedField[Any]()
    failures = serializers.DictField(
        child=serializers.CharField(),
        read_only=True,
        help_text="Workers whom a message did not reach, and why.",
    )

    class Meta:
        model = Intent
        fields = [
            "id", "action", "state", "amount", "claim", "attempts", "message", "failures", "by",
            "meant_at", "settled_at",
        ]  # fmt: skip
        read_only_fields = fields


class BonusSerializer(serializers.Serializer[Any]):
    amount = _dollars(min_value=Decimal("0.01"), max_value=10_000)
    reason = serializers.CharField(max_length=LONGEST_TEXT, help_text="The worker reads it.")
    key = serializers.UUIDField(
        required=False,
        help_text="With the same key again nothing more is paid; without one each request is "
        "a bonus of its own.",
    )


class MessageSerializer(serializers.Serializer[Any]):
    subject = serializers.CharField(max_length=200)
    text = serializers.CharField(max_length=LONGEST_TEXT)
    key = serializers.UUIDField(
        required=False, help_text="With the same key again nothing more is sent."
    )


class MessageToManySerializer(MessageSerializer):
    state = serializers.ChoiceField(
        ClaimState.choices, required=False, help_text="Only to those whose work is in it."
    )


class SentSerializer(serializers.Serializer[Any]):
    workers = serializers.IntegerField(help_text="To so many it is sent.")


class BlockSerializer(serializers.Serializer[Any]):
    reason = serializers.CharField(max_length=LONGEST_TEXT)


class ExcludeSerializer(serializers.Serializer[Any]):
    reason = serializers.CharField(max_length=200)
