from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from hits.models.people import Person, User
from hits.models.study import Study, Unit
from hits.models.work import Assignment


class Flag(models.Model):
    """What a signal raised against a page, or against a person and so all their pages. Computed
    anew as work comes in; what people decide on it stays in decisions."""

    study = models.ForeignKey(Study, models.CASCADE, related_name="flags", db_index=False)
    person = models.ForeignKey(Person, models.PROTECT, related_name="flags")
    assignment = models.ForeignKey(
        Assignment, models.CASCADE, null=True, related_name="flags", help_text="Empty: the person."
    )
    signal = models.CharField(max_length=20)
    figure = models.FloatField()
    threshold = models.FloatField()
    doubt = models.FloatField(help_text="1 at the threshold.")
    says = models.TextField()
    other = models.ForeignKey(
        Person, models.PROTECT, null=True, related_name="+", help_text="Whom it is about as well."
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["study", "person", "assignment", "signal"],
                nulls_distinct=False,
                name="flag_once",
            ),
            models.CheckConstraint(condition=Q(doubt__gte=1), name="flag_is_raised"),
        ]

    def __str__(self) -> str:
        return f"{self.signal}: {self.says}"


class Reading(models.Model):
    """When a study's signals were last computed, and whether there is something new to read."""

    study = models.OneToOneField(Study, models.CASCADE, primary_key=True, related_name="reading")
    asked_at = models.DateTimeField(null=True, help_text="Work came in that is not read yet.")
    at = models.DateTimeField(null=True)
    seconds = models.FloatField(default=0)
    judgments = models.PositiveIntegerField(default=0)
    silent = models.JSONField(default=dict, help_text="Signals that say nothing, and why.")
    golds_in_doubt = models.JSONField(
        default=list, help_text="Numbers of the golds that good people fail."
    )

    def __str__(self) -> str:
        return f"signals of {self.study}"


class Look(models.Model):
    """That a reviewer had a question of a page before their eyes."""

    assignment = models.ForeignKey(Assignment, models.PROTECT, related_name="looks", db_index=False)
    by = models.ForeignKey(User, models.PROTECT, related_name="+")
    position = models.PositiveSmallIntegerField()
    at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["assignment", "by", "position"], name="look_once"),
        ]

    def __str__(self) -> str:
        return f"{self.by} saw {self.assignment} #{self.position}"


class Opinion(models.Model):
    """What a reviewer would decide who asked somebody else to. Rows are only ever added."""

    assignment = models.ForeignKey(Assignment, models.PROTECT, related_name="opinions")
    by = models.ForeignKey(User, models.PROTECT, related_name="opinions")
    use = models.CharField(max_length=10, choices=Assignment.Use.choices)
    payment = models.CharField(max_length=10, choices=Assignment.Payment.choices)
    reason = models.TextField()
    at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            models.CheckConstraint(condition=~Q(reason=""), name="opinion_has_reason"),
        ]

    def __str__(self) -> str:
        return f"{self.use}, {self.payment}"


class GoldDecision(models.Model):
    """That a gold was kept or retired after people who are good failed it. Only ever added."""

    class Value(models.TextChoices):
        KEPT = "kept", "kept"
        RETIRED = "retired", "retired"

    unit = models.ForeignKey(Unit, models.PROTECT, related_name="gold_decisions")
    value = models.CharField(max_length=10, choices=Value.choices)
    answered = models.PositiveIntegerField(help_text="By good people, until then.")
    failed = models.PositiveIntegerField()
    reason = models.TextField()
    by = models.ForeignKey(User, models.PROTECT, related_name="+")
    at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            models.CheckConstraint(condition=~Q(reason=""), name="gold_decision_has_reason"),
        ]

    def __str__(self) -> str:
        return f"{self.unit}: {self.value}"


class PersonEvent(models.Model):
    """What was said to, about or by a person in a study. Rows are only ever added."""

    class Kind(models.TextChoices):
        WARNING = "warning", "warning"
        EXCLUDED = "excluded", "excluded"
        READMITTED = "readmitted", "readmitted"
        QUALIFIED = "qualified", "let in without training"
        APPEAL = "appeal", "appeal"
        ANSWER = "answer", "answer to an appeal"

    study = models.ForeignKey(Study, models.PROTECT, related_name="person_events", db_index=False)
    person = models.ForeignKey(Person, models.PROTECT, related_name="events")
    kind = models.CharField(max_length=10, choices=Kind.choices)
    text = models.TextField()
    assignment = models.ForeignKey(
        Assignment, models.PROTECT, null=True, related_name="+", help_text="The page it is about."
    )
    answers = models.OneToOneField("self", models.PROTECT, null=True, related_name="answer")
    by = models.ForeignKey(
        User, models.PROTECT, null=True, related_name="+", help_text="Empty: a command."
    )
    at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            models.CheckConstraint(condition=~Q(text=""), name="person_event_says_something"),
            models.CheckConstraint(
                condition=Q(kind="answer", answers__isnull=False)
                | (~Q(kind="answer") & Q(answers__isnull=True)),
                name="person_event_answers",
            ),
        ]
        indexes = [models.Index(fields=["study", "person", "id"], name="person_event_of")]

    def __str__(self) -> str:
        return f"{self.kind}: {self.text}"
