import secrets
from datetime import datetime, timedelta

from django.contrib.auth.models import AbstractUser
from django.db import models
from django.db.models.functions import Now
from django.utils import timezone


class Role(models.TextChoices):
    RATER = "rater", "rater"
    REVIEWER = "reviewer", "reviewer"
    RESEARCHER = "researcher", "researcher"


class User(AbstractUser):
    """A login. The user name is the email address; staff are the admins."""

    email = models.EmailField(unique=True)
    is_researcher = models.BooleanField(
        default=False, help_text="May create corpora and studies of their own."
    )

    def __str__(self) -> str:
        return self.get_full_name() or self.username


class Person(models.Model):
    """The human behind one or several accounts."""

    created_at = models.DateTimeField(auto_now_add=True)
    same_as = models.ForeignKey("self", models.PROTECT, null=True, related_name="also")
    erased_at = models.DateTimeField(null=True)
    is_simulated = models.BooleanField(
        default=False, db_default=False, help_text="Made up, to rehearse a study."
    )

    def __str__(self) -> str:
        return f"person {self.pk}"


class Account(models.Model):
    """A login here, or an id at a marketplace."""

    person = models.ForeignKey(Person, models.PROTECT, related_name="accounts")
    channel = models.CharField(max_length=20)
    external_id = models.CharField(max_length=200)
    user = models.OneToOneField(User, models.PROTECT, null=True, related_name="account")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["channel", "external_id"], name="account_identity"),
        ]

    def __str__(self) -> str:
        return f"{self.channel}:{self.external_id}"


class Membership(models.Model):
    study = models.ForeignKey("hits.Study", models.CASCADE, related_name="memberships")
    user = models.ForeignKey(User, models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=10, choices=Role.choices)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["study", "user", "role"], name="membership_once"),
        ]

    def __str__(self) -> str:
        return f"{self.user} is {self.role} of {self.study}"


class Erasure(models.Model):
    """That a person was erased on request, by whom and what it took; never who they were."""

    person = models.OneToOneField(Person, models.PROTECT, related_name="erasure")
    by = models.ForeignKey(User, models.PROTECT, related_name="+")
    at = models.DateTimeField(db_default=Now())
    counts = models.JSONField()

    def __str__(self) -> str:
        return f"erasure of {self.person}"


def invitation_token() -> str:
    return secrets.token_urlsafe(24)


def invitation_end() -> datetime:
    return timezone.now() + timedelta(days=14)


class Invitation(models.Model):
    """A link that lets somebody join a study in a role, for a limited number of people."""

    token = models.CharField(max_length=40, unique=True, default=invitation_token)
    study = models.ForeignKey("hits.Study", models.CASCADE, related_name="invitations")
    role = models.CharField(max_length=10, choices=Role.choices, default=Role.RATER)
    places = models.PositiveSmallIntegerField(default=1)
    taken = models.PositiveSmallIntegerField(default=0)
    created_by = models.ForeignKey(User, models.PROTECT, related_name="invitations")
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(default=invitation_end)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(taken__lte=models.F("places")), name="invitation_places"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.role} of {self.study}"

    @property
    def is_usable(self) -> bool:
        return self.taken < self.places and timezone.now() < self.expires_at
