import uuid
from datetime import datetime, timedelta

from django.db import models
from django.db.models import Case, Count, F, Q, Value, When
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast, Now
from django.utils import timezone

from hits.models.people import Account, User
from hits.models.study import Study
from hits.models.work import Assignment


class Publication(models.Model):
    """A study offered at a marketplace on certain terms: a HIT type and its HITs."""

    class State(models.TextChoices):
        OPEN = "open", "open"
        PAUSED = "paused", "paused"
        CLOSED = "closed", "closed"

    study = models.ForeignKey(Study, models.PROTECT, related_name="publications")
    channel = models.CharField(max_length=20, help_text="The name of a configured channel.")
    terms = models.JSONField(help_text="What a worker is promised and who may work.")
    reward = models.DecimalField(max_digits=8, decimal_places=2)
    least_wage = models.DecimalField(
        max_digits=8, decimal_places=2, null=True, help_text="Warn when an hour earns less."
    )
    pages = models.PositiveIntegerField(
        default=0, db_default=0, help_text="How many pages somebody agreed to pay for."
    )
    replaced = models.PositiveIntegerField(
        default=0, db_default=0, help_text="Pages bought because others were paid and not used."
    )
    hit_type_id = models.CharField(max_length=64, blank=True)
    state = models.CharField(max_length=10, choices=State.choices, default=State.OPEN)
    compensates = models.OneToOneField(
        "hits.Claim", models.PROTECT, null=True, related_name="compensation"
    )
    created_by = models.ForeignKey(User, models.PROTECT, related_name="+")
    created_at = models.DateTimeField(db_default=Now())
    reconciled_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(reward__gte=0), name="publication_reward"),
        ]

    def __str__(self) -> str:
        return f"{self.study} at {self.channel}"


# Clocks differ, and a page handed over in the last second takes a while to be listed.
GRACE = timedelta(minutes=5)


class HitQuerySet(models.QuerySet["Hit"]):
    def offered(self) -> "HitQuerySet":
        """On sale or to be made; of what is closed, only what may have been made already."""
        called = Hit.objects.filter(
            intents__action="ticket", intents__attempts__gt=0, intents__settled_at__isnull=True
        )
        to_be_made = ~Q(publication__state=Publication.State.CLOSED) | Q(pk__in=called.values("pk"))
        return self.filter(Q(state="live") | Q(to_be_made, state="meant"))

    def in_work(self) -> "HitQuerySet":
        """Not on sale any more, but somebody has it and may hand it over, or has done so: it is
        known better once the marketplace was asked after its last moment."""
        claims = Claim.objects.filter(hit=models.OuterRef("pk"))
        live = claims.filter(theirs="").exclude(assignment__state="returned")
        asked_after = Q(last_moment__lt=F("publication__reconciled_at") - GRACE)
        return self.with_last_moment().filter(
            ~Q(asked_after, publication__reconciled_at__isnull=False),
            models.Exists(live),
            ~models.Exists(claims.exclude(theirs="")),
            state="ended",
        )

    def with_last_moment(self) -> "HitQuerySet":
        """When a page of it can have been handed over at the latest."""
        duration = Cast(KeyTextTransform("duration", "publication__terms"), models.IntegerField())
        return self.annotate(
            last_moment=models.ExpressionWrapper(
                F("expires_at") + duration * models.Value(timedelta(seconds=1)),
                output_field=models.DateTimeField(),
            )
        )

    def over(self, before: datetime) -> "HitQuerySet":
        """Nobody can hand over a page of it any more."""
        return self.with_last_moment().filter(Q(last_moment__lt=before), state="ended")


class Hit(models.Model):
    """A ticket for one page at a marketplace, for one worker."""

    class State(models.TextChoices):
        MEANT = "meant", "to be made"
        LIVE = "live", "live"
        ENDED = "ended", "ended"
        DELETED = "deleted", "deleted"

    publication = models.ForeignKey(Publication, models.PROTECT, related_name="hits")
    key = models.UUIDField(unique=True, default=uuid.uuid4)
    hit_id = models.CharField(max_length=64, blank=True, help_text="The marketplace's id of it.")
    state = models.CharField(max_length=10, choices=State.choices, default=State.MEANT)
    created_at = models.DateTimeField(db_default=Now())
    expires_at = models.DateTimeField(null=True)

    objects = HitQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["publication", "hit_id"], condition=~Q(hit_id=""), name="hit_id_once"
            ),
            models.CheckConstraint(
                condition=Q(state="meant") | ~Q(hit_id=""), name="hit_live_has_id"
            ),
        ]
        indexes = [models.Index(fields=["publication", "state"], name="hit_by_state")]

    def __str__(self) -> str:
        return self.hit_id or f"HIT {self.key}"


# Work that approves itself within this time is warned about.
SOON = timedelta(hours=48)


class ClaimState(models.TextChoices):
    """How far a claim has come, as its requester sees it."""

    ACCEPTED = "accepted", "accepted"
    LEFT = "left", "left without submitting"
    SAVED = "saved", "saved here"
    HANDED_OVER = "handed_over", "handed over"
    NOT_HANDED_OVER = "not_handed_over", "not handed over"
    CONFIRMED = "confirmed", "confirmed"
    NO_ANSWERS = "no_answers", "confirmed there, no answers here"
    PAID = "paid", "paid"
    REFUSED = "refused", "refused"


def _how_far() -> Case:
    """Answers that the marketplace will not confirm any more have been set aside as not used."""
    saved = Q(assignment__state="submitted")
    ended = Q(hit__state__in=[Hit.State.ENDED, Hit.State.DELETED])
    return Case(
        When(theirs="approved", then=Value(ClaimState.PAID)),
        When(theirs="rejected", then=Value(ClaimState.REFUSED)),
        When(saved, theirs="submitted", then=Value(ClaimState.CONFIRMED)),
        When(
            theirs="submitted",
            hit__publication__compensates__isnull=False,
            then=Value(ClaimState.CONFIRMED),
        ),
        When(theirs="submitted", then=Value(ClaimState.NO_ANSWERS)),
        When(saved, assignment__use="not_used", then=Value(ClaimState.NOT_HANDED_OVER)),
        When(saved, handed_over_at__isnull=False, then=Value(ClaimState.HANDED_OVER)),
        When(saved, then=Value(ClaimState.SAVED)),
        When(assignment__state__in=["returned", "expired"], then=Value(ClaimState.LEFT)),
        When(ended, assignment__isnull=True, then=Value(ClaimState.LEFT)),
        default=Value(ClaimState.ACCEPTED),
        output_field=models.CharField(),
    )


class ClaimQuerySet(models.QuerySet["Claim"]):
    def with_state(self) -> "ClaimQuerySet":
        return self.annotate(how_far=_how_far())

    def in_state(self, state: str) -> "ClaimQuerySet":
        return self.annotate(how_far=_how_far()).filter(how_far=state)

    def decided(self) -> "ClaimQuerySet":
        """Paid or refused at the marketplace."""
        return self.filter(theirs__in=[Claim.Theirs.APPROVED, Claim.Theirs.REJECTED])

    def count_by_state(self) -> dict[str, int]:
        states = self.order_by().annotate(how_far=_how_far()).values_list("how_far")
        counted = dict(states.annotate(Count("pk")))
        return {state: counted.get(state, 0) for state in ClaimState.values}


class Claim(models.Model):
    """A worker who says to have accepted a HIT: what was saved here, handed over, confirmed there.

    Worker and assignment id come from an address that anybody can write, so they are a claim
    until the marketplace's own list confirms them."""

    class Theirs(models.TextChoices):
        UNKNOWN = "", "not confirmed"
        SUBMITTED = "submitted", "submitted"
        APPROVED = "approved", "approved"
        REJECTED = "rejected", "rejected"

    hit = models.ForeignKey(Hit, models.PROTECT, related_name="claims")
    ref = models.CharField(max_length=64, help_text="The marketplace's id of the assignment.")
    account = models.ForeignKey(Account, models.PROTECT, related_name="claims")
    assignment = models.OneToOneField(
        Assignment, models.PROTECT, null=True, related_name="claim", help_text="The page given."
    )
    reserves = models.BooleanField(
        default=False, help_text="Has the place that the HIT sold, and so may hold units."
    )
    opened_at = models.DateTimeField(db_default=Now())
    seen_at = models.DateTimeField(db_default=Now())
    handed_over_at = models.DateTimeField(null=True)
    confirmed_at = models.DateTimeField(null=True)
    theirs = models.CharField(max_length=10, choices=Theirs.choices, default="", blank=True)
    submitted_there_at = models.DateTimeField(null=True)
    auto_approval_at = models.DateTimeField(null=True)

    objects = ClaimQuerySet.as_manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["hit", "ref", "account"], name="claim_once"),
            models.UniqueConstraint(
                fields=["hit"], condition=Q(reserves=True), name="claim_one_reserves"
            ),
            models.CheckConstraint(
                condition=Q(theirs="", confirmed_at__isnull=True)
                | (~Q(theirs="") & Q(confirmed_at__isnull=False)),
                name="claim_confirmed_at",
            ),
        ]
        indexes = [
            models.Index(
                fields=["auto_approval_at"], condition=Q(theirs="submitted"), name="claim_to_pay"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.account} at {self.hit}"

    @property
    def approves_soon(self) -> bool:
        waits = self.theirs == self.Theirs.SUBMITTED and self.auto_approval_at is not None
        return waits and self.auto_approval_at < timezone.now() + SOON  # type: ignore[operator]

    @property
    def state(self) -> ClaimState:
        """Of claims that were asked for with_state()."""
        return ClaimState(self.__dict__["how_far"])


class Qualification(models.Model):
    """A qualification type of our own at a marketplace, known there by its name."""

    channel = models.CharField(max_length=20)
    name = models.CharField(max_length=200)
    type_id = models.CharField(max_length=64, blank=True)
    study = models.ForeignKey(
        Study,
        models.PROTECT,
        null=True,
        related_name="qualifications",
        help_text="Held by whoever took part in this study.",
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["channel", "name"], name="qualification_once"),
            models.UniqueConstraint(fields=["channel", "study"], name="qualification_once_a_study"),
        ]

    def __str__(self) -> str:
        return self.name
