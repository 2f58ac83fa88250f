"""People of a study for its reviewers: their work, their record, and what was said."""

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from hits.models import Account, Assignment, Flag, PersonEvent, Role, Study
from hits.pipeline import gold_doubt, letters, standing
from hits.pipeline.errors import PipelineError
from hits.pipeline.gold_failures import gold_failures
from hits.views.access import desks, login_required, study_to_review, user_of
from hits.views.typed import number_in, typed

SHOWN = 2_000
PAGES_SHOWN = 100
OFTEN_SHOWN = 20
LARGEST_ID = 2**63 - 1


@login_required
@require_safe
def people(request: HttpRequest, slug: str) -> HttpResponse:
    study = study_to_review(request, slug)
    context = desks(user_of(request)) | {
        "study": study,
        "records": standing.records_of(study, limit=SHOWN),
        "most_shown": SHOWN,
        "appeals": standing.open_appeals(study),
        "may_report": _researches(request, study),
    }
    return render(request, "review/people.html", context)


def _researches(request: HttpRequest, study: Study) -> bool:
    return Study.objects.of(user_of(request), Role.RESEARCHER).filter(pk=study.pk).exists()


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def person(request: HttpRequest, slug: str, person: int) -> HttpResponse:
    study = study_to_review(request, slug)
    record = standing.record_of(study, person) if person <= LARGEST_ID else None
    if record is None:
        raise Http404
    error, text = "", typed(request.POST.get("text", ""))
    if request.method == "POST":
        kind = request.POST.get("kind", "")
        try:
            standing.act(study=study, person=person, kind=kind, text=text, by=user_of(request))
        except PipelineError as refusal:
            error = refusal.message
        else:
            messages.success(request, f"Written down for rater {person}.")
            return redirect("review_person", slug=slug, person=person)
    pages = Assignment.objects.filter(study=study, person=person, state="submitted")
    account = standing.account_in(study, person)
    context: dict[str, Any] = desks(user_of(request)) | {
        "study": study,
        "record": record,
        "rolling": standing.rolling(study, person),
        "signals": Flag.objects.filter(study=study, person=person, assignment=None).order_by(
            "-doubt"
        ),
        "pages": pages.order_by("-submitted_at")[:PAGES_SHOWN],
        "events": standing.events_of(study, person),
        "is_you": Account.objects.filter(user=user_of(request), person=person).exists(),
        "is_in_house": account.user_id is not None,
        "reached_at": letters.channels_reaching(study, person),
        "trains": bool(study.version and study.version.training_units),
        "error": error,
        "text": text,
    }
    status = 422 if error else 200
    return render(request, "review/person.html", context, status=status)


@login_required
@require_POST
def answer_appeal(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    study = study_to_review(request, slug)
    appealed = get_object_or_404(PersonEvent, study=study, pk=pk, kind=PersonEvent.Kind.APPEAL)
    try:
        standing.answer(
            appealed=appealed, text=typed(request.POST.get("text", "")), by=user_of(request)
        )
    except PipelineError as refusal:
        messages.warning(request, refusal.message)
    else:
        messages.success(request, "Answered; the rater reads it on their page.")
    number = appealed.person.same_as_id or appealed.person_id
    return redirect("review_person", slug=slug, person=number)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def golds(request: HttpRequest, slug: str) -> HttpResponse:
    """Golds that good people fail, each to be kept or retired."""
    study = study_to_review(request, slug)
    error = ""
    if request.method == "POST":
        number = number_in(request.POST.get("gold", ""))
        unit = get_object_or_404(study.units, gold__isnull=False, pk=number)
        try:
            made = gold_doubt.decide(
                study=study,
                unit=unit,
                value=request.POST.get("value", ""),
                reason=typed(request.POST.get("reason", "")),
                by=user_of(request),
            )
        except PipelineError as refusal:
            error = refusal.message
        else:
            retired = "; pages that failed it are checked again" if made.value == "retired" else ""
            messages.success(request, f"The gold is {made.value}{retired}.")
            return redirect("review_golds", slug=slug)
    failures = gold_failures(study)
    context = desks(user_of(request)) | {
        "study": study,
        "golds": gold_doubt.described(study, failures.in_doubt),
        "often": gold_doubt.described(study, failures.often[:OFTEN_SHOWN]),
        "number_often": len(failures.often),
        "decisions": gold_doubt.decisions_on_golds(study)[:50],
        "error": error,
    }
    return render(request, "review/golds.html", context, status=422 if error else 200)
