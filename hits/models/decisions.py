from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from hits.models.job import Job
from hits.models.people import User
from hits.models.work import Assignment


class Decision(models.Model):
    """Who decided what on an assignment, when and why. Rows are only ever added."""

    class Kind(models.TextChoices):
        USE = "use", "use"
        PAYMENT = "payment", "payment"

    assignment = models.ForeignKey(Assignment, models.PROTECT, related_name="decisions")
    kind = models.CharField(max_length=10, choices=Kind.choices)
    value = models.CharField(max_length=10)
    reason = models.TextField()
    by = models.ForeignKey(
        User, models.PROTECT, null=True, related_name="decisions", help_text="Empty: a rule."
    )
    at = models.DateTimeField(db_default=Now())
    job = models.ForeignKey(
        Job,
        models.PROTECT,
        null=True,
        related_name="+",
        db_index=False,
        help_text="That decided on many pages; empty where somebody decided on this one.",
    )

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(kind="use", value__in=["pending", "used", "not_used"])
                | Q(kind="payment", value__in=["pending", "approved", "refused"]),
                name="decision_value",
            ),
            models.CheckConstraint(condition=~Q(reason=""), name="decision_has_reason"),
        ]

    def __str__(self) -> str:
        return f"{self.kind}: {self.value}"
