from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now

from hits.marketplace.ids import thing_id
from hits.marketplace.models.people import Requester, Worker


class HITType(models.Model):
    """What HITs have in common; the same properties are the same type."""

    requester = models.ForeignKey(Requester, models.PROTECT, related_name="hit_types")
    hit_type_id = models.CharField(max_length=64, unique=True, default=thing_id)
    hit_group_id = models.CharField(max_length=64, unique=True, default=thing_id)
    fingerprint = models.CharField(max_length=64)
    title = models.CharField(max_length=128)
    description = models.TextField()
    keywords = models.TextField(blank=True)
    reward = models.DecimalField(max_digits=10, decimal_places=2)
    assignment_seconds = models.PositiveIntegerField()
    auto_approval_seconds = models.PositiveIntegerField()
    # As the requester gave them: QualificationTypeId, Comparator, IntegerValues, LocaleValues, …
    requirements = models.JSONField(default=list)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["requester", "fingerprint"], name="hit_type_once_a_requester"
            ),
        ]

    def __str__(self) -> str:
        return self.title


class HIT(models.Model):
    """`pending` assignments are with a worker, `submitted` ones wait for a decision, `completed`
    ones have it. The rest of `max_assignments` is free, and never less than nothing."""

    class Status(models.TextChoices):
        ASSIGNABLE = "Assignable"
        UNASSIGNABLE = "Unassignable"
        REVIEWABLE = "Reviewable"
        REVIEWING = "Reviewing"
        DISPOSED = "Disposed"

    requester = models.ForeignKey(Requester, models.PROTECT, related_name="hits")
    hit_type = models.ForeignKey(HITType, models.PROTECT, related_name="hits")
    hit_id = models.CharField(max_length=64, unique=True, default=thing_id)
    status = models.CharField(max_length=12, choices=Status.choices, default=Status.ASSIGNABLE)
    question = models.TextField()
    external_url = models.TextField()
    frame_height = models.PositiveIntegerField()
    annotation = models.CharField(max_length=255, blank=True)
    max_assignments = models.PositiveIntegerField()
    pending = models.PositiveIntegerField(default=0)
    submitted = models.PositiveIntegerField(default=0)
    completed = models.PositiveIntegerField(default=0)
    # Assignments whose reward and fee are held on the requester's balance.
    reserved = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField(db_default=Now())
    expires_at = models.DateTimeField()
    has_expired = models.BooleanField(default=False)
    dispose_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(max_assignments__gte=F("pending") + F("submitted") + F("completed")),
                name="hit_never_oversold",
            ),
            models.CheckConstraint(
                condition=Q(max_assignments__gte=F("reserved")), name="hit_reserved_at_most_all"
            ),
        ]
        indexes = [
            models.Index(fields=["requester", "-id"], name="hit_newest"),
            models.Index(
                fields=["hit_type", "id"], condition=Q(status="Assignable"), name="hit_offered"
            ),
            models.Index(
                fields=["expires_at"],
                condition=Q(has_expired=False) & ~Q(status="Disposed"),
                name="hit_to_expire",
            ),
            models.Index(
                fields=["dispose_at"], condition=~Q(status="Disposed"), name="hit_to_dispose"
            ),
        ]

    def __str__(self) -> str:
        return self.hit_id

    @property
    def free(self) -> int:
        """Places that nobody has taken; they are offered while the HIT lives."""
        return self.max_assignments - self.pending - self.submitted - self.completed


class Assignment(models.Model):
    """A worker's go at a HIT. A returned or abandoned one gives its id to the next worker."""

    class Status(models.TextChoices):
        ACCEPTED = "Accepted"
        SUBMITTED = "Submitted"
        APPROVED = "Approved"
        REJECTED = "Rejected"
        RETURNED = "Returned"
        ABANDONED = "Abandoned"

    LIVE = (Status.ACCEPTED, Status.SUBMITTED, Status.APPROVED, Status.REJECTED)
    HANDED_IN = (Status.SUBMITTED, Status.APPROVED, Status.REJECTED)

    hit = models.ForeignKey(HIT, models.PROTECT, related_name="assignments")
    worker = models.ForeignKey(Worker, models.PROTECT, related_name="assignments")
    assignment_id = models.CharField(max_length=64, default=thing_id)
    status = models.CharField(max_length=12, choices=Status.choices, default=Status.ACCEPTED)
    accepted_at = models.DateTimeField()
    deadline = models.DateTimeField()
    submitted_at = models.DateTimeField(null=True)
    auto_approval_at = models.DateTimeField(null=True)
    approved_at = models.DateTimeField(null=True)
    rejected_at = models.DateTimeField(null=True)
    feedback = models.TextField(blank=True)
    # QuestionFormAnswers as the requester gets it.
    answer = models.TextField(blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["assignment_id"],
                condition=Q(status__in=["Accepted", "Submitted", "Approved", "Rejected"]),
                name="assignment_id_of_one_worker",
            ),
            models.UniqueConstraint(
                fields=["hit", "worker"],
                condition=Q(status__in=["Accepted", "Submitted", "Approved", "Rejected"]),
                name="assignment_once_a_worker",
            ),
            models.CheckConstraint(
                condition=Q(
                    status__in=["Submitted", "Approved", "Rejected"],
                    submitted_at__isnull=False,
                    auto_approval_at__isnull=False,
                )
                | Q(
                    status__in=["Accepted", "Returned", "Abandoned"],
                    submitted_at__isnull=True,
                    auto_approval_at__isnull=True,
                ),
                name="assignment_handed_in_at",
            ),
        ]
        indexes = [
            models.Index(fields=["assignment_id"], name="assignment_by_its_id"),
            models.Index(
                fields=["deadline"], condition=Q(status="Accepted"), name="assignment_to_abandon"
            ),
            models.Index(
                fields=["auto_approval_at"],
                condition=Q(status="Submitted"),
                name="assignment_to_approve",
            ),
            models.Index(fields=["worker", "status"], name="assignment_of_worker"),
        ]

    def __str__(self) -> str:
        return self.assignment_id
