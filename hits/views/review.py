"""The reviewer's desk: pages in doubt, the evidence, and two decisions on each."""

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from hits.models import Assignment, Flag, Role, Study, User
from hits.pipeline import doubt, evidence, review
from hits.pipeline.errors import PipelineError, Stale
from hits.pipeline.follow import deadlines
from hits.pipeline.gold_failures import found_by_study, found_in_doubt
from hits.pipeline.overview import waiting_by_study
from hits.pipeline.show import page_of
from hits.pipeline.standing import appeals_by_study
from hits.views.access import (
    REVIEWING,
    desks,
    desks_or_404,
    login_required,
    study_to_review,
    user_of,
)
from hits.views.deciding import (
    Choice,
    choices_on,
    claim_of,
    in_words,
    proposal_for,
    settled_at,
    what_happened,
)
from hits.views.queueing import Filter, around, following, signals_in
from hits.views.typed import number_in, typed

UNDO_STEPS = 50
EVENTS_A_PAGE = 50


@login_required
@require_safe
def studies(request: HttpRequest) -> HttpResponse:
    context = desks_or_404(request, "may_review")
    theirs = Study.objects.of(user_of(request), *REVIEWING).exclude(state=Study.State.DRAFT)
    found = list(theirs.select_related("corpus"))
    waiting = waiting_by_study(found)
    golds, appeals = found_by_study(found), appeals_by_study(found)
    rows = [
        (study, waiting.get(study.pk, 0), appeals.get(study.pk, 0), golds.get(study.pk, 0))
        for study in found
    ]
    rows.sort(key=lambda row: row[1:], reverse=True)
    return render(request, "review/studies.html", context | {"rows": rows})


@login_required
@require_safe
def desk(request: HttpRequest, slug: str) -> HttpResponse:
    """The first page of the queue, or word that nothing waits."""
    study = study_to_review(request, slug)
    chosen = Filter.of(request)
    first = chosen.queue(user_of(request), study).first()
    if first is not None:
        return redirect(f"{_address(first)}{chosen.query}")
    context = desks(user_of(request)) | {
        "study": study,
        "undoable": _undoable(request, study),
        "chosen": chosen,
        "golds_in_doubt": len(found_in_doubt(study)),
        "appeals": _appeals(study),
    }
    return render(request, "review/nothing_waits.html", context)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def page(request: HttpRequest, slug: str, key: UUID) -> HttpResponse:
    study, assignment = page_to_review(request, slug, key)
    if request.method == "POST":
        return _decide(request, study, assignment)
    return _show(request, study, assignment)


def page_to_review(request: HttpRequest, slug: str, key: UUID) -> tuple[Study, Assignment]:
    study = study_to_review(request, slug)
    assignment = get_object_or_404(
        Assignment.objects.select_related("study", "version"),
        study=study,
        key=key,
        state=Assignment.State.SUBMITTED,
    )
    if review.did_it(user_of(request), assignment):
        raise PermissionDenied("You did this page yourself: somebody else has to decide on it.")
    return study, assignment


@login_required
@require_safe
def replay(request: HttpRequest, slug: str, key: UUID) -> HttpResponse:
    """The page as its person saw it: wording, order and sides."""
    _, assignment = page_to_review(request, slug, key)
    context = {
        "page": page_of(assignment),
        "assignment": assignment,
        "alike": {},
        "submit_url": "",
        "is_preview": True,
        "view": "all",
        "leave_url": _address(assignment),
    }
    return render(request, "review/replay.html", context)


@login_required
@require_POST
def seen(request: HttpRequest, slug: str, key: UUID) -> HttpResponse:
    """Which questions came before the reviewer's eyes, as the desk tells while they scroll."""
    _, assignment = page_to_review(request, slug, key)
    review.look(assignment=assignment, by=user_of(request), positions=positions_in(request))
    return HttpResponse(status=204)


def positions_in(request: HttpRequest) -> list[int]:
    return [number_in(each) for each in request.POST.getlist("position")[:1000]]


@login_required
@require_POST
def undo(request: HttpRequest, slug: str) -> HttpResponse:
    """Take back this reviewer's last decision, unless somebody has decided anew since."""
    study = study_to_review(request, slug)
    steps = _undo_steps(request, study)
    meant = number_in(request.POST.get("decision", ""))
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
    return redirect(f"{_address(assignment)}{Filter.of(request).query}")


def _take_back(request: HttpRequest, assignment: Assignment, step: dict[str, Any]) -> None:
    use, payment = step["before"]
    by = user_of(request)
    try:
        now = review.take_back(assignment=assignment, by=by, seen=step["decision"])
    except Stale:
        if [assignment.use, assignment.payment] == step["before"]:
            text = f"Taken back already: the page is {in_words(use, payment)}."
            messages.info(request, text)
        else:
            text = "Somebody has decided on this page since; nothing was changed."
            messages.warning(request, text)
    except PipelineError as refusal:
        messages.warning(request, refusal.message)
    else:
        text = f"Taken back: the page is {in_words(use, payment)} again."
        if now.payment != payment:
            text = f"The use is taken back. The marketplace has {now.payment} the page: that stays."
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
    if number_in(before) > 0:
        events = events.filter(pk__lt=number_in(before))
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
    choices = choices_on(assignment, settled_at(claim_of(assignment)))
    choice = next((each for each in choices if each.name == request.POST.get("decision")), None)
    reason = typed(request.POST.get("reason", ""))
    error = _why_not(choice, reason)
    if error or choice is None:
        return _show(request, study, assignment, error=error, reason=reason)
    if not reason or reason == proposal_for(choices, assignment).reason:
        reason = choice.reason
    before, wanted = [assignment.use, assignment.payment], [choice.use, choice.payment]
    waited = assignment.waits
    try:
        review.decide(
            assignment=assignment,
            by=user_of(request),
            use=choice.use,
            payment=choice.payment,
            reason=reason,
            seen=number_in(request.POST.get("seen", "")),
        )
    except PipelineError as refusal:
        if not (isinstance(refusal, Stale) and before == wanted):
            return _show(request, study, assignment, error=refusal.message, reason=reason)
        waited = False
    if before == wanted and not waited:
        messages.info(request, "Already so; nothing changed.")
    else:
        remember(request, study, assignment, before)
        told = what_happened(assignment, before[0], choice.use, choice.payment, reason)
        messages.success(request, told)
    return go_on(request, study, assignment)


def go_on(request: HttpRequest, study: Study, assignment: Assignment) -> HttpResponse:
    """To the page that follows in the part of the queue that the reviewer works on."""
    chosen = Filter.of(request)
    after = following(chosen.queue(user_of(request), study), assignment)
    address = reverse("review_desk", args=[study.slug]) if after is None else _address(after)
    return redirect(f"{address}{chosen.query}")


def remember(request: HttpRequest, study: Study, assignment: Assignment, before: list[str]) -> None:
    steps = _undo_steps(request, study)
    decision = review.last_decision(assignment)
    steps.append({"key": str(assignment.key), "before": before, "decision": decision})
    request.session[_undo_key(study)] = steps[-UNDO_STEPS:]


def _why_not(choice: Choice | None, reason: str) -> str:
    if choice is None:
        return "Choose one of the decisions. Nothing was changed."
    if len(reason) > review.LONGEST_REASON:
        most = f"{review.LONGEST_REASON:,}"
        return f"Use at most {most} characters for the reason. Nothing was changed."
    return ""


def _show(
    request: HttpRequest, study: Study, assignment: Assignment, *, error: str = "", reason: str = ""
) -> HttpResponse:
    user, chosen = user_of(request), Filter.of(request)
    waiting = chosen.queue(user, study)
    queue = around(waiting, assignment)
    claim = claim_of(assignment)
    settled = settled_at(claim)
    choices = choices_on(assignment, settled)
    proposal = proposal_for(choices, assignment)
    answers = evidence.answers_of(assignment)
    doubted = found_in_doubt(study)
    decisions = list(evidence.decisions_on(assignment))
    context: dict[str, Any] = {
        "study": study,
        "assignment": assignment,
        "signals": _once(doubt.flags_on(assignment.pk, study.pk, assignment.person_id)),
        "golds": sorted((a for a in answers if a.is_gold), key=lambda a: not a.is_failed),
        "golds_in_doubt": len(doubted),
        "appeals": _appeals(study),
        "fails_doubted": evidence.fails_some_of(assignment, doubted),
        "others": [a for a in answers if not a.is_gold],
        "said": evidence.said_by_others(assignment),
        "page_seconds": sum(a.seconds for a in answers if a.seconds is not None) or None,
        "rater": evidence.track_record(assignment),
        "earlier": evidence.earlier_decisions(assignment),
        "events": decisions,
        "waits_again": decisions[0] if decisions and assignment.use == "pending" else None,
        "opinions": _opinions(assignment),
        "out_again": evidence.units_out_again(assignment) if assignment.use == "not_used" else 0,
        "queue": queue,
        "chosen": chosen,
        "signals_waiting": signals_in(Filter().queue(user, study), study),
        "next_images": evidence.image_urls(queue.after) if queue.after else [],
        "choices": choices,
        "proposal": proposal,
        "reason": reason or proposal.reason,
        "longest_reason": review.LONGEST_REASON,
        "seen": review.last_decision(assignment),
        "error": error,
        "undoable": _undoable(request, study),
        "claim": claim,
        "settled": settled,
        "may_decide": claim is None or bool(claim.theirs),
        "asked_by_me": assignment.second_asked_by_id == user.pk,
        "may_contact": claim is not None
        and Study.objects.of(user, Role.RESEARCHER).filter(pk=study.pk).exists(),
        "soon": _soon(user, study, assignment),
    }
    return render(request, "review/page.html", desks(user) | context, status=422 if error else 200)


def _appeals(study: Study) -> int:
    return appeals_by_study([study]).get(study.pk, 0)


def _once(flags: Iterable[Flag]) -> list[Flag]:
    """A person with one page has the same said of both."""
    return list({flag.says: flag for flag in flags}.values())


def _opinions(assignment: Assignment) -> list[Any]:
    """While one waits for a second opinion, the first is not told."""
    if assignment.second_asked_by_id is not None:
        return []
    return list(assignment.opinions.select_related("by").order_by("-pk"))


def _soon(user: User, study: Study, shown: Assignment) -> dict[str, Any]:
    """Waiting pages that approve themselves soon, and the first of them that is not shown."""
    queue = review.queue(study, user=user).filter(payment=Assignment.Payment.PENDING)
    waiting = deadlines(study).filter(assignment__in=queue.order_by())
    first = waiting.exclude(assignment=shown).select_related("assignment").first()
    return {"number": waiting.count(), "first": first.assignment} if first else {}


def _address(assignment: Assignment) -> str:
    return reverse("review_page", args=[assignment.study.slug, assignment.key])


def _undo_key(study: Study) -> str:
    return f"decided/{study.pk}"


def _undo_steps(request: HttpRequest, study: Study) -> list[dict[str, Any]]:
    return list(request.session.get(_undo_key(study), []))


def _undoable(request: HttpRequest, study: Study) -> int:
    """The decision that the next undo takes back, or 0."""
    steps = _undo_steps(request, study)
    return int(steps[-1]["decision"]) if steps else 0
