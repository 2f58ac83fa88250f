from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from hits.models.people import User
from hits.models.study import Study


class Release(models.Model):
    """An immutable export of one or several studies, up to a point in the decisions."""

    class FreeText(models.TextChoices):
        KEPT = "kept", "as people wrote it"
        SCRUBBED = "scrubbed", "without addresses, handles, numbers and worker ids"
        LEFT_OUT = "left_out", "left out"

    name = models.SlugField(max_length=80)
    major = models.PositiveIntegerField()
    minor = models.PositiveIntegerField(db_default=0)
    studies = models.ManyToManyField(Study, related_name="releases")
    last_decision_id = models.BigIntegerField()
    licence = models.CharField(max_length=200, blank=True, db_default="")
    free_text = models.CharField(
        max_length=10,
        choices=FreeText.choices,
        db_default=FreeText.KEPT,
        help_text="What became of remarks and reported problems.",
    )
    manifest = models.JSONField()
    place = models.CharField(
        max_length=1000,
        blank=True,
        db_default="",
        help_text="s3://bucket/prefix, or a folder of the releases.",
    )
    made_by = models.ForeignKey(User, models.PROTECT, related_name="+")
    made_at = models.DateTimeField(db_default=Now())
    withdrawn_at = models.DateTimeField(null=True, help_text="Since when its files are gone.")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["name", "major", "minor"], name="release_version"),
            models.CheckConstraint(condition=Q(major__gte=1), name="release_from_1"),
        ]

    def __str__(self) -> str:
        return f"{self.name} {self.version}"

    @property
    def version(self) -> str:
        return f"{self.major}.{self.minor}"


class ReleaseFile(models.Model):
    release = models.ForeignKey(Release, models.PROTECT, related_name="files")
    name = models.CharField(max_length=100)
    sha256 = models.CharField(max_length=64)
    size = models.BigIntegerField()

    class Meta:
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(fields=["release", "name"], name="release_file_name"),
        ]

    def __str__(self) -> str:
        return self.name
