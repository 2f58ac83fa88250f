from pathlib import Path

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from hits.models.corpus import Corpus
from hits.models.machines import Direction
from hits.models.people import User
from hits.models.study import Study

# Kinds that take a file in and report what they refused of it.
IMPORTS = ("import", "rows", "judgments")


class JobQuerySet(models.QuerySet["Job"]):
    def unfinished(self) -> "JobQuerySet":
        return self.filter(state__in=[Job.State.QUEUED, Job.State.RUNNING])


class Job(models.Model):
    """Long work that was asked for. This row is the truth; the queue is only a bell."""

    class State(models.TextChoices):
        QUEUED = "queued", "queued"
        RUNNING = "running", "running"
        DONE = "done", "done"
        FAILED = "failed", "failed"
        CANCELLED = "cancelled", "cancelled"

    kind = models.CharField(max_length=40)
    arguments = models.JSONField(default=dict)
    queue = models.CharField(max_length=20, default="cpu")
    state = models.CharField(max_length=10, choices=State.choices, default=State.QUEUED)
    corpus = models.ForeignKey(Corpus, models.CASCADE, null=True, related_name="jobs")
    study = models.ForeignKey(Study, models.CASCADE, null=True, related_name="jobs")
    asked_by = models.ForeignKey(User, models.PROTECT, null=True, related_name="jobs")
    asked_at = models.DateTimeField(db_default=Now())
    rung_at = models.DateTimeField(db_default=Now())
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)
    lease_until = models.DateTimeField(null=True)
    attempts = models.PositiveSmallIntegerField(default=0)
    done = models.BigIntegerField(default=0)
    total = models.BigIntegerField(null=True)
    message = models.CharField(max_length=500, blank=True)
    log = models.TextField(blank=True)
    result = models.JSONField(null=True)
    cancel_asked = models.BooleanField(default=False)
    rate = models.FloatField(null=True, help_text="What is done in a second, of what it does now.")
    part_of = models.ForeignKey("self", models.CASCADE, null=True, related_name="parts")
    part = models.CharField(max_length=100, blank=True)

    objects = JobQuerySet.as_manager()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(state="running", lease_until__isnull=False)
                | (~Q(state="running") & Q(lease_until__isnull=True)),
                name="job_running_has_lease",
            ),
            models.UniqueConstraint(
                fields=["part_of", "part"],
                condition=Q(part_of__isnull=False),
                name="job_part_once",
            ),
        ]
        indexes = [
            models.Index(
                fields=["state", "rung_at"],
                condition=Q(state__in=["queued", "running"]),
                name="job_unfinished",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.pk}"

    @property
    def about(self) -> str:
        """What it was asked to do it on, in words; never a path of the server."""
        given = self.arguments
        if self.kind in {"propose", "propose_file"}:
            directions = [Direction(each).label for each in given.get("directions", [])]
            return ", ".join(
                [
                    given.get("machine") or given.get("name", ""),
                    *directions,
                    given.get("split") or "no split",
                ]
            )
        if self.kind == "renovate":
            return ", ".join([given.get("captioner") or given.get("called", ""), str(self.study)])
        if self.kind in {"release", "evaluate"}:
            return str(given.get("name", ""))
        if self.kind == "recipe":
            return f"{given.get('recipe', '')}, {given.get('name', '')}"
        if self.kind in IMPORTS:
            file = given.get("called") or _kind_of_file(given.get("source", ""))
            return ", ".join(filter(None, [file, given.get("split")]))
        return str(self.study or "")

    @property
    def verb(self) -> str:
        return self.kind.partition("_")[0].capitalize()

    @property
    def title(self) -> str:
        return f"{self.verb} {self.about}".strip()

    @property
    def seconds_left(self) -> int | None:
        """Of what it does now, at the rate it does it."""
        if self.is_finished or not self.rate or self.total is None:
            return None
        return round(max(self.total - self.done, 0) / self.rate)

    @property
    def is_finished(self) -> bool:
        return self.state in {self.State.DONE, self.State.FAILED, self.State.CANCELLED}


def _kind_of_file(source: str) -> str:
    if source.startswith("s3://"):
        return "a bucket"
    suffix = Path(source).suffix.removeprefix(".")
    return f"a {suffix} file" if suffix else ""
