from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from hits.models.people import User
from hits.models.publication import Claim, Hit, Publication


class IntentQuerySet(models.QuerySet["Intent"]):
    def undelivered(self) -> "IntentQuerySet":
        """Messages that the marketplace took and did not bring to all they are for."""
        sent = self.filter(action="notify", state__in=["done", "already"])
        return sent.filter(answer__failures__isnull=False).exclude(answer__failures={})

    def in_vain(self) -> "IntentQuerySet":
        """Did nothing, and will do nothing."""
        return self.filter(state__in=["refused", "dismissed"])


# Made only by a launch, which a person can stop.
OF_A_LAUNCH = frozenset({"publication", "ticket", "qualification"})


class Intent(models.Model):
    """A creating or paying call to a marketplace, written down before it is made."""

    class State(models.TextChoices):
        MEANT = "meant", "meant"
        DONE = "done", "done"
        ALREADY_DONE = "already", "already done"
        RETRY = "retry", "to be retried"
        REFUSED = "refused", "refused"
        UNKNOWN = "unknown", "unknown"
        DISMISSED = "dismissed", "dismissed"

    token = models.CharField(max_length=64, unique=True)
    channel = models.CharField(max_length=20)
    action = models.CharField(max_length=40)
    publication = models.ForeignKey(Publication, models.PROTECT, null=True, related_name="intents")
    hit = models.ForeignKey(Hit, models.PROTECT, null=True, related_name="intents")
    claim = models.ForeignKey(Claim, models.PROTECT, null=True, related_name="intents")
    request = models.JSONField()
    answer = models.JSONField(null=True)
    amount = models.DecimalField(
        max_digits=10, decimal_places=2, default=0, help_text="What it costs, with the fee."
    )
    state = models.CharField(max_length=10, choices=State.choices, default=State.MEANT)
    attempts = models.PositiveIntegerField(default=0)
    message = models.TextField(blank=True)
    by = models.ForeignKey(User, models.PROTECT, null=True, related_name="+")
    meant_at = models.DateTimeField(db_default=Now())
    next_try_at = models.DateTimeField(db_default=Now())
    settled_at = models.DateTimeField(null=True)

    objects = IntentQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(amount__gte=0), name="intent_amount"),
            models.CheckConstraint(
                condition=Q(
                    state__in=["done", "already", "refused", "dismissed"],
                    settled_at__isnull=False,
                )
                | Q(state__in=["meant", "retry", "unknown"], settled_at__isnull=True),
                name="intent_settled_at",
            ),
        ]
        indexes = [
            models.Index(
                fields=["next_try_at"],
                condition=Q(settled_at__isnull=True),
                name="intent_unsettled",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.action} {self.token}"

    @property
    def failures(self) -> dict[str, str]:
        """To whom a message was not delivered, and why."""
        found: dict[str, str] = (self.answer or {}).get("failures", {})
        return found

    @property
    def waits_for(self) -> str:
        """What comes before a call about somebody's work that nobody has begun to make."""
        if self.claim is None or self.attempts or self.settled_at is not None:
            return ""
        if self.action != "notify":
            return "" if self.claim.theirs else "Waits until the marketplace confirms the work."
        is_decided = self.claim.theirs in {Claim.Theirs.APPROVED, Claim.Theirs.REJECTED}
        return "" if is_decided else "Waits until work of this worker is paid or refused."

    @property
    def may_be_repeated(self) -> bool:
        """By a person; what a launch makes is repeated by resuming it."""
        if self.action in OF_A_LAUNCH:
            return False
        was_sent = self.state in {self.State.DONE, self.State.ALREADY_DONE}
        return self.state == self.State.REFUSED or (was_sent and bool(self.failures))
