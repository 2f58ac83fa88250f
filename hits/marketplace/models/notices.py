from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from hits.marketplace.models.people import Requester
from hits.marketplace.models.work import HITType


class NotificationSetting(models.Model):
    class Transport(models.TextChoices):
        SQS = "SQS"
        SNS = "SNS"

    hit_type = models.OneToOneField(HITType, models.CASCADE, related_name="notification")
    destination = models.TextField()
    transport = models.CharField(max_length=5, choices=Transport.choices)
    version = models.CharField(max_length=20)
    event_types = models.JSONField()
    is_active = models.BooleanField(default=True)

    def __str__(self) -> str:
        return f"{self.transport} {self.destination}"


class Event(models.Model):
    """The outbox: what happened, where it is to be told, and whether it was."""

    # Events that are told together share a document; it stays theirs when they are told again.
    document_id = models.CharField(max_length=64, blank=True)
    requester = models.ForeignKey(Requester, models.CASCADE, related_name="events")
    transport = models.CharField(max_length=5, choices=NotificationSetting.Transport.choices)
    destination = models.TextField()
    version = models.CharField(max_length=20)
    body = models.JSONField()
    created_at = models.DateTimeField(db_default=Now())
    attempts = models.PositiveSmallIntegerField(default=0)
    try_at = models.DateTimeField(db_default=Now())
    told_at = models.DateTimeField(null=True)
    problem = models.TextField(blank=True)

    class Meta:
        indexes = [
            models.Index(
                fields=["try_at"], condition=Q(told_at__isnull=True), name="event_to_tell"
            ),
            models.Index(fields=["document_id"], name="event_of_document"),
        ]

    def __str__(self) -> str:
        return f"{self.transport} {self.document_id}"


class SigningKey(models.Model):
    """Signs what is told to SNS subscribers; its certificate is served to them."""

    private_key = models.TextField()
    certificate = models.TextField()
    created_at = models.DateTimeField(db_default=Now())

    def __str__(self) -> str:
        return f"signing key {self.pk}"


class Fault(models.Model):
    """A fault to be had on purpose: in a share of the calls, or in the next few of them."""

    class Kind(models.TextChoices):
        THROTTLE = "throttle"
        FAIL_BEFORE = "fail_before"
        FAIL_AFTER = "fail_after"
        DELAY = "delay"
        DUPLICATE_NOTIFICATION = "duplicate_notification"

    operation = models.CharField(max_length=64, default="*")
    kind = models.CharField(max_length=24, choices=Kind.choices)
    share = models.FloatField(null=True)
    remaining = models.PositiveIntegerField(null=True)
    seconds = models.FloatField(default=0)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(share__gt=0, share__lte=1, remaining__isnull=True)
                | Q(share__isnull=True, remaining__isnull=False),
                name="fault_share_or_count",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} of {self.operation}"
