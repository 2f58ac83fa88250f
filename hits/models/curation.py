from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from hits.models.corpus import Caption, Image
from hits.models.people import User
from hits.models.study import Study, Unit


class Curation(models.Model):
    """What was done to the units of a study, by whom, when and why. Rows are only ever added; what
    a later one says of the same thing holds.

    An image or a caption alone is an item, gone as query and as target; both are a pair."""

    class Kind(models.TextChoices):
        REMOVE = "remove", "removed"
        RESTORE = "restore", "restored"
        REJUDGE = "rejudge", "asked again"
        OVERLAP = "overlap", "overlap sample"
        GOLD = "gold", "made a gold"
        RETIRE = "retire", "gold retired"

    study = models.ForeignKey(Study, models.PROTECT, related_name="curations")
    kind = models.CharField(max_length=10, choices=Kind.choices)
    image = models.ForeignKey(Image, models.PROTECT, null=True, related_name="+")
    caption = models.ForeignKey(Caption, models.PROTECT, null=True, related_name="+")
    unit = models.ForeignKey(Unit, models.PROTECT, null=True, related_name="curations")
    units = models.PositiveIntegerField(help_text="How many units it concerned.")
    details = models.JSONField(default=dict)
    reason = models.TextField()
    by = models.ForeignKey(User, models.PROTECT, null=True, related_name="+")
    at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=(
                    Q(kind__in=["remove", "restore"], unit__isnull=True)
                    & (Q(image__isnull=False) | Q(caption__isnull=False))
                )
                | (
                    ~Q(kind__in=["remove", "restore"]) & Q(image__isnull=True, caption__isnull=True)
                ),
                name="curation_of_items",
            ),
            models.CheckConstraint(
                condition=Q(kind__in=["gold", "retire"], unit__isnull=False)
                | (~Q(kind__in=["gold", "retire"]) & Q(unit__isnull=True)),
                name="curation_of_a_gold",
            ),
            models.CheckConstraint(condition=~Q(reason=""), name="curation_has_reason"),
        ]

    def __str__(self) -> str:
        return f"{self.get_kind_display()} in {self.study}"

    @property
    def what(self) -> str:
        """The thing, in words."""
        image = f"image {self.image.external_id}" if self.image else ""
        caption = f"caption {self.caption.external_id}" if self.caption else ""
        if image and caption:
            return f"the pair of {image} and {caption}"
        return image or caption or (f"unit {self.unit.key}" if self.unit else "")
