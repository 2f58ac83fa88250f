"""Bulk: many pages decided on, each by a decision of its own. Payment is never refused so."""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet

from hits.models import Assignment, Flag, Job, Study, User
from hits.pipeline import jobs, review
from hits.pipeline.errors import Closed, PipelineError, Refused

KIND = "decide"
MOST = 20_000


def matching(
    study: Study, *, user: User, signal: str = "", person: int | None = None
) -> QuerySet[Assignment]:
    """The part of a reviewer's queue with one signal, or of one person."""
    waiting = review.queue(study, user=user)
    if signal:
        raised = Flag.objects.filter(study=study, signal=signal)
        waiting = waiting.filter(
            Exists(raised.filter(assignment=OuterRef("pk")))
            | Exists(raised.filter(assignment=None, person=OuterRef("person")))
        )
    return waiting.filter(person=person) if person is not None else waiting


def ask(
    *, study: Study, by: User, pages: Sequence[int], use: str, reason: str, seen: int | None = None
) -> Job:
    """Approve these pages of the queue, or pay and not use them; a job does it.

    With `seen`, how many there were to see, others than those stop it."""
    if use not in {Assignment.Use.USED, Assignment.Use.NOT_USED}:
        raise Refused("Many pages at once are used or not used; payment is refused one by one.")
    review.refuse_reason(reason)
    if not pages:
        raise Refused("Choose at least one page.")
    if len(pages) > MOST:
        raise Refused(f"At most {MOST:,} pages are decided on at once.")
    if seen is not None and seen != len(pages):
        raise Closed(f"There are {len(pages):,} such pages now, not {seen:,}. Look again first.")
    return jobs.ask(
        kind=KIND,
        arguments={"by": by.pk, "pages": list(pages), "use": use, "reason": reason.strip()},
        by=by,
        study=study,
    )


def decide_many(
    *, by: User, pages: Sequence[int], use: str, reason: str, tell: Callable[..., None]
) -> dict[str, Any]:
    """Decide on what still waits. Pages that were decided on meanwhile, by this job before it was
    killed or by somebody else, are left alone."""
    decided = 0
    left: Counter[str] = Counter()
    for number, pk in enumerate(pages, 1):
        try:
            _decide(pk, by, use, reason)
        except PipelineError as refusal:
            left[refusal.message] += 1
        else:
            decided += 1
        tell(number, len(pages))
    text = f"{decided:,} decided, {left.total():,} left as they were."
    tell(len(pages), message=" ".join([text, *left]))
    return {"decided": decided, "left": dict(left)}


@transaction.atomic
def _decide(pk: int, by: User, use: str, reason: str) -> None:
    page = Assignment.objects.select_for_update(no_key=True).filter(pk=pk, waits=True).first()
    if page is None:
        raise Closed("Decided on already.")
    if page.payment == Assignment.Payment.REFUSED:
        raise Closed("Payment was refused: decide on such a page by itself.")
    review.decide(assignment=page, by=by, use=use, payment="approved", reason=reason)
