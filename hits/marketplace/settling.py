"""What time does by itself, done when somebody next looks: every call and page begins here."""

from collections.abc import Callable

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from hits.marketplace import deciding, events, states, telling
from hits.marketplace.models import HIT, Assignment


def settle_due() -> None:
    """Assignments past their time are abandoned, HITs past theirs expire, work that nobody
    decided on is approved, old HITs are disposed of, and what could not be told is told."""
    now = timezone.now()
    accepted = Assignment.objects.filter(status=Assignment.Status.ACCEPTED, deadline__lte=now)
    _each(accepted.values_list("hit_id", flat=True), _abandon)
    alive = HIT.objects.exclude(status=HIT.Status.DISPOSED)
    _each(
        alive.filter(has_expired=False, expires_at__lte=now).values_list("id", flat=True), _expire
    )
    waiting = Assignment.objects.filter(
        status=Assignment.Status.SUBMITTED, auto_approval_at__lte=now
    )
    _each(waiting.values_list("hit_id", flat=True), _approve)
    _each(
        alive.filter(dispose_at__lte=now, pending=0, submitted=0).values_list("id", flat=True),
        _dispose,
    )
    telling.tell_due()


def _each(
    hits: "QuerySet[HIT, int] | QuerySet[Assignment, int]", do: Callable[[HIT], None]
) -> None:
    for pk in sorted(set(hits[:1000])):
        with transaction.atomic():
            do(states.locked(pk))


def _due(hit: HIT, status: Assignment.Status) -> QuerySet[Assignment]:
    found = hit.assignments.filter(status=status).select_related("worker").order_by("id")
    return found.select_for_update(of=("self",))


def _abandon(hit: HIT) -> None:
    for assignment in _due(hit, Assignment.Status.ACCEPTED).filter(deadline__lte=timezone.now()):
        assignment.hit = hit
        states.move(assignment, Assignment.Status.ABANDONED)
        events.note("AssignmentAbandoned", hit, assignment)


def _approve(hit: HIT) -> None:
    due = _due(hit, Assignment.Status.SUBMITTED)
    for assignment in due.filter(auto_approval_at__lte=timezone.now()):
        assignment.hit = hit
        deciding.approve(assignment, feedback="")


def _expire(hit: HIT) -> None:
    if not hit.has_expired and hit.expires_at <= timezone.now():
        states.expire(hit)


def _dispose(hit: HIT) -> None:
    if hit.status != HIT.Status.DISPOSED and not hit.pending and not hit.submitted:
        states.dispose(hit)
