"""Check: the golds of submitted pages, by rule; what fails waits for a person."""

from django.db import transaction
from django.utils import timezone

from hits.models import Assignment, Slot
from hits.pipeline.review import record
from hits.protocol import protocol

PASSED = "All golds answered as expected."
NO_GOLDS = "No gold was left for this person."


def check_submitted(limit: int = 200) -> int:
    """Check the pages that wait for it; safe to run in many processes at once."""
    waiting = Assignment.objects.filter(state="submitted", checked_at__isnull=True)
    checked = 0
    for pk in list(waiting.order_by("submitted_at").values_list("pk", flat=True)[:limit]):
        with transaction.atomic():
            assignment = (
                waiting.select_related("study")
                .select_for_update(no_key=True, skip_locked=True, of=("self",))
                .filter(pk=pk)
                .first()
            )
            if assignment is not None:
                _check(assignment)
                checked += 1
    return checked


def _check(assignment: Assignment) -> None:
    kind = protocol(assignment.study.protocol)
    golds = list(
        Slot.objects.filter(assignment=assignment, unit__gold__isnull=False).values_list(
            "judgment__answer", "unit__gold"
        )
    )
    answered = [(answer, gold) for answer, gold in golds if answer is not None and gold]
    failed = sum(not kind.check(answer, gold) for answer, gold in answered)
    Assignment.objects.filter(pk=assignment.pk).update(
        checked_at=timezone.now(), golds_shown=len(answered), golds_failed=failed
    )
    if not failed and assignment.use == Assignment.Use.PENDING:
        reason = PASSED if answered else NO_GOLDS
        record(assignment, use="used", payment="approved", reason=reason, by=None)
