from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from hits.marketplace.ids import thing_id
from hits.marketplace.models.people import Requester, Worker


class QualificationType(models.Model):
    requester = models.ForeignKey(Requester, models.PROTECT, related_name="qualification_types")
    qualification_type_id = models.CharField(max_length=64, unique=True, default=thing_id)
    name = models.CharField(max_length=200)
    description = models.TextField()
    keywords = models.TextField(blank=True)
    is_active = models.BooleanField()
    retry_seconds = models.PositiveBigIntegerField(null=True)
    test = models.TextField(blank=True)
    answer_key = models.TextField(blank=True)
    test_seconds = models.PositiveBigIntegerField(null=True)
    auto_granted = models.BooleanField(default=False)
    auto_granted_value = models.IntegerField(default=1)
    deleted_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["requester", "name"],
                condition=Q(deleted_at__isnull=True),
                name="qualification_type_name",
            ),
            models.CheckConstraint(
                condition=Q(test="") | Q(auto_granted=False), name="qualification_test_or_granted"
            ),
        ]

    def __str__(self) -> str:
        return self.name


class Qualification(models.Model):
    """A worker's score in a qualification type; revoked ones stay on record."""

    kind = models.ForeignKey(QualificationType, models.CASCADE, related_name="qualifications")
    worker = models.ForeignKey(Worker, models.CASCADE, related_name="qualifications")
    value = models.IntegerField()
    is_granted = models.BooleanField(default=True)
    granted_at = models.DateTimeField()
    reason = models.TextField(blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["kind", "worker"], name="qualification_once_a_worker"),
        ]

    def __str__(self) -> str:
        return f"{self.worker}: {self.kind} = {self.value}"


class QualificationRequest(models.Model):
    class State(models.TextChoices):
        PENDING = "pending"
        GRANTED = "granted"
        REJECTED = "rejected"

    kind = models.ForeignKey(QualificationType, models.CASCADE, related_name="requests")
    worker = models.ForeignKey(Worker, models.CASCADE, related_name="qualification_requests")
    request_id = models.CharField(max_length=64, unique=True, default=thing_id)
    # QuestionFormAnswers to the type's test, empty where there is no test.
    answer = models.TextField(blank=True)
    state = models.CharField(max_length=8, choices=State.choices, default=State.PENDING)
    reason = models.TextField(blank=True)
    submitted_at = models.DateTimeField(db_default=Now())
    settled_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["kind", "worker"],
                condition=Q(state="pending"),
                name="qualification_request_pending_once",
            ),
        ]

    def __str__(self) -> str:
        return self.request_id
