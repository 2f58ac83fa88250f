"""A study at marketplaces: published after a look at the costs, then followed as it runs."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.db.models import Count, Q
from django.forms import Form
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from hits.channels.configured import names
from hits.channels.contract import Terms
from hits.models import ClaimState, Publication, Role, Study
from hits.pipeline import follow, jobs, pay
from hits.pipeline import publish as publishing
from hits.pipeline.errors import PipelineError, Refused
from hits.pipeline.estimate import estimate as estimate_of
from hits.pipeline.estimate import haste_warning
from hits.pipeline.offer import terms_of
from hits.views.access import login_required, study_of_researcher, user_of
from hits.views.channel_forms import MOST_PAGES, CloseForm, PublishForm, TopUpForm
from hits.views.claim_acts import Confirmation
from hits.views.promises import promised
from hits.views.research import recent_jobs, study_context
from hits.views.typed import number_in

PUBLICATIONS_SHOWN = 20
STRANDED_SHOWN = 10
KINDS = ("publish", "reconcile", "settle")


@dataclass(frozen=True, slots=True)
class AtChannel:
    name: str
    publications: Sequence[Publication]
    has_more: bool


@login_required
@require_safe
def channels(request: HttpRequest, slug: str) -> HttpResponse:
    study = study_of_researcher(request, slug)
    context = study_context(request, study, "channels") | {
        "channels": [_at(study, name) for name in names()],
        "short": publishing.pages_short(study),
        "raters": study.memberships.filter(role=Role.RATER).count(),
        "jobs": recent_jobs(study.jobs.filter(kind__in=KINDS)),
    }
    return render(request, "research/channels.html", context)


def _at(study: Study, name: str) -> AtChannel:
    published = study.publications.filter(channel=name).select_related("created_by")
    found = list(
        published.annotate(
            hits_all=Count("hits"),
            hits_made=Count("hits", filter=~Q(hits__state="meant")),
            hits_live=Count("hits", filter=Q(hits__state="live")),
            needs_attention=follow.needs_attention(),
        ).order_by("-pk")[: PUBLICATIONS_SHOWN + 1]
    )
    return AtChannel(name, found[:PUBLICATIONS_SHOWN], len(found) > PUBLICATIONS_SHOWN)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def publish(request: HttpRequest, slug: str, channel: str) -> HttpResponse:
    """A form, then its costs; only the second step publishes."""
    study = study_of_researcher(request, slug)
    if channel not in names() or study.state == Study.State.DRAFT:
        raise Http404
    sent = request.POST if request.method == "POST" else None
    form = PublishForm(sent, study=study, most=publishing.pages_short(study))
    context = study_context(request, study, "channels") | {"channel": channel, "form": form}
    step = request.POST.get("step", "")
    if request.method != "POST" or not form.is_valid() or step == "form":
        status = 422 if form.errors else 200
        return render(request, "research/publish.html", context, status=status)
    if step == "launch":
        return _launch(request, study, context)
    try:
        publishing.refuse_impossible(channel, _terms(form.cleaned_data))
    except Refused as refusal:
        form.add_error(None, refusal.message)
        return render(request, "research/publish.html", context, status=422)
    return _review(request, study, context)


def _review(
    request: HttpRequest,
    study: Study,
    context: dict[str, Any],
    error: str = "",
    is_silent: bool = False,
) -> HttpResponse:
    values = context["form"].cleaned_data
    terms = _terms(values)
    estimate = estimate_of(
        study=study,
        channel=context["channel"],
        reward=terms.reward,
        pages=values["pages"],
        least_wage=values["least_wage"],
        requirements=terms.requirements,
        is_silent=is_silent,
    )
    seconds = estimate.minutes and estimate.minutes * 60
    context |= {
        "estimate": estimate,
        "warnings": [
            follow.wage_warning(estimate.hourly, values["least_wage"]),
            haste_warning(study, seconds, terms.duration),
        ],
        "short": estimate.total - estimate.balance if estimate.balance is not None else None,
        "promised": promised(study, terms),
        "seen": publishing.last_publication(study),
        "error": error,
    }
    return render(request, "research/publish_review.html", context, status=422 if error else 200)


def _launch(request: HttpRequest, study: Study, context: dict[str, Any]) -> HttpResponse:
    values = context["form"].cleaned_data
    try:
        made = publishing.publish(
            study=study,
            channel=context["channel"],
            terms=_terms(values),
            pages=values["pages"],
            least_wage=values["least_wage"],
            by=user_of(request),
            seen=number_in(request.POST.get("seen", "")),
        )
    except PipelineError as refusal:
        is_silent = isinstance(refusal, publishing.Silent)
        return _review(request, study, context, refusal.message, is_silent)
    messages.success(request, f"{_being_made(values['pages'])} at {made.channel}.")
    return redirect("publication", slug=study.slug, pk=made.pk)


def _being_made(number: int, what: str = "") -> str:
    return f"1 {what}HIT is being made" if number == 1 else f"{number:,} {what}HITs are being made"


def _terms(values: dict[str, Any]) -> Terms:
    return terms_of(**{name: values[name] for name in values.keys() - {"pages", "least_wage"}})


def publication_of(request: HttpRequest, slug: str, pk: int) -> Publication:
    """The publication, with its study, if the user researches there."""
    study = study_of_researcher(request, slug)
    related = ("created_by", "compensates__account")
    found = get_object_or_404(study.publications.select_related(*related), pk=pk)
    found.study = study
    return found


@login_required
@require_safe
def publication(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    return _show(request, publication_of(request, slug, pk))


def _show(
    request: HttpRequest, found: Publication, top_up_form: TopUpForm | None = None
) -> HttpResponse:
    study = found.study
    asked = study.jobs.filter(kind__in=KINDS, arguments__publication=found.pk)
    # Asked before HITs are counted: a launch that ends in between has made them all.
    is_launching = asked.unfinished().filter(kind="publish").exists()
    followed = follow.following(found)
    most = publishing.pages_short(study)
    context = study_context(request, study, "channels") | {
        "publication": found,
        "following": followed,
        "attention": [
            (each, _link(found, each.link)) for each in follow.attention_of(followed, found.channel)
        ],
        "stranded": follow.stranded(found, STRANDED_SHOWN),
        "states": [
            {
                "state": state.value,
                "label": state.label,
                "count": followed.claims[state],
                "meaning": follow.MEANINGS[state],
            }
            for state in ClaimState
        ],
        "jobs": recent_jobs(asked),
        "is_unfinished": found.state == Publication.State.OPEN
        and followed.hits["meant"] > 0
        and not is_launching,
        "page_cost": pay.page_cost(found).page,
        "top_up_form": top_up_form or TopUpForm(most=most),
        "most": most,
        "deletable": publishing.hits_to_delete(found).count()
        if found.state == Publication.State.CLOSED
        else 0,
        "promised": promised(study, Terms.from_json(found.terms), found.compensates),
    }
    status = 422 if top_up_form else 200
    return render(request, "research/publication.html", context, status=status)


def _link(found: Publication, name: str) -> str:
    if name == "review":
        return reverse("review_desk", args=[found.study.slug])
    ledger = reverse("publication_ledger", args=[found.study.slug, found.pk])
    return f"{ledger}?state={name}" if name else ""


@login_required
@require_POST
def state(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    found = publication_of(request, slug, pk)
    wanted = request.POST.get("state", "")
    if "change" in request.POST:
        return redirect("publication", slug=slug, pk=pk)
    if wanted == Publication.State.CLOSED and "sure" not in request.POST:
        return _ask_whether_to_close(request, found)
    try:
        publishing.set_state(publication=found, state=wanted, by=user_of(request))
    except PipelineError as refusal:
        messages.error(request, refusal.message)
    else:
        messages.success(request, f"The publication is {found.get_state_display()} now.")
    return redirect("publication", slug=slug, pk=pk)


def _ask_whether_to_close(request: HttpRequest, found: Publication) -> HttpResponse:
    live = found.hits.filter(state="live").count()
    hits = "its 1 live HIT" if live == 1 else f"its {live:,} live HITs"
    confirmation = Confirmation(
        what=f"{found.channel.capitalize()} offers {hits} no longer. Whoever has accepted one "
        "may finish it and is paid. A closed publication stays closed; pause it to open it "
        "again later.",
        button="Close it for good",
        is_danger=True,
    )
    form = CloseForm(initial={"state": Publication.State.CLOSED})
    return _ask(request, found, "Close the publication", confirmation, form, "yes")


def _ask(
    request: HttpRequest,
    found: Publication,
    title: str,
    confirmation: Confirmation,
    form: Form,
    sure: str,
) -> HttpResponse:
    context = study_context(request, found.study, "channels") | {
        "act": {"title": title},
        "confirmation": confirmation,
        "form": form,
        "sure": sure,
        "back": reverse("publication", args=[found.study.slug, found.pk]),
        "back_name": f"{found.channel}, {found.created_at:%-d %b %Y, %H:%M}",
    }
    return render(request, "research/confirm.html", context)


@login_required
@require_POST
def top_up(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """How many, then what they cost; only the second step publishes them."""
    found = publication_of(request, slug, pk)
    if "change" in request.POST:
        return redirect("publication", slug=slug, pk=pk)
    is_sure = "sure" in request.POST
    most = MOST_PAGES if is_sure else publishing.pages_short(found.study)
    form = TopUpForm(request.POST, most=most)
    if not form.is_valid():
        return _show(request, found, form)
    pages = form.cleaned_data["pages"]
    if not is_sure:
        return _ask_whether_to_top_up(request, found, form, pages)
    try:
        seen = number_in(request.POST["sure"])
        more = publishing.top_up(publication=found, pages=pages, by=user_of(request), seen=seen)
    except PipelineError as refusal:
        messages.error(request, refusal.message)
    else:
        messages.success(request, f"{_being_made(more, 'more ')}.")
    return redirect("publication", slug=slug, pk=pk)


def _ask_whether_to_top_up(
    request: HttpRequest, found: Publication, form: TopUpForm, pages: int
) -> HttpResponse:
    each = pay.page_cost(found).page
    hits = "1 more HIT" if pages == 1 else f"{pages:,} more HITs"
    confirmation = Confirmation(
        what=f"{found.channel.capitalize()} offers {hits}. At ${each:,.2f} each, with the fee, "
        f"that is ${each * pages:,.2f} on top of what is promised now.",
        button=f"Publish {hits} for ${each * pages:,.2f}",
    )
    return _ask(request, found, "Publish more", confirmation, form, str(found.hits.count()))


@login_required
@require_POST
def delete(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """What it means, then the deletion."""
    found = publication_of(request, slug, pk)
    if "change" in request.POST:
        return redirect("publication", slug=slug, pk=pk)
    deletable = publishing.hits_to_delete(found).count()
    if found.state == Publication.State.CLOSED and not deletable:
        messages.info(request, "No more of its HITs can be deleted now.")
        return redirect("publication", slug=slug, pk=pk)
    if "sure" not in request.POST and found.state == Publication.State.CLOSED:
        return _ask_whether_to_delete(request, found, deletable)
    try:
        number = publishing.delete_hits(publication=found, by=user_of(request))
    except PipelineError as refusal:
        messages.error(request, refusal.message)
    else:
        verb = "is" if number == 1 else "are"
        messages.success(request, f"{_hits(number)} {verb} being deleted.")
    return redirect("publication", slug=slug, pk=pk)


def _ask_whether_to_delete(request: HttpRequest, found: Publication, number: int) -> HttpResponse:
    hits = _hits(number)
    confirmation = Confirmation(
        what=f"{found.channel.capitalize()} forgets what is over and settled: {hits}. No bonus can "
        "be paid for that work any more. HITs whose refusal can still be taken back stay. Here "
        "everything stays.",
        button=f"Delete {hits}",
        is_danger=True,
    )
    return _ask(request, found, "Delete its HITs", confirmation, Form(), "yes")


def _hits(number: int) -> str:
    return "1 HIT" if number == 1 else f"{number:,} HITs"


@login_required
@require_POST
def reconcile(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    found = publication_of(request, slug, pk)
    jobs.ask_for_one(
        kind="reconcile",
        arguments={"publication": found.pk},
        by=user_of(request),
        study=found.study,
        queue="marketplace",
    )
    messages.success(request, f"The list of {found.channel} is being read.")
    return redirect("publication", slug=slug, pk=pk)


@login_required
@require_POST
def resume(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Go on with a launch that was stopped or has failed."""
    found = publication_of(request, slug, pk)
    try:
        publishing.resume(publication=found, by=user_of(request))
    except PipelineError as refusal:
        messages.error(request, refusal.message)
    else:
        messages.success(request, "The launch goes on where it stopped.")
    return redirect("publication", slug=slug, pk=pk)
