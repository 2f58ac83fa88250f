"""Approval and rejection; the HIT's row is locked by the caller."""

from django.utils import timezone

from hits.marketplace import events, money, states
from hits.marketplace.models import Assignment


def approve(assignment: Assignment, *, feedback: str) -> None:
    money.pay_reserved(assignment)
    _approved(assignment, feedback)


def approve_after_rejection(assignment: Assignment, *, feedback: str) -> None:
    money.pay_anew(assignment)
    _approved(assignment, feedback)


def reject(assignment: Assignment, *, feedback: str) -> None:
    money.release(assignment.hit, 1)
    states.move(
        assignment,
        Assignment.Status.REJECTED,
        rejected_at=timezone.now(),
        feedback=feedback,
    )
    events.note("AssignmentRejected", assignment.hit, assignment)


def _approved(assignment: Assignment, feedback: str) -> None:
    states.move(
        assignment,
        Assignment.Status.APPROVED,
        approved_at=timezone.now(),
        feedback=feedback,
    )
    events.note("AssignmentApproved", assignment.hit, assignment)
