import uuid

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from hits.models.people import Account, Person, User
from hits.models.study import Study, StudyVersion, Unit


class Assignment(models.Model):
    """One person's go at one page."""

    class State(models.TextChoices):
        OPEN = "open", "open"
        SUBMITTED = "submitted", "submitted"
        RETURNED = "returned", "returned"
        EXPIRED = "expired", "expired"

    class Use(models.TextChoices):
        PENDING = "pending", "pending"
        USED = "used", "used"
        NOT_USED = "not_used", "not used"

    class Payment(models.TextChoices):
        PENDING = "pending", "pending"
        APPROVED = "approved", "approved"
        REFUSED = "refused", "refused"

    key = models.UUIDField(unique=True, default=uuid.uuid4)
    study = models.ForeignKey(Study, models.PROTECT, related_name="assignments")
    version = models.ForeignKey(
        StudyVersion, models.PROTECT, related_name="assignments", db_index=False
    )
    account = models.ForeignKey(Account, models.PROTECT, related_name="assignments")
    person = models.ForeignKey(Person, models.PROTECT, related_name="assignments")
    state = models.CharField(max_length=10, choices=State.choices, default=State.OPEN)
    seed = models.BigIntegerField()
    drawn_at = models.DateTimeField(db_default=Now())
    lease_until = models.DateTimeField()
    draft = models.JSONField(default=dict, db_default={})
    draft_revision = models.PositiveIntegerField(default=0, db_default=0)
    saved_at = models.DateTimeField(null=True)
    submitted_at = models.DateTimeField(null=True)
    is_late = models.BooleanField(default=False, db_default=False)
    # Golds alone, shown with their answers once it is submitted; its judgments are no data.
    is_training = models.BooleanField(default=False, db_default=False)
    device = models.CharField(max_length=20, blank=True, db_default="")
    checked_at = models.DateTimeField(null=True)
    golds_shown = models.PositiveSmallIntegerField(null=True)
    golds_failed = models.PositiveSmallIntegerField(null=True)
    use = models.CharField(
        max_length=10, choices=Use.choices, default=Use.PENDING, db_default=Use.PENDING
    )
    payment = models.CharField(
        max_length=10, choices=Payment.choices, default=Payment.PENDING, db_default=Payment.PENDING
    )

    doubt = models.FloatField(
        default=0, db_default=0, help_text="Of the strongest signal on it; 1 at its threshold."
    )
    looked_at = models.DateTimeField(null=True, help_text="When a person last decided on it.")
    second_asked_by = models.ForeignKey(
        User, models.PROTECT, null=True, related_name="+", help_text="Until somebody else decides."
    )
    # The queue of reviewers: what no rule could decide on, and what was raised since it did.
    waits = models.GeneratedField(
        expression=models.ExpressionWrapper(
            Q(checked_at__isnull=False)
            & (Q(use="pending") | Q(use="used", doubt__gte=1, looked_at__isnull=True)),
            output_field=models.BooleanField(),
        ),
        output_field=models.BooleanField(),
        db_persist=True,
    )

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(state="submitted", submitted_at__isnull=False)
                | (~Q(state="submitted") & Q(submitted_at__isnull=True)),
                name="assignment_submitted_at",
            ),
        ]
        indexes = [
            models.Index(
                fields=["person", "study"], condition=Q(state="open"), name="assignment_open"
            ),
            models.Index(
                fields=["lease_until"], condition=Q(state="open"), name="assignment_lease"
            ),
            models.Index(
                fields=["submitted_at"],
                condition=Q(state="submitted", checked_at__isnull=True),
                name="assignment_unchecked",
            ),
            models.Index(
                fields=["study", "-doubt", "submitted_at", "id"],
                condition=Q(waits=True),
                name="assignment_to_review",
            ),
            models.Index(fields=["study", "person"], name="assignment_by_person"),
            # Serves the foreign key too.
            models.Index(fields=["version", "id"], name="assignment_newest"),
        ]

    def __str__(self) -> str:
        return f"{self.study} {self.key}"


class Slot(models.Model):
    """A unit's place on a page: who has it, where it stood, and whether it counts."""

    class State(models.TextChoices):
        HELD = "held", "held"
        COUNTED = "counted", "counted"
        FREED = "freed", "freed"
        NOT_USED = "not_used", "not used"
        SURPLUS = "surplus", "came too late to count"
        BROKEN = "broken", "could not be judged"
        SAME_PERSON = "same_person", "not used: same person"
        SET_ASIDE = "set_aside", "set aside, the unit was asked again"

    assignment = models.ForeignKey(Assignment, models.PROTECT, related_name="slots")
    unit = models.ForeignKey(Unit, models.PROTECT, related_name="slots")
    person = models.ForeignKey(Person, models.PROTECT, related_name="+", db_index=False)
    position = models.PositiveSmallIntegerField()
    shown = models.JSONField(null=True)
    state = models.CharField(max_length=12, choices=State.choices, default=State.HELD)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["unit", "person"], name="slot_unit_once_a_person"),
            models.UniqueConstraint(fields=["assignment", "position"], name="slot_position_once"),
        ]

    def __str__(self) -> str:
        return f"{self.assignment} #{self.position}"


class Judgment(models.Model):
    """One person's answer to one unit, as given; never changed."""

    slot = models.OneToOneField(Slot, models.PROTECT, primary_key=True, related_name="judgment")
    answer = models.JSONField(null=True)
    problem = models.TextField(blank=True)
    seconds = models.FloatField(null=True)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(answer__isnull=False) | ~Q(problem=""), name="judgment_says_something"
            ),
            models.CheckConstraint(
                condition=Q(seconds__isnull=True) | Q(seconds__gte=0), name="judgment_seconds"
            ),
        ]
        indexes = [
            models.Index(fields=["slot"], condition=~Q(problem=""), name="judgment_problem"),
        ]

    def __str__(self) -> str:
        return f"judgment of {self.slot}"
