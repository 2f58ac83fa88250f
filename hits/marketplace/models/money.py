from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from hits.marketplace.models.people import Requester, Worker
from hits.marketplace.models.work import Assignment


class Bonus(models.Model):
    assignment = models.ForeignKey(Assignment, models.PROTECT, related_name="bonuses")
    worker = models.ForeignKey(Worker, models.PROTECT, related_name="bonuses")
    amount = models.DecimalField(max_digits=10, decimal_places=2)
    reason = models.TextField()
    granted_at = models.DateTimeField(db_default=Now())

    class Meta:
        verbose_name_plural = "bonuses"
        constraints = [
            models.CheckConstraint(condition=Q(amount__gt=0), name="bonus_of_something"),
        ]

    def __str__(self) -> str:
        return f"{self.amount} for {self.assignment}"


class Payment(models.Model):
    """The ledger: only ever added to. A requester's balance is deposits less everything else."""

    class Kind(models.TextChoices):
        DEPOSIT = "deposit"
        REWARD = "reward"
        BONUS = "bonus"
        FEE = "fee"

    requester = models.ForeignKey(Requester, models.PROTECT, related_name="payments")
    worker = models.ForeignKey(Worker, models.PROTECT, related_name="payments", null=True)
    assignment = models.ForeignKey(Assignment, models.PROTECT, related_name="payments", null=True)
    bonus = models.ForeignKey(Bonus, models.PROTECT, related_name="payments", null=True)
    kind = models.CharField(max_length=8, choices=Kind.choices)
    amount = models.DecimalField(max_digits=14, decimal_places=2)
    paid_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(amount__gt=0), name="payment_of_something"),
            models.UniqueConstraint(
                fields=["assignment", "kind"],
                condition=Q(bonus__isnull=True, assignment__isnull=False),
                name="payment_once_an_assignment",
            ),
            models.UniqueConstraint(
                fields=["bonus", "kind"],
                condition=Q(bonus__isnull=False),
                name="payment_once_a_bonus",
            ),
            models.CheckConstraint(
                condition=Q(kind__in=["deposit", "fee"], worker__isnull=True)
                | Q(kind__in=["reward", "bonus"], worker__isnull=False),
                name="payment_to_a_worker",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.amount}"


class RequestToken(models.Model):
    """A call that must not be done twice, for as long as its token is remembered."""

    requester = models.ForeignKey(Requester, models.CASCADE, related_name="tokens")
    operation = models.CharField(max_length=64)
    token = models.CharField(max_length=64)
    made = models.CharField(max_length=64, blank=True)
    created_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["requester", "operation", "token"], name="request_token_once"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.operation} {self.token}"
