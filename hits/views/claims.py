"""The work of single workers at a marketplace, and what a researcher does about it."""

from collections.abc import Callable
from typing import Any, TypeVar
from uuid import UUID, uuid4

from django.contrib import messages
from django.db.models import Model, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.text import capfirst
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from hits.models import Claim, ClaimState, Hit, Intent, Publication
from hits.pipeline import calls, follow, pay, workers
from hits.pipeline import compensate as compensating
from hits.pipeline.errors import PipelineError
from hits.pipeline.people import excluded_because
from hits.views.access import login_required, study_of_researcher, user_of
from hits.views.channel_forms import MessageToManyForm
from hits.views.channels import publication_of
from hits.views.claim_acts import ACTS, Confirmation, Values, acts_on
from hits.views.research import study_context
from hits.views.typed import number_in

ROWS_A_PAGE = 50
UNDELIVERED = "undelivered"
Row = TypeVar("Row", bound=Model)


@login_required
@require_safe
def claims(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    publication = publication_of(request, slug, pk)
    state = request.GET.get("state", "")
    state = state if state in ClaimState.values else ""
    found = follow.claims_of(publication, state).select_related("account", "assignment")
    shown, older = _page(request, found)
    context = study_context(request, publication.study, "channels") | {
        "publication": publication,
        "claims": shown,
        "older": older,
        "state": state,
        "states": ClaimState.choices,
    }
    return render(request, "research/claims.html", context)


@login_required
@require_safe
def ledger(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    publication = publication_of(request, slug, pk)
    state = request.GET.get("state", "")
    state = state if state in {*Intent.State.values, UNDELIVERED} else ""
    found = Intent.objects.filter(publication=publication).select_related("claim__account")
    if state == UNDELIVERED:
        found = found.undelivered()
    elif state:
        found = found.filter(state=state)
    shown, older = _page(request, found)
    context = study_context(request, publication.study, "channels") | {
        "publication": publication,
        "intents": shown,
        "older": older,
        "state": state,
        "states": [*Intent.State.choices, (UNDELIVERED, "not delivered")],
    }
    return render(request, "research/ledger.html", context)


@login_required
@require_POST
def repeat_call(request: HttpRequest, slug: str, pk: int, call: int) -> HttpResponse:
    publication = publication_of(request, slug, pk)
    intent = get_object_or_404(publication.intents, pk=call)
    was_refused = intent.state == Intent.State.REFUSED
    try:
        calls.repeat(intent=intent, by=user_of(request))
    except PipelineError as refusal:
        messages.error(request, refusal.message)
    else:
        done = "The call is made again" if was_refused else "The message is sent again"
        messages.success(request, f"{done}; this page will tell how it ended.")
    return redirect("publication_ledger", slug=slug, pk=pk)


@login_required
@require_POST
def dismiss_call(request: HttpRequest, slug: str, pk: int, call: int) -> HttpResponse:
    publication = publication_of(request, slug, pk)
    try:
        calls.dismiss(intent=get_object_or_404(publication.intents, pk=call))
    except PipelineError as refusal:
        messages.error(request, refusal.message)
    else:
        messages.success(request, "The call is left as it is.")
    return redirect("publication_ledger", slug=slug, pk=pk)


def _page(request: HttpRequest, rows: QuerySet[Row]) -> tuple[list[Row], int | None]:
    """The newest rows, or those before a certain one, and where the next page begins."""
    before = request.GET.get("before", "")
    if number_in(before) > 0:
        rows = rows.filter(pk__lt=number_in(before))
    found = list(rows.order_by("-pk")[: ROWS_A_PAGE + 1])
    more = len(found) > ROWS_A_PAGE
    return found[:ROWS_A_PAGE], found[ROWS_A_PAGE - 1].pk if more else None


def _claim_of(request: HttpRequest, slug: str, pk: int) -> Claim:
    study = study_of_researcher(request, slug)
    theirs = Claim.objects.filter(hit__publication__study=study).with_state()
    related = ("account", "assignment", "hit__publication__created_by")
    found = get_object_or_404(follow.with_rival(theirs).select_related(*related), pk=pk)
    found.hit.publication.study = study
    return found


@login_required
@require_safe
def claim(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    found = _claim_of(request, slug, pk)
    publication, study = found.hit.publication, found.hit.publication.study
    this = follow.claims_of(publication).filter(pk=pk)
    compensation = Publication.objects.filter(compensates=found).first()
    context = study_context(request, study, "channels") | {
        "publication": publication,
        "claim": found,
        "meaning": capfirst(follow.MEANINGS[found.state]) + ".",
        "excluded": excluded_because(study, found.account),
        "may_pay": follow.to_pay(this).exists(),
        "may_compensate": follow.to_compensate(this).exists(),
        "compensation": compensation,
        "compensation_made": Hit.objects.filter(publication__compensates=found)
        .exclude(state=Hit.State.MEANT)
        .exists(),
        "compensation_taken": Claim.objects.filter(hit__publication__compensates=found).exists(),
        "acts": [(act, act.form(auto_id=f"{act.name}_%s")) for act in acts_on(found)],
        "intents": workers.calls_about(found)
        .select_related("claim__account")
        .order_by("-pk")[:ROWS_A_PAGE],
    }
    return render(request, "research/claim.html", context)


@login_required
@require_POST
def pay_stranded(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    found = _claim_of(request, slug, pk)
    try:
        pay.pay_stranded(claim=found, by=user_of(request))
    except PipelineError as refusal:
        messages.error(request, refusal.message)
    else:
        messages.success(request, f"{found.account.external_id} is being paid.")
    return redirect("publication", slug=slug, pk=found.hit.publication_id)


@login_required
@require_POST
def compensate(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    found = _claim_of(request, slug, pk)
    try:
        compensating.compensate(claim=found, by=user_of(request))
    except PipelineError as refusal:
        messages.error(request, refusal.message)
    else:
        worker = found.account.external_id
        messages.success(request, f"A compensation HIT for {worker} alone is being made.")
    return redirect("publication", slug=slug, pk=found.hit.publication_id)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def act(request: HttpRequest, slug: str, pk: int, name: str) -> HttpResponse:
    """A form, then what it would do in words; only the second step does it."""
    found = _claim_of(request, slug, pk)
    chosen = next((each for each in ACTS if each.name == name), None)
    if chosen is None:
        raise Http404
    form = chosen.form(request.POST) if request.method == "POST" else chosen.form()
    context = study_context(request, found.hit.publication.study, "channels") | {
        "act": chosen,
        "form": form,
        "back": reverse("claim", args=[slug, pk]),
        "back_name": f"Worker {found.account.external_id}",
    }
    return _in_two_steps(
        request,
        context,
        confirm=lambda values: chosen.confirm(found, values),
        do=lambda values, key: chosen.do(found, values, user_of(request), key),
    )


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def write(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Write to all workers of a publication, or to those whose work is in one state."""
    publication = publication_of(request, slug, pk)
    name = publication.channel
    form = MessageToManyForm(request.POST) if request.method == "POST" else MessageToManyForm()
    context = study_context(request, publication.study, "channels") | {
        "act": {
            "title": "Write to workers",
            "about": f"{name.capitalize()} delivers it to those whose work it has paid or refused.",
        },
        "form": form,
        "back": reverse("publication", args=[slug, pk]),
        "back_name": f"{name}, {publication.created_at:%-d %b %Y, %H:%M}",
    }

    def confirm(values: Values) -> Confirmation:
        accounts = follow.workers_of(publication, values["state"])
        number, reached = accounts.count(), workers.reached_now(accounts)
        to = "1 worker" if number == 1 else f"{number:,} workers"
        return Confirmation(
            what=f"{name.capitalize()} sends {to} this message{_unless_reached(reached, number)}:",
            quoted=f"{values['subject']}\n\n{values['text']}",
            button=f"Send it to {to}",
        )

    def do(values: Values, key: UUID) -> str:
        accounts = list(follow.workers_of(publication, values.pop("state")))
        workers.notify(
            publication=publication, accounts=accounts, by=user_of(request), key=key, **values
        )
        return "The messages are on their way."

    return _in_two_steps(request, context, confirm=confirm, do=do)


def _unless_reached(reached: int, number: int) -> str:
    if reached == number:
        return ""
    return (
        f". It reaches {f'{reached:,}' if reached else 'none'} of them now: no work of the others "
        "was paid or refused yet. Once some is, send it again to them from the ledger"
    )


def _in_two_steps(
    request: HttpRequest,
    context: dict[str, Any],
    *,
    confirm: Callable[[Values], Confirmation],
    do: Callable[[Values, UUID], str],
) -> HttpResponse:
    form = context["form"]
    if form.is_valid() and "change" not in request.POST:
        key = _key(request.POST.get("sure", ""))
        if key is None:
            context |= {"confirmation": confirm(form.cleaned_data), "sure": uuid4()}
            return render(request, "research/confirm.html", context)
        try:
            messages.success(request, do(dict(form.cleaned_data), key))
        except PipelineError as refusal:
            form.add_error(None, refusal.message)
        else:
            return redirect(context["back"])
    status = 422 if form.errors else 200
    return render(request, "research/act.html", context, status=status)


def _key(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None
