"""Bulk: many pages decided on, each by a decision of its own. Payment is never refused so."""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet

from hits.models import Assignment, Flag, Job, Study, User
from hits.pipeline import jobs, review
from hits.pipeline.doubt import note
from hits.pipeline.errors import Closed, NotAllowed, PipelineError, Refused

KIND = "decide"
BACK = "take_back"
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


def decide_many(*, job: Job, tell: Callable[..., None]) -> dict[str, Any]:
    """Decide on what still waits. Pages that were decided on meanwhile, by this job before it was
    killed or by somebody else, are left alone."""
    by = User.objects.get(pk=job.arguments["by"])
    try:
        return _each(job.arguments["pages"], lambda pk: _decide(pk, by, job), "decided", tell)
    finally:
        note([job.study_id] if job.study_id else [])


def _each(
    pages: Sequence[int], act: Callable[[int], None], word: str, tell: Callable[..., None]
) -> dict[str, Any]:
    """Page by page, so that a job that was killed goes on with the rest."""
    done = 0
    left: Counter[str] = Counter()
    for number, pk in enumerate(pages, 1):
        try:
            act(pk)
        except PipelineError as refusal:
            left[refusal.message] += 1
        else:
            done += 1
        tell(number, len(pages))
    text = f"{done:,} {word}, {left.total():,} left as they were."
    tell(len(pages), message=" ".join([text, *left]))
    return {word.replace(" ", "_"): done, "left": dict(left)}


def ask_back(*, job: Job, by: User) -> Job:
    """Take back what one decided on many pages at once; a job does it."""
    if job.asked_by_id != by.pk:
        raise NotAllowed("Only who decided takes it back.")
    if job.state in {Job.State.QUEUED, Job.State.RUNNING}:
        raise Closed("The pages are still being decided on. Wait, or cancel that first.")
    if undoing(job.study_id).filter(arguments__job=job.pk).exists():
        raise Closed("This was taken back already.")
    return jobs.ask(kind=BACK, arguments={"by": by.pk, "job": job.pk}, by=by, study=job.study)


def undoing(study_id: int | None) -> QuerySet[Job]:
    """What takes decisions on many pages back, or has done so."""
    ended = [Job.State.FAILED, Job.State.CANCELLED]
    return Job.objects.filter(kind=BACK, study=study_id).exclude(state__in=ended)


def take_back_many(*, by: User, job: Job, tell: Callable[..., None]) -> dict[str, Any]:
    """Undo the decisions of a job. Pages that were decided on since, by somebody or by this before
    it was killed, are left alone."""
    return _each(job.arguments["pages"], lambda pk: _take_back(pk, by, job), "taken back", tell)


@transaction.atomic
def _take_back(pk: int, by: User, job: Job) -> None:
    page = Assignment.objects.select_for_update(no_key=True).get(pk=pk)
    newest = page.decisions.order_by("-pk").first()
    if newest is None or newest.job_id != job.pk:
        raise Closed("Decided on by other means.")
    review.take_back(assignment=page, by=by, seen=newest.pk)


@transaction.atomic
def _decide(pk: int, by: User, job: Job) -> None:
    page = Assignment.objects.select_for_update(no_key=True).filter(pk=pk, waits=True).first()
    if page is None:
        raise Closed("Decided on already.")
    if page.payment == Assignment.Payment.REFUSED:
        raise Closed("Payment was refused: decide on such a page by itself.")
    review.decide(
        assignment=page,
        by=by,
        use=job.arguments["use"],
        payment="approved",
        reason=job.arguments["reason"],
        job=job,
    )
