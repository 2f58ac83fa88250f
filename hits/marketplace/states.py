"""A HIT's counts and status, always changed together and under its row's lock."""

from datetime import timedelta

from django.utils import timezone

from hits.marketplace import events, money
from hits.marketplace.models import HIT, Assignment

# How long a HIT can be looked at after its end.
AFTERLIFE = timedelta(days=120)
COUNTED_AS = {
    Assignment.Status.ACCEPTED: "pending",
    Assignment.Status.SUBMITTED: "submitted",
    Assignment.Status.APPROVED: "completed",
    Assignment.Status.REJECTED: "completed",
}
_STATE = ["status", "pending", "submitted", "completed", "has_expired", "max_assignments"]


def locked(pk: int) -> HIT:
    return (
        HIT.objects.select_for_update(of=("self",), no_key=True)
        .select_related("hit_type")
        .get(pk=pk)
    )


def move(assignment: Assignment, to: Assignment.Status, **changes: object) -> None:
    """Gives an assignment of a locked HIT another status, and counts it there."""
    hit = assignment.hit
    left, entered = COUNTED_AS.get(Assignment.Status(assignment.status)), COUNTED_AS.get(to)
    for count, by in ((left, -1), (entered, 1)):
        if count:
            setattr(hit, count, getattr(hit, count) + by)
    assignment.status = to
    for name, value in changes.items():
        setattr(assignment, name, value)
    assignment.save(update_fields=["status", *changes])
    refresh(hit)


def refresh(hit: HIT) -> None:
    """The status that follows from the counts and the clock."""
    before = hit.status
    if before == HIT.Status.DISPOSED:
        hit.save(update_fields=_STATE)
        return
    if hit.free and not is_over(hit):
        hit.status = HIT.Status.ASSIGNABLE
    elif hit.pending:
        hit.status = HIT.Status.UNASSIGNABLE
    elif before != HIT.Status.REVIEWING:
        hit.status = HIT.Status.REVIEWABLE
    hit.save(update_fields=_STATE)
    if is_over(hit):
        money.release(hit, max(0, hit.reserved - hit.pending - hit.submitted))
    if hit.status == HIT.Status.REVIEWABLE != before:
        events.note("HITReviewable", hit)


def is_over(hit: HIT) -> bool:
    return hit.has_expired or hit.expires_at <= timezone.now()


def expire(hit: HIT, *, is_news: bool = True) -> None:
    hit.has_expired = True
    refresh(hit)
    if is_news:
        events.note("HITExpired", hit)


def dispose(hit: HIT) -> None:
    money.release(hit, hit.reserved)
    hit.status = HIT.Status.DISPOSED
    hit.save(update_fields=["status"])
    events.note("HITDisposed", hit)
