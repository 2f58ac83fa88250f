"""Qualifications: given, asked for, granted, refused, taken back."""

from datetime import timedelta

from django.db import IntegrityError, transaction
from django.utils import timezone

from hits.marketplace.errors import Refused
from hits.marketplace.models import (
    Message,
    Qualification,
    QualificationRequest,
    QualificationType,
    Worker,
)

State = QualificationRequest.State


def grant(*, kind: QualificationType, worker: Worker, value: int) -> None:
    Qualification.objects.update_or_create(
        kind=kind,
        worker=worker,
        defaults={"value": value, "is_granted": True, "granted_at": timezone.now(), "reason": ""},
    )


def tell(*, kind: QualificationType, worker: Worker, text: str) -> None:
    Message.objects.create(
        requester=kind.requester, worker=worker, subject=kind.name[:200], text=text
    )


@transaction.atomic
def request(*, kind: QualificationType, worker: Worker, answer: str = "") -> QualificationRequest:
    """A worker asks for a qualification; one that is granted to everybody is had at once."""
    if not kind.is_active or kind.deleted_at is not None:
        raise Refused("unavailable", "This qualification is not given any more.")
    _refuse_too_early(kind, worker)
    try:
        with transaction.atomic():
            made = QualificationRequest.objects.create(kind=kind, worker=worker, answer=answer)
    except IntegrityError:
        raise Refused("done", "You have asked for this qualification already.") from None
    if kind.auto_granted:
        settle(made, State.GRANTED)
        grant(kind=kind, worker=worker, value=kind.auto_granted_value)
    return made


def settle(row: QualificationRequest, state: State, reason: str = "") -> None:
    row.state = state
    row.reason = reason
    row.settled_at = timezone.now()
    row.save(update_fields=["state", "reason", "settled_at"])


def _refuse_too_early(kind: QualificationType, worker: Worker) -> None:
    last = kind.requests.filter(worker=worker).order_by("-submitted_at").first()
    if last is None:
        return
    if kind.retry_seconds is None:
        raise Refused("done", "This qualification can be asked for only once.")
    if last.submitted_at + timedelta(seconds=kind.retry_seconds) > timezone.now():
        raise Refused("too_early", "You asked for this qualification a short while ago.")
