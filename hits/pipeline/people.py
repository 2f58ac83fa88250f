"""People: who takes part, what they agreed to, and which accounts are one human being."""

from datetime import datetime
from itertools import groupby
from typing import Any

from django.contrib.auth.password_validation import validate_password
from django.db import IntegrityError, transaction
from django.db.models import DateTimeField, F, Q, Value
from django.db.models.functions import Coalesce
from django.utils import timezone

from hits.models import (
    Account,
    Assignment,
    Consent,
    Exclusion,
    Invitation,
    Membership,
    Participation,
    Person,
    PersonEvent,
    Slot,
    Study,
    User,
)
from hits.pipeline import places
from hits.pipeline.draw import JOINED
from hits.pipeline.errors import Closed, NotAllowed, Refused, Taken
from hits.pipeline.rules import to_be_left
from hits.pipeline.submit import close

IN_HOUSE = "in_house"
LONGEST_REASON = 2000
READMITTED = "May go on."
LOGIN_EXISTS = "There is a login with this address. Log in, then open the link again."


def account_of(user: User) -> Account:
    """The account of a login, made with a person of its own when it is first needed."""
    try:
        return user.account
    except Account.DoesNotExist:
        return account_at(channel=IN_HOUSE, external_id=str(user.pk), user=user)


@transaction.atomic
def account_at(*, channel: str, external_id: str, user: User | None = None) -> Account:
    """The account of an id at a channel, made with a person of its own when it is new."""
    account = Account.objects.filter(channel=channel, external_id=external_id).first()
    if account is not None:
        return account
    person = Person.objects.create()
    account, created = Account.objects.get_or_create(
        channel=channel, external_id=external_id, defaults={"user": user, "person": person}
    )
    if not created:
        person.delete()
    return account


@transaction.atomic
def give_consent(*, study: Study, account: Account) -> Consent:
    if study.version is None:
        raise Closed("This study is not open yet.")
    lock_person(account)
    participation, _ = Participation.objects.get_or_create(study=study, person_id=account.person_id)
    in_force = participation.consents.filter(withdrawn_at__isnull=True).first()
    if in_force is not None and in_force.version_id == study.version.pk:
        return in_force
    participation.consents.filter(withdrawn_at__isnull=True).update(withdrawn_at=timezone.now())
    return Consent.objects.create(participation=participation, version=study.version)


@transaction.atomic
def withdraw(*, study: Study, account: Account) -> None:
    """No more pages; what was submitted stays, what is open goes back."""
    lock_person(account)
    _end_consent(study, account)
    for page in Assignment.objects.select_for_update(no_key=True).filter(
        study=study, person_id=account.person_id, state="open"
    ):
        close(page, Assignment.State.RETURNED)


@transaction.atomic
def withdraw_from(*, page: Assignment, account: Account) -> None:
    """This page goes back, and with the last page that an account could still submit its consent.
    Whose account it is may be an invention, so that no other page is touched."""
    lock_person(account)
    theirs = Assignment.objects.filter(study=page.study_id, account=account)
    mine = theirs.select_for_update(no_key=True).filter(pk=page.pk, state="open").first()
    if mine is not None:
        close(mine, Assignment.State.RETURNED)
    others = theirs.exclude(pk=page.pk)
    if not others.filter(Q(state="open") | Q(state="expired", claim__theirs="")).exists():
        _end_consent(page.study, account)


def _end_consent(study: Study, account: Account) -> None:
    Consent.objects.filter(
        participation__study=study,
        participation__person=account.person_id,
        withdrawn_at__isnull=True,
    ).update(withdrawn_at=timezone.now())


@transaction.atomic
def exclude(*, study: Study, account: Account, reason: str, by: User | None = None) -> PersonEvent:
    """No more units of this study; what the person did stays."""
    reason = reason.strip()
    if not reason:
        raise Refused("Write down why.")
    if len(reason) > LONGEST_REASON:
        raise Refused(f"Use at most {LONGEST_REASON:,} characters to say why.")
    lock_person(account)
    participation, _ = Participation.objects.get_or_create(study=study, person_id=account.person_id)
    Participation.objects.filter(pk=participation.pk).update(excluded_reason=reason)
    return _on_record(study, account, PersonEvent.Kind.EXCLUDED, reason, by)


@transaction.atomic
def readmit(
    *, study: Study, account: Account, reason: str = READMITTED, by: User | None = None
) -> PersonEvent:
    lock_person(account)
    theirs = Participation.objects.filter(study=study, person_id=account.person_id)
    theirs.update(excluded_reason="")
    return _on_record(study, account, PersonEvent.Kind.READMITTED, reason, by)


def _on_record(
    study: Study, account: Account, kind: str, text: str, by: User | None
) -> PersonEvent:
    return PersonEvent.objects.create(
        study=study, person_id=account.person_id, kind=kind, text=text.strip(), by=by
    )


def excluded_because(study: Study, account: Account) -> str:
    """Why somebody is excluded from a study; empty where they are not."""
    theirs = Participation.objects.filter(study=study, person_id=account.person_id)
    return theirs.values_list("excluded_reason", flat=True).first() or ""


def lock_person(account: Account) -> None:
    """Whatever changes where a person stands locks the person first, and alone."""
    person = Person.objects.select_for_update(no_key=True).get(pk=account.person_id)
    if person.same_as_id is not None:
        raise Closed(JOINED)


def invitation_by_token(token: str) -> Invitation:
    invitation = _invitation(token)
    if not invitation.is_usable:
        raise Closed("This invitation has been used up or has expired. Ask for a new link.")
    return invitation


def _invitation(token: str) -> Invitation:
    invitation = Invitation.objects.select_related("study").filter(token=token).first()
    if invitation is None:
        raise NotAllowed("This invitation is not known. Ask for a new link.")
    return invitation


def joined(*, token: str, user: User) -> Membership | None:
    """What the invitation gives, if this login has it; its link may be used up since."""
    invitation = _invitation(token)
    theirs = user.memberships.select_related("study")
    return theirs.filter(study=invitation.study_id, role=invitation.role).first()


@transaction.atomic
def join(*, token: str, user: User) -> Membership:
    """Let a login into the invitation's study; a second time changes nothing."""
    if already := joined(token=token, user=user):
        return already
    invitation = invitation_by_token(token)
    membership, created = Membership.objects.get_or_create(
        study=invitation.study, user=user, role=invitation.role
    )
    if created:
        try:
            with transaction.atomic():
                Invitation.objects.filter(pk=invitation.pk).update(taken=F("taken") + 1)
        except IntegrityError:
            raise Closed("This invitation has just been used up. Ask for a new link.") from None
    return membership


@transaction.atomic
def accept_invitation(*, token: str, name: str, email: str, password: str) -> User:
    """Make a login for somebody new, and let them in."""
    email = email.strip().lower()
    if User.objects.filter(email__iexact=email).exists():
        raise Taken(LOGIN_EXISTS)
    user = User(username=email, email=email, first_name=name.strip()[:150])
    validate_password(password, user)
    user.set_password(password)
    try:
        user.save()
    except IntegrityError:
        raise Taken(LOGIN_EXISTS) from None
    join(token=token, user=user)
    return user


@transaction.atomic
def link(*, account: Account, same_as: Account) -> None:
    """Two accounts turned out to be one person: of two judgments of a unit the later is not
    used and its place goes out again, as does all that they did in the wrong one of two studies
    that are kept apart; everything else moves to the one person."""
    first, second = sorted([account.person_id, same_as.person_id])
    if first == second:
        return
    both = Person.objects.filter(pk__in=[first, second]).order_by("pk")
    if any(person.same_as_id is not None for person in both.select_for_update(no_key=True)):
        raise Closed(JOINED)
    # Before the pages, as everybody does: who read an old number may hold it and wait for a page.
    before = Person.objects.filter(same_as=second).order_by("pk")
    list(before.select_for_update(no_key=True).values_list("pk"))
    pages = Assignment.objects.filter(person_id__in=[first, second]).order_by("pk")
    list(pages.select_for_update(no_key=True).values_list("pk"))
    for slot in _giving_way(first, second):
        places.mark_same_person(slot)
    shared = Slot.objects.filter(person_id=first).values("unit")
    Slot.objects.filter(person_id=second).exclude(unit__in=shared).update(person_id=first)
    for participation in Participation.objects.filter(person_id=second):
        _move_participation(participation, first)
    Assignment.objects.filter(person_id=second).update(person_id=first)
    Account.objects.filter(person_id=second).update(person_id=first)
    Person.objects.filter(Q(pk=second) | Q(same_as=second)).update(same_as_id=first)


def _giving_way(first: int, second: int) -> list[Slot]:
    """Of the slots for one unit all but one: the earliest judgment that counts, if one does. And
    all slots in studies that the two may not both have worked in."""
    theirs = (
        Slot.objects.filter(assignment__person_id__in=[first, second])
        .select_related("assignment", "judgment")
        .order_by("unit__order_key", "unit_id")
    )
    wrong = _studies_not_to_be_in(first, second)
    found: list[Slot] = []
    for _, group in groupby(theirs, key=lambda slot: slot.unit_id):
        slots = sorted(group, key=_claim)
        found += slots if slots[0].assignment.study_id in wrong else slots[1:]
    return found


def _studies_not_to_be_in(first: int, second: int) -> set[int]:
    """Of two studies that are kept apart, the one that comes after the other, or else the one that
    they came to later."""
    started: dict[int, datetime] = {}
    for participation in Participation.objects.filter(
        person_id__in=[first, second], started_at__isnull=False
    ).order_by("-started_at"):
        assert participation.started_at is not None
        started[participation.study_id] = participation.started_at
    pairs = Exclusion.objects.filter(study__in=started, other__in=started)
    return {
        to_be_left(pair.study, pair.other, started).pk
        for pair in pairs.select_related("study", "other")
    }


def _claim(slot: Slot) -> tuple[int, float, int]:
    rank = {"counted": 0, "held": 1}.get(slot.state, 2)
    answered_at = slot.judgment.created_at.timestamp() if hasattr(slot, "judgment") else 0.0
    return rank, answered_at, slot.pk


def _move_participation(participation: Participation, person_id: int) -> None:
    kept = Participation.objects.filter(study=participation.study_id, person_id=person_id)
    if not kept.exists():
        Participation.objects.filter(pk=participation.pk).update(person_id=person_id)
        return
    kept.update(
        pages_done=F("pages_done") + participation.pages_done,
        judgments_done=F("judgments_done") + participation.judgments_done,
        units_done=F("units_done") + participation.units_done,
        started_at=Coalesce("started_at", Value(participation.started_at, DateTimeField())),
        **_newer_day(kept.get(), participation),
    )
    kept.filter(qualified_at=None).update(
        qualified_at=participation.qualified_at, let_in_by=participation.let_in_by_id
    )
    kept.filter(excluded_reason="").update(excluded_reason=participation.excluded_reason)


def _newer_day(one: Participation, other: Participation) -> dict[str, Any]:
    """What was done on the newer of two days, by both if it is the same."""
    days = [each.day for each in (one, other) if each.day is not None]
    newest = [each for each in (one, other) if days and each.day == max(days)]
    return {
        "day": max(days, default=None),
        "judgments_that_day": sum(each.judgments_that_day for each in newest),
        "units_that_day": sum(each.units_that_day for each in newest),
    }
