"""Check: the golds of submitted pages, by rule; what fails waits for a person."""

from django.db import transaction
from django.db.models import Exists, OuterRef
from django.utils import timezone

from hits.analysis.signals.settings import QualitySettings
from hits.models import Assignment, Claim, Slot, Study
from hits.pipeline.doubt import note
from hits.pipeline.review import record
from hits.pipeline.terms import measure
from hits.protocol import protocol

PASSED = "All golds answered as expected."
NO_GOLDS = "No gold was left for this person."
TRAINED = "Training, which is paid whatever was answered."
# A page on which more than this share could not be judged is looked at by a person.
MOST_UNANSWERED = 0.25


def check_submitted(limit: int = 200, study: Study | None = None) -> int:
    """Check the pages that wait for it, of one study or of all; safe to run in many processes at
    once. Pages from a marketplace wait until it has confirmed them."""
    unconfirmed = Claim.objects.filter(assignment=OuterRef("pk"), theirs="")
    waiting = Assignment.objects.filter(
        ~Exists(unconfirmed), state="submitted", checked_at__isnull=True
    )
    if study is not None:
        waiting = waiting.filter(study=study)
    checked = 0
    studies = set()
    for pk in list(waiting.order_by("submitted_at").values_list("pk", flat=True)[:limit]):
        with transaction.atomic():
            assignment = (
                waiting.select_related("study", "version")
                .select_for_update(no_key=True, skip_locked=True, of=("self",))
                .filter(pk=pk)
                .first()
            )
            if assignment is not None:
                _check(assignment)
                checked += 1
                studies.add(assignment.study_id)
    measure(studies)
    note(studies)
    return checked


def check_again(assignment: Assignment) -> int:
    """A page whose golds have changed, and how many it fails now. The caller holds its lock."""
    _check(assignment)
    return Assignment.objects.values_list("golds_failed", flat=True).get(pk=assignment.pk) or 0


def _check(assignment: Assignment) -> None:
    kind = protocol(assignment.study.protocol)
    slots = list(
        Slot.objects.filter(assignment=assignment).values_list(
            "judgment__answer", "unit__gold", "unit__excluded"
        )
    )
    golds = [(answer, gold) for answer, gold, retired in slots if gold is not None and not retired]
    failed = sum(answer is None or not kind.check(answer, gold) for answer, gold in golds)
    unanswered = sum(answer is None for answer, *_ in slots)
    raises = QualitySettings.model_validate(assignment.version.quality).page_golds
    Assignment.objects.filter(pk=assignment.pk).update(
        checked_at=timezone.now(),
        golds_shown=len(golds),
        golds_failed=failed,
        doubt=failed / raises if raises and not assignment.is_training else 0,
    )
    if assignment.is_training:
        reason = TRAINED
    elif failed or unanswered > len(slots) * MOST_UNANSWERED:
        return
    else:
        reason = PASSED if golds else NO_GOLDS
    if assignment.use == Assignment.Use.PENDING:
        record(assignment, use="used", payment="approved", reason=reason, by=None)
