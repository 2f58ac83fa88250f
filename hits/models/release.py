from django.db import models
from django.db.models.functions import Now

from hits.models.people import User
from hits.models.study import Study


class Release(models.Model):
    """An immutable export of one or several studies, up to a point in the decisions."""

    name = models.SlugField(max_length=80)
    number = models.PositiveIntegerField()
    studies = models.ManyToManyField(Study, related_name="releases")
    last_decision_id = models.BigIntegerField()
    manifest = models.JSONField()
    made_by = models.ForeignKey(User, models.PROTECT, related_name="+")
    made_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["name", "number"], name="release_number"),
        ]

    def __str__(self) -> str:
        return f"{self.name} {self.number}"


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
