from django.db import models
from django.db.models.functions import Now

from hits.models.people import User
from hits.models.study import Study

# The channel of the accounts of those who judged elsewhere. Nobody logs in by one.
IMPORTED = "import"


class JudgmentImport(models.Model):
    """A file of judgments made elsewhere that brought something in. Rows are only ever added."""

    study = models.ForeignKey(Study, models.PROTECT, related_name="imports")
    by = models.ForeignKey(
        User, models.PROTECT, null=True, related_name="+", help_text="Empty: a command."
    )
    at = models.DateTimeField(db_default=Now())
    file_name = models.CharField(max_length=200)
    sha256 = models.CharField(max_length=64)
    counts = models.JSONField()

    def __str__(self) -> str:
        return f"import {self.pk} into {self.study}"
