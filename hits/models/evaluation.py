from django.db import models
from django.db.models.functions import Now

from hits.models.job import Job
from hits.models.people import User


class Evaluation(models.Model):
    """An analysis of files that somebody brought: what was asked, and the tables that came of it.
    The files themselves are not kept, but for their names and checksums."""

    kind = models.SlugField(max_length=40)
    name = models.CharField(max_length=120)
    by = models.ForeignKey(User, models.PROTECT, related_name="evaluations")
    at = models.DateTimeField(db_default=Now())
    settings = models.JSONField(default=dict)
    files = models.JSONField(default=dict)
    job = models.OneToOneField(Job, models.PROTECT, related_name="evaluation")
    tables = models.JSONField(null=True, help_text="Empty until it is computed.")

    def __str__(self) -> str:
        return self.name
