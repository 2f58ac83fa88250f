"""What takes more than one key on the reviewer's desk: refusing payment, asking somebody else,
and deciding on many pages."""

from decimal import Decimal, InvalidOperation
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from hits.models import Assignment, Job, Study, User
from hits.pipeline import bulk, doubt, evidence, review
from hits.pipeline.errors import PipelineError
from hits.views.access import desks, login_required, study_to_review, user_of
from hits.views.deciding import choices_on, claim_of, settled_at, what_happened
from hits.views.queueing import Filter, signals_in, with_signals
from hits.views.review import go_on, page_to_review, positions_in, remember
from hits.views.typed import number_in, typed

AT_ONCE = 4
LISTED = 200


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def refuse(request: HttpRequest, slug: str, key: UUID) -> HttpResponse:
    """First what was not seen yet, some questions at a time; then the reason, and what it costs."""
    study, assignment = page_to_review(request, slug, key)
    if request.method == "POST" and "position" in request.POST:
        review.look(assignment=assignment, by=user_of(request), positions=positions_in(request))
        return redirect(f"{request.path}{Filter.of(request).query}")
    if request.method == "POST":
        return _refuse(request, study, assignment)
    return _show_refusal(request, study, assignment)


def _refuse(request: HttpRequest, study: Study, assignment: Assignment) -> HttpResponse:
    reason = typed(request.POST.get("reason", ""))
    before = [assignment.use, assignment.payment]
    try:
        review.decide(
            assignment=assignment,
            by=user_of(request),
            use="not_used",
            payment="refused",
            reason=reason,
            seen=number_in(request.POST.get("seen", "")),
            loss=_amount(request.POST.get("loss", "")),
        )
    except PipelineError as refusal:
        return _show_refusal(request, study, assignment, error=refusal.message, reason=reason)
    remember(request, study, assignment, before)
    messages.success(request, what_happened(assignment, before[0], "not_used", "refused", reason))
    return go_on(request, study, assignment)


def _amount(text: str) -> Decimal | None:
    try:
        return Decimal(text)
    except InvalidOperation:
        return None


def _show_refusal(
    request: HttpRequest, study: Study, assignment: Assignment, *, error: str = "", reason: str = ""
) -> HttpResponse:
    user = user_of(request)
    left = review.unseen(assignment, user)
    now = [each for each in evidence.answers_of(assignment) if each.position in left[:AT_ONCE]]
    claim = claim_of(assignment)
    context: dict[str, Any] = {
        "study": study,
        "assignment": assignment,
        "chosen": Filter.of(request),
        "left": len(left),
        "questions": now,
        "loss": review.loss_of(assignment),
        "claim": claim,
        "settled": settled_at(claim),
        "seen": review.last_decision(assignment),
        "reason": reason,
        "error": error,
        "longest_reason": review.LONGEST_REASON,
    }
    status = 422 if error else 200
    return render(request, "review/refuse.html", desks(user) | context, status=status)


@login_required
@require_POST
def second(request: HttpRequest, slug: str, key: UUID) -> HttpResponse:
    """Leave a page to another reviewer."""
    study, assignment = page_to_review(request, slug, key)
    choices = choices_on(assignment, settled_at(claim_of(assignment)))
    leaning = next((c for c in choices if c.name == request.POST.get("leaning")), choices[0])
    try:
        review.ask_second(
            assignment=assignment,
            by=user_of(request),
            use=leaning.use,
            payment=leaning.payment,
            reason=typed(request.POST.get("reason", "")),
        )
    except PipelineError as refusal:
        messages.warning(request, refusal.message)
        return redirect("review_page", slug=slug, key=key)
    messages.success(request, f"Rater {assignment.person_id}’s page waits for somebody else now.")
    return go_on(request, study, assignment)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def many(request: HttpRequest, slug: str) -> HttpResponse:
    """Approve many pages, or pay and not use them, for one reason."""
    study = study_to_review(request, slug)
    user, chosen = user_of(request), Filter.of(request)
    waiting = chosen.queue(user, study)
    reason, error = typed(request.POST.get("reason", "")), ""
    if request.method == "POST":
        try:
            _ask(request, study, chosen, reason)
        except PipelineError as refusal:
            error = refusal.message
        else:
            return redirect(f"{reverse('review_many', args=[slug])}{chosen.query}")
    context: dict[str, Any] = {
        "study": study,
        "chosen": chosen,
        "total": waiting.count(),
        "listed": with_signals(list(waiting[:LISTED])),
        "signals_waiting": signals_in(Filter().queue(user, study), study),
        "jobs": _decided(study, user),
        "reason": reason,
        "error": error,
        "longest_reason": review.LONGEST_REASON,
    }
    return render(request, "review/many.html", desks(user) | context, status=422 if error else 200)


def _decided(study: Study, user: User) -> list[dict[str, Any]]:
    """The last decisions on many pages, and whether this reviewer can take each back."""
    undone = {each.arguments["job"]: each for each in bulk.undoing(study.pk)}
    asked = study.jobs.filter(kind=bulk.KIND).select_related("asked_by").order_by("-pk")[:5]
    return [_with_what_goes_on(job, undone.get(job.pk), user) for job in asked]


def _with_what_goes_on(job: Job, undone: Job | None, user: User) -> dict[str, Any]:
    mine = job.asked_by_id == user.pk
    now = undone or job
    return {
        "job": job,
        "undone": undone,
        "running": now if mine and not now.is_finished else None,
        "may_undo": mine and undone is None and job.is_finished,
    }


@login_required
@require_POST
def many_back(request: HttpRequest, slug: str, job: int) -> HttpResponse:
    """Take back what one decided on many pages at once."""
    study = study_to_review(request, slug)
    decided = get_object_or_404(study.jobs, kind=bulk.KIND, pk=job)
    try:
        bulk.ask_back(job=decided, by=user_of(request))
    except PipelineError as refusal:
        messages.warning(request, refusal.message)
    else:
        messages.success(request, "The decisions are being taken back.")
    return redirect("review_many", slug=slug)


def _ask(request: HttpRequest, study: Study, chosen: Filter, reason: str) -> None:
    waiting = chosen.queue(user_of(request), study)
    everything = request.POST.get("which") == "all"
    if not everything:
        keys = [key for key in request.POST.getlist("page") if _is_key(key)]
        waiting = waiting.filter(key__in=keys)
    pages = list(waiting.values_list("pk", flat=True)[: bulk.MOST + 1])
    job = bulk.ask(
        study=study,
        by=user_of(request),
        pages=pages,
        use=request.POST.get("use", ""),
        reason=reason,
        seen=number_in(request.POST.get("total", "")) if everything else None,
    )
    count = len(job.arguments["pages"])
    messages.success(request, f"{count:,} page{' is' if count == 1 else 's are'} being decided on.")


def _is_key(text: str) -> bool:
    try:
        UUID(text)
    except ValueError:
        return False
    return True


@login_required
@require_POST
def read_signals(request: HttpRequest, slug: str) -> HttpResponse:
    """Compute the signals now, over all that has come in."""
    study = study_to_review(request, slug)
    doubt.ask(study=study, by=user_of(request))
    messages.success(request, "The signals are being computed; look again in a moment.")
    return redirect("review_desk", slug=slug)
