from django.db import models

from hits.models.corpus import Corpus


class Machine(models.Model):
    """A model that proposes candidates, recorded so that what it proposed can be traced."""

    name = models.CharField(max_length=100)
    version = models.CharField(max_length=100)
    kind = models.CharField(max_length=40)
    checksum = models.CharField(max_length=64, blank=True)
    settings = models.JSONField(default=dict)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["name", "version", "checksum"], name="machine_identity"
            ),
        ]
        ordering = ["name", "version"]

    def __str__(self) -> str:
        return f"{self.name} {self.version}"


class Direction(models.TextChoices):
    IMAGE_TO_CAPTION = "i2t", "image to caption"
    CAPTION_TO_IMAGE = "t2i", "caption to image"
    IMAGE_TO_IMAGE = "i2i", "image to image"
    CAPTION_TO_CAPTION = "t2t", "caption to caption"


class Proposal(models.Model):
    """One machine's ranked lists over one split of a corpus, in one direction."""

    corpus = models.ForeignKey(Corpus, models.CASCADE, related_name="proposals")
    machine = models.ForeignKey(Machine, models.PROTECT, related_name="proposals")
    direction = models.CharField(max_length=3, choices=Direction.choices)
    split = models.CharField(max_length=40, blank=True)
    depth = models.PositiveSmallIntegerField()
    queries = models.PositiveIntegerField(default=0)
    query_sample = models.PositiveIntegerField(null=True)
    seed = models.BigIntegerField(default=0)
    # What was ranked, as a digest: a split that has grown is another question.
    items = models.CharField(max_length=64, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=[
                    "corpus",
                    "machine",
                    "direction",
                    "split",
                    "depth",
                    "query_sample",
                    "seed",
                    "items",
                ],
                nulls_distinct=False,
                name="proposal_identity",
            ),
        ]

    def __str__(self) -> str:
        of = [str(self.machine), self.get_direction_display(), self.split]
        return ", ".join([*filter(None, of), f"{self.queries:,} × {self.depth}"])


class Candidate(models.Model):
    """One line of a ranked list. The proposal's direction says what the two ids point to."""

    pk = models.CompositePrimaryKey("proposal_id", "query_id", "rank")
    # All lines of a proposal are stored in the transaction that makes and locks it, so that
    # PostgreSQL need not look it up for each; the primary key is the index.
    proposal = models.ForeignKey(
        Proposal, models.CASCADE, related_name="candidates", db_constraint=False, db_index=False
    )
    query_id = models.BigIntegerField()
    target_id = models.BigIntegerField()
    rank = models.PositiveSmallIntegerField()
    score = models.FloatField()

    class Meta:
        constraints = [
            models.CheckConstraint(condition=models.Q(rank__gte=1), name="candidate_rank_from_1"),
        ]

    def __str__(self) -> str:
        return f"{self.query_id} → {self.target_id} ({self.rank})"
