from decimal import Decimal

from django.contrib.auth.hashers import check_password, make_password
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now

from hits.marketplace.ids import person_id


class Requester(models.Model):
    """Who sells work; `held` is the part of the balance that HITs already promise."""

    requester_id = models.CharField(max_length=64, unique=True, default=person_id)
    name = models.CharField(max_length=200)
    access_key = models.CharField(max_length=128, unique=True)
    secret_key = models.CharField(max_length=128)
    balance = models.DecimalField(max_digits=14, decimal_places=2, default=Decimal(0))
    held = models.DecimalField(max_digits=14, decimal_places=2, default=Decimal(0))
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(held__gte=0, balance__gte=F("held")), name="requester_can_pay"
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def available(self) -> Decimal:
        return self.balance - self.held


class Worker(models.Model):
    """Who does work. What was approved and rejected elsewhere counts for qualifications."""

    worker_id = models.CharField(max_length=64, unique=True, default=person_id)
    name = models.CharField(max_length=150, unique=True)
    password = models.CharField(max_length=128)
    country = models.CharField(max_length=2, default="US")
    subdivision = models.CharField(max_length=2, blank=True, default="")
    approved_before = models.PositiveIntegerField(default=0)
    rejected_before = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField(db_default=Now())

    def __str__(self) -> str:
        return f"{self.name} ({self.worker_id})"

    def set_password(self, password: str) -> None:
        self.password = make_password(password)

    def check_password(self, password: str) -> bool:
        return check_password(password, self.password)


class Block(models.Model):
    requester = models.ForeignKey(Requester, models.CASCADE, related_name="blocks")
    worker = models.ForeignKey(Worker, models.CASCADE, related_name="blocks")
    reason = models.TextField()
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["requester", "worker"], name="block_once_a_worker"),
        ]

    def __str__(self) -> str:
        return f"{self.requester} blocks {self.worker}"


class Message(models.Model):
    """What a requester wrote to a worker, or the marketplace on a requester's behalf."""

    requester = models.ForeignKey(Requester, models.CASCADE, related_name="messages")
    worker = models.ForeignKey(Worker, models.CASCADE, related_name="messages")
    subject = models.CharField(max_length=200)
    text = models.TextField()
    created_at = models.DateTimeField(db_default=Now())

    def __str__(self) -> str:
        return self.subject
