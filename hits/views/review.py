"""The reviewer's desk: pages that failed golds, the evidence, and two decisions on each."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from hits.models import Account, Assignment, Claim, Role, Study, User
from hits.pipeline import evidence, review
from hits.pipeline.errors import PipelineError, Stale
from hits.pipeline.follow import deadlines
from hits.pipeline.overview import waiting_by_study
from hits.pipeline.pay import payment_there
from hits.views.access import (
    REVIEWING,
    desks,
    desks_or_404,
    login_required,
    study_to_review,
    user_of,
)

LISTED = 50
UNDO_STEPS = 50
EVENTS_A_PAGE = 50


@dataclass(frozen=True, slots=True)
class Choice:
    """One way to decide on a page, with the reason that is written down if nobody edits it."""

    name: str
    use: str
    payment: str
    label: str
    key: str
    reason: str


@dataclass(frozen=True, slots=True)
class Queue:
    """The part of the queue around one page, and its neighbours for j and k."""

    listed: list[Assignment]
    total: int
    position: int | None
    before: Assignment | None
    after: Assignment | None
    earlier: Assignment | None
    later: Assignment | None


@login_required
@require_safe
def studies(request: HttpRequest) -> HttpResponse:
    context = desks_or_404(request, "may_review")
    theirs = Study.objects.of(user_of(request), *REVIEWING).exclude(state=Study.State.DRAFT)
    found = list(theirs.select_related("corpus"))
    waiting = waiting_by_study(found)
    rows = [(study, waiting.get(study.pk, 0)) for study in found]
    rows.sort(key=lambda row: -row[1])
    return render(request, "review/studies.html", context | {"rows": rows})


@login_required
@require_safe
def desk(request: HttpRequest, slug: str) -> HttpResponse:
    """The first page of the queue, or word that nothing waits."""
    study = study_to_review(request, slug)
    first = _queue_for(user_of(request), study).first()
    if first is not None:
        return redirect("review_page", slug=slug, key=first.key)
    context = desks(user_of(request)) | {
        "study": study,
        "undoable": _undoable(request, study),
    }
    return render(request, "review/nothing_waits.html", context)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def page(request: HttpRequest, slug: str, key: UUID) -> HttpResponse:
    study = study_to_review(request, slug)
    assignment = get_object_or_404(
        Assignment.objects.select_related("study", "version"),
        study=study,
        key=key,
        state=Assignment.State.SUBMITTED,
    )
    if review.did_it(user_of(request), assignment):
        raise PermissionDenied("You did this page yourself: somebody else has to decide on it.")
    if request.method == "POST":
        return _decide(request, study, assignment)
    return _show(request, study, assignment)


@login_required
@require_POST
def undo(request: HttpRequest, slug: str) -> HttpResponse:
    """Take back this reviewer's last decision, unless somebody has decided anew since."""
    study = study_to_review(request, slug)
    steps = _undo_steps(request, study)
    meant = _number(request.POST.get("decision", ""))
    if meant > 0 and meant not in [step["decision"] for step in steps]:
        messages.info(request, "You took that decision back already; nothing more was changed.")
        return redirect("review_desk", slug=slug)
    if not steps:
        messages.warning(request, "There is no decision of yours to take back here.")
        return redirect("review_desk", slug=slug)
    step = steps.pop()
    request.session[_undo_key(study)] = steps
    assignment = get_object_or_404(study.assignments, key=step["key"])
    _take_back(request, assignment, step)
    return redirect("review_page", slug=slug, key=assignment.key)


def _take_back(request: HttpRequest, assignment: Assignment, step: dict[str, Any]) -> None:
    """What a marketplace has paid or refused stays; the use is taken back all the same."""
    use, payment = step["before"]
    settled = _settled(_claim(assignment))
    try:
        review.decide(
            assignment=assignment,
            by=user_of(request),
            use=use,
            payment=settled or payment,
            reason="The reviewer took the decision back.",
            seen=step["decision"],
        )
    except Stale:
        if [assignment.use, assignment.payment] == step["before"]:
            text = f"Taken back already: the page is {_in_words(use, payment)}."
            messages.info(request, text)
        else:
            text = "Somebody has decided on this page since; nothing was changed."
            messages.warning(request, text)
    except PipelineError as refusal:
        messages.warning(request, refusal.message)
    else:
        text = f"Taken back: the page is {_in_words(use, payment)} again."
        if settled and settled != payment:
            text = f"The use is taken back. The marketplace has {settled} the page: that stays."
        messages.success(request, text)


@login_required
@require_safe
def decided(request: HttpRequest, slug: str) -> HttpResponse:
    study = study_to_review(request, slug)
    use = request.GET.get("use", "")
    use = use if use in Assignment.Use.values else ""
    by_rule = request.GET.get("by") == "all"
    events = evidence.decisions_in(study, use=use, by_rule=by_rule)
    before = request.GET.get("before", "")
    if _number(before) > 0:
        events = events.filter(pk__lt=_number(before))
    found = list(events[: EVENTS_A_PAGE + 1])
    context = desks(user_of(request)) | {
        "study": study,
        "events": found[:EVENTS_A_PAGE],
        "older": found[EVENTS_A_PAGE - 1].pk if len(found) > EVENTS_A_PAGE else None,
        "use": use,
        "by": "all" if by_rule else "",
    }
    return render(request, "review/decided.html", context)


def _decide(request: HttpRequest, study: Study, assignment: Assignment) -> HttpResponse:
    choices = _choices(assignment, _settled(_claim(assignment)))
    choice = next((each for each in choices if each.name == request.POST.get("decision")), None)
    reason = _typed(request.POST.get("reason", ""))
    error = _why_not(choice, reason)
    if error or choice is None:
        return _show(request, study, assignment, error=error, reason=reason)
    if not reason or reason == _proposal(choices, assignment).reason:
        reason = choice.reason
    before, wanted = [assignment.use, assignment.payment], [choice.use, choice.payment]
    try:
        review.decide(
            assignment=assignment,
            by=user_of(request),
            use=choice.use,
            payment=choice.payment,
            reason=reason,
            seen=_number(request.POST.get("seen", "")),
        )
    except PipelineError as refusal:
        if not (isinstance(refusal, Stale) and before == wanted):
            return _show(request, study, assignment, error=refusal.message, reason=reason)
    if before == wanted:
        messages.info(request, "Already so; nothing changed.")
    else:
        _remember(request, study, assignment, before)
        messages.success(request, _what_happened(assignment, choice, reason))
    following = _after(_queue_for(user_of(request), study), assignment)
    if following is None:
        return redirect("review_desk", slug=study.slug)
    return redirect("review_page", slug=study.slug, key=following.key)


def _remember(
    request: HttpRequest, study: Study, assignment: Assignment, before: list[str]
) -> None:
    steps = _undo_steps(request, study)
    decision = review.last_decision(assignment)
    steps.append({"key": str(assignment.key), "before": before, "decision": decision})
    request.session[_undo_key(study)] = steps[-UNDO_STEPS:]


def _why_not(choice: Choice | None, reason: str) -> str:
    if choice is None:
        return "Choose one of the decisions. Nothing was changed."
    if choice.name == "refuse" and not reason:
        return "To refuse payment, write down why. Nothing was changed."
    if len(reason) > review.LONGEST_REASON:
        most = f"{review.LONGEST_REASON:,}"
        return f"Use at most {most} characters for the reason. Nothing was changed."
    return ""


def _typed(text: str) -> str:
    """As it was counted while it was typed; PostgreSQL takes no NUL."""
    return text.replace("\0", "").replace("\r\n", "\n").strip()


def _show(
    request: HttpRequest, study: Study, assignment: Assignment, *, error: str = "", reason: str = ""
) -> HttpResponse:
    user = user_of(request)
    answers = evidence.answers_of(assignment)
    claim = _claim(assignment)
    settled = _settled(claim)
    choices = _choices(assignment, settled)
    proposal = _proposal(choices, assignment)
    queue = _queue_around(_queue_for(user, study), assignment)
    refusing = request.POST.get("decision") == "refuse"
    context: dict[str, Any] = {
        "study": study,
        "assignment": assignment,
        "golds": sorted((a for a in answers if a.is_gold), key=lambda a: not a.is_failed),
        "others": [a for a in answers if not a.is_gold],
        "page_seconds": sum(a.seconds for a in answers if a.seconds is not None) or None,
        "rater": evidence.track_record(assignment),
        "earlier": evidence.earlier_decisions(assignment),
        "events": evidence.decisions_on(assignment),
        "out_again": evidence.units_out_again(assignment) if assignment.use == "not_used" else 0,
        "queue": queue,
        "next_images": evidence.image_urls(queue.after) if queue.after else [],
        "choices": [choice for choice in choices if choice.name != "refuse"],
        "proposal": proposal,
        "reason": reason if reason and not refusing else proposal.reason,
        "refusal": reason if refusing else "",
        "longest_reason": review.LONGEST_REASON,
        "seen": review.last_decision(assignment),
        "error": error,
        "refusing": refusing,
        "undoable": _undoable(request, study),
        "claim": claim,
        "settled": settled,
        "may_decide": claim is None or bool(claim.theirs),
        "may_refuse": not settled,
        "may_contact": claim is not None
        and Study.objects.of(user, Role.RESEARCHER).filter(pk=study.pk).exists(),
        "soon": _soon(user, study, assignment),
    }
    return render(request, "review/page.html", desks(user) | context, status=422 if error else 200)


def _claim(assignment: Assignment) -> Claim | None:
    """What a marketplace knows of the page; nothing where a rater of the house did it."""
    claims = Claim.objects.filter(assignment=assignment)
    return claims.select_related("hit__publication").first()


def _settled(claim: Claim | None) -> str:
    return payment_there(claim) if claim is not None and claim.theirs else ""


def _soon(user: User, study: Study, shown: Assignment) -> dict[str, Any]:
    """Waiting pages that approve themselves soon, and the first of them that is not shown."""
    waiting = deadlines(study).filter(assignment__in=_queue_for(user, study).order_by())
    first = waiting.exclude(assignment=shown).select_related("assignment").first()
    return {"number": waiting.count(), "first": first.assignment} if first else {}


def _choices(assignment: Assignment, settled: str) -> list[Choice]:
    # The rater may read it: how many golds a page has is not told.
    failed = assignment.golds_failed
    found = "Some answers were not as expected" if failed else "No answer was found to be wrong"
    looked_at = f"{found}. Looked at by a reviewer: the judgments are used."
    if settled:
        unused = f"{found}. The judgments are not used."
        return [
            Choice("pay", "not_used", settled, "Do not use", "1", unused),
            Choice("use", "used", settled, "Use", "2", looked_at),
        ]
    return [
        Choice(
            "pay", "not_used", "approved", "Pay, do not use", "1",
            f"{found}. The work is paid; its judgments are not used.",
        ),
        Choice("use", "used", "approved", "Pay and use", "2", looked_at),
        Choice("refuse", "not_used", "refused", "Refuse payment, do not use", "3", ""),
    ]  # fmt: skip


def _proposal(choices: list[Choice], assignment: Assignment) -> Choice:
    """The fair one: work that failed golds is paid all the same, only not used."""
    return choices[0] if assignment.golds_failed else choices[1]


def _queue_for(user: User, study: Study) -> QuerySet[Assignment]:
    """The queue without the reviewer's own pages."""
    own = Account.objects.filter(user=user).values("person")
    return review.queue(study).exclude(person__in=own).select_related("study", "claim", "account")


def _before_it(assignment: Assignment) -> Q:
    failed, submitted = assignment.golds_failed, assignment.submitted_at
    return (
        Q(golds_failed__gt=failed)
        | Q(golds_failed=failed, submitted_at__lt=submitted)
        | Q(golds_failed=failed, submitted_at=submitted, pk__lt=assignment.pk)
    )


def _after(queue: QuerySet[Assignment], assignment: Assignment) -> Assignment | None:
    """The page that follows in the order of the queue, or its first when none does."""
    if assignment.golds_failed is None:
        return queue.first()
    later = queue.exclude(_before_it(assignment)).exclude(pk=assignment.pk)
    return later.first() or queue.exclude(pk=assignment.pk).first()


def _queue_around(queue: QuerySet[Assignment], assignment: Assignment) -> Queue:
    total = queue.count()
    waits = assignment.use == Assignment.Use.PENDING and assignment.golds_failed is not None
    position = queue.filter(_before_it(assignment)).count() if waits else 0
    start = position // LISTED * LISTED
    window = list(queue[max(start - 1, 0) : start + LISTED + 1])
    listed = window[1 if start else 0 :][:LISTED]
    index = next((i for i, each in enumerate(window) if each.pk == assignment.pk), None)
    if index is None:
        return Queue(listed, total, None, None, window[0] if window else None, None, None)
    return Queue(
        listed=listed,
        total=total,
        position=position + 1,
        before=window[index - 1] if index else None,
        after=window[index + 1] if index + 1 < len(window) else None,
        earlier=window[0] if start else None,
        later=window[-1] if start + LISTED < total else None,
    )


def _number(text: str) -> int:
    return int(text) if text.isdecimal() and len(text) < 19 else -1


def _undo_key(study: Study) -> str:
    return f"decided/{study.pk}"


def _undo_steps(request: HttpRequest, study: Study) -> list[dict[str, Any]]:
    return list(request.session.get(_undo_key(study), []))


def _undoable(request: HttpRequest, study: Study) -> int:
    """The decision that the next undo takes back, or 0."""
    steps = _undo_steps(request, study)
    return int(steps[-1]["decision"]) if steps else 0


def _in_words(use: str, payment: str) -> str:
    if use == Assignment.Use.PENDING:
        return "waiting"
    paid = "paid" if payment == Assignment.Payment.APPROVED else "not paid"
    return f"{paid} and {'used' if use == Assignment.Use.USED else 'not used'}"


def _what_happened(assignment: Assignment, choice: Choice, reason: str) -> str:
    text = f"Rater {assignment.person_id}: {_in_words(choice.use, choice.payment)}."
    if choice.use == Assignment.Use.NOT_USED:
        count = evidence.units_out_again(assignment)
        text += f" {count} unit{'' if count == 1 else 's'} went out again."
    return f"{text} Written down: “{reason}”"
