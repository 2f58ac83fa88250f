from django.contrib.postgres.indexes import BTreeIndex
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import MD5, Cast, Now

from hits.models.corpus import Corpus
from hits.models.machines import Proposal
from hits.models.people import Person, Role, User


class StudyQuerySet(models.QuerySet["Study"]):
    def of(self, user: User, *roles: str) -> "StudyQuerySet":
        """The studies a user belongs to in one of these roles; all of them for an admin."""
        if user.is_staff and roles != (Role.RATER,):
            return self
        return self.filter(
            pk__in=user.memberships.filter(role__in=roles or Role.values).values("study")
        )


class Study(models.Model):
    """A protocol with its settings on a corpus."""

    class State(models.TextChoices):
        DRAFT = "draft", "draft"
        OPEN = "open", "open"
        PAUSED = "paused", "paused"
        CLOSED = "closed", "closed"

    slug = models.SlugField(unique=True)
    name = models.CharField(max_length=200)
    corpus = models.ForeignKey(Corpus, models.PROTECT, related_name="studies")
    protocol = models.CharField(max_length=40)
    state = models.CharField(max_length=10, choices=State.choices, default=State.DRAFT)
    seed = models.BigIntegerField(default=0)
    version = models.OneToOneField(
        "hits.StudyVersion", models.PROTECT, null=True, related_name="current_for"
    )
    proposals = models.ManyToManyField(Proposal, related_name="studies", blank=True)
    split = models.CharField(
        max_length=40, blank=True, help_text="Of the corpus, where units come from it; empty: all."
    )
    continues = models.ManyToManyField(
        "self", symmetrical=False, blank=True, help_text="What was asked there is not asked again."
    )
    fed_by = models.ManyToManyField(
        "self", symmetrical=False, blank=True, related_name="feeds",
        help_text="What was judged there becomes units here.",
    )  # fmt: skip
    pilot_of = models.ForeignKey(
        "self", models.CASCADE, null=True, blank=True, related_name="pilots",
        help_text="What is tried out here, on a few pages that are never released.",
    )  # fmt: skip
    pilot_pages = models.PositiveSmallIntegerField(default=0, db_default=0)
    created_at = models.DateTimeField(auto_now_add=True)
    opened_at = models.DateTimeField(null=True)
    page_seconds = models.FloatField(
        null=True, help_text="The median time of the newest pages of the version in force."
    )

    objects = StudyQuerySet.as_manager()

    class Meta:
        verbose_name_plural = "studies"
        ordering = ["name"]
        constraints = [
            models.CheckConstraint(
                condition=Q(state="draft") | Q(version__isnull=False), name="study_open_has_version"
            ),
            models.CheckConstraint(
                condition=Q(pilot_of__isnull=True, pilot_pages=0)
                | Q(pilot_of__isnull=False, pilot_pages__gte=1),
                name="study_pilot_has_pages",
            ),
        ]

    def __str__(self) -> str:
        return self.name


class StudyVersion(models.Model):
    """Settings, wording and rules under which pages are done; never changed once made."""

    study = models.ForeignKey(Study, models.CASCADE, related_name="versions")
    number = models.PositiveIntegerField()
    settings = models.JSONField(default=dict)
    wording = models.JSONField(default=dict)
    information = models.TextField()
    consent_number = models.PositiveIntegerField(
        help_text="The version whose information a person must have agreed to."
    )
    judgments_wanted = models.PositiveSmallIntegerField(default=1)
    lease_minutes = models.PositiveIntegerField(default=60)
    pay = models.DecimalField(max_digits=8, decimal_places=2, default=0)
    expected_minutes = models.PositiveSmallIntegerField(
        default=0, db_default=0, help_text="For a page, until it is measured. 0: not known."
    )
    most_units_a_person = models.PositiveIntegerField(
        default=0, db_default=0, help_text="Golds are not counted. 0: no limit."
    )
    most_units_a_day = models.PositiveIntegerField(
        default=0, db_default=0, help_text="For one person, golds not counted. 0: no limit."
    )
    training_units = models.PositiveSmallIntegerField(
        default=0, db_default=0, help_text="Golds on a training page. 0: no training."
    )
    training_accuracy = models.PositiveSmallIntegerField(
        default=80, db_default=80, help_text="Percent of them that must be right to qualify."
    )
    training_attempts = models.PositiveSmallIntegerField(default=2, db_default=2)
    quality = models.JSONField(
        default=dict, db_default={}, help_text="Rules of the signals, and what follows from them."
    )
    created_by = models.ForeignKey(User, models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["study", "number"], name="study_version_number"),
            models.CheckConstraint(
                condition=Q(consent_number__lte=F("number")), name="study_version_consent"
            ),
            models.CheckConstraint(condition=Q(lease_minutes__gte=1), name="study_version_lease"),
            models.CheckConstraint(
                condition=Q(judgments_wanted__gte=1), name="study_version_wants"
            ),
            models.CheckConstraint(
                condition=Q(training_accuracy__range=(1, 100), training_attempts__gte=1),
                name="study_version_training",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.study} v{self.number}"


class StudyRow(models.Model):
    """A line of a file that units are made of, with ids here in the place of outside ones."""

    study = models.ForeignKey(Study, models.CASCADE, related_name="rows")
    number = models.PositiveIntegerField()
    content = models.JSONField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["study", "number"], name="study_row_number"),
            models.UniqueConstraint(
                "study", MD5(Cast("content", models.TextField())), name="study_row_once"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.study} row {self.number}"


class Exclusion(models.Model):
    """Whoever worked in one of the two studies never works in the other."""

    study = models.ForeignKey(Study, models.CASCADE, related_name="exclusions")
    other = models.ForeignKey(Study, models.CASCADE, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["study", "other"], name="exclusion_once"),
            models.CheckConstraint(condition=~Q(study=F("other")), name="exclusion_of_another"),
        ]

    def __str__(self) -> str:
        return f"{self.study} excludes {self.other}"


class Unit(models.Model):
    """One thing to be judged, once per study. Golds carry the answer that is known."""

    # Units are stored in the transaction that has their study locked, so that PostgreSQL need not
    # look it up for each; the unique constraint is the index.
    study = models.ForeignKey(
        Study, models.CASCADE, related_name="units", db_constraint=False, db_index=False
    )
    key = models.CharField(max_length=100, db_collation="C")
    pool = models.CharField(max_length=20)
    payload = models.JSONField()
    gold = models.JSONField(null=True)
    order_key = models.BigIntegerField()
    wanted = models.PositiveSmallIntegerField()
    held = models.PositiveSmallIntegerField(db_default=0)
    counted = models.PositiveSmallIntegerField(db_default=0)
    excluded = models.BooleanField(db_default=False)
    promoted_from = models.ForeignKey(
        "self", models.PROTECT, null=True, related_name="promoted", db_index=False,
        help_text="A gold whose answer people gave: who judged it there is not asked here.",
    )  # fmt: skip
    # Pages are drawn through an index on this; kept apart from held and counted so that most
    # of their changes touch no index.
    is_open = models.GeneratedField(
        expression=models.ExpressionWrapper(
            Q(excluded=False) & (Q(gold__isnull=False) | Q(wanted__gt=F("held") + F("counted"))),
            output_field=models.BooleanField(),
        ),
        output_field=models.BooleanField(),
        db_persist=True,
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["study", "key"], name="unit_once_a_study"),
            models.CheckConstraint(
                condition=Q(wanted__gte=F("held") + F("counted")), name="unit_not_over_wanted"
            ),
            models.CheckConstraint(condition=Q(held__gte=0, counted__gte=0), name="unit_counts"),
        ]
        indexes = [
            # No two entries are alike, so PostgreSQL need not look for such when a page is full.
            BTreeIndex(
                fields=["study", "pool", "order_key"],
                condition=Q(is_open=True),
                name="unit_open",
                deduplicate_items=False,
            ),
            models.Index(
                fields=["promoted_from"],
                condition=Q(promoted_from__isnull=False),
                name="unit_promoted",
            ),
        ]

    def __str__(self) -> str:
        return self.key


class UnitSource(models.Model):
    """That a machine proposed a unit, and at which rank."""

    pk = models.CompositePrimaryKey("unit_id", "proposal_id")
    # Stored together with their units, from proposals that were read for them: see Unit.study.
    unit = models.ForeignKey(
        Unit, models.CASCADE, related_name="sources", db_constraint=False, db_index=False
    )
    proposal = models.ForeignKey(
        Proposal, models.PROTECT, related_name="+", db_constraint=False, db_index=False
    )
    rank = models.PositiveSmallIntegerField()
    score = models.FloatField()

    def __str__(self) -> str:
        return f"{self.unit} by {self.proposal} at {self.rank}"


class Participation(models.Model):
    """One person in one study: where they are in the order of units, and what they did."""

    study = models.ForeignKey(Study, models.CASCADE, related_name="participations")
    person = models.ForeignKey(Person, models.PROTECT, related_name="participations")
    cursors = models.JSONField(default=dict)
    started_at = models.DateTimeField(null=True)
    excluded_reason = models.TextField(blank=True)
    pages_done = models.PositiveIntegerField(default=0)
    judgments_done = models.PositiveIntegerField(default=0)
    day = models.DateField(null=True)
    judgments_that_day = models.PositiveIntegerField(default=0)
    # What limits go by: units of submitted pages, golds and training left out.
    units_done = models.PositiveIntegerField(default=0, db_default=0)
    units_that_day = models.PositiveIntegerField(default=0, db_default=0)
    qualified_at = models.DateTimeField(null=True)
    let_in_by = models.ForeignKey(
        User, models.PROTECT, null=True, related_name="+", help_text="Empty: training qualified."
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["study", "person"], name="participation_once"),
        ]

    def __str__(self) -> str:
        return f"{self.person} in {self.study}"

    def has_agreed_to(self, version: StudyVersion) -> bool:
        return self.consents.filter(
            withdrawn_at__isnull=True, version__number__gte=version.consent_number
        ).exists()


class Consent(models.Model):
    """A person agreed to a version's information; withdrawal is written on it, never erases it."""

    participation = models.ForeignKey(Participation, models.PROTECT, related_name="consents")
    version = models.ForeignKey(StudyVersion, models.PROTECT, related_name="+")
    given_at = models.DateTimeField(db_default=Now())
    withdrawn_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["participation"],
                condition=Q(withdrawn_at__isnull=True),
                name="consent_one_in_force",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.participation} agreed to {self.version}"
