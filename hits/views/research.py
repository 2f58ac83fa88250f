"""The researcher's desk: studies and how they stand, first results, jobs."""

from collections.abc import Collection, Iterable, Sequence
from typing import Any

from defusedcsv import csv
from django.contrib import messages
from django.db.models import Count, Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from hits.models import Job, Proposal, Publication, Role, Study
from hits.pipeline import arrange, bulk, chain, jobs, report, visible
from hits.pipeline.attention import attention_in, needs_by_study
from hits.pipeline.clone import pilot_times
from hits.pipeline.errors import PipelineError, Taken
from hits.pipeline.evidence import reported
from hits.pipeline.open import create_study, refuse_without_source, set_state
from hits.pipeline.outcomes import outcomes_so_far
from hits.pipeline.overview import Progress, overview_of, progress_by_study
from hits.pipeline.publish import on_offer
from hits.pipeline.rules import rules_of
from hits.pipeline.runs import run_with
from hits.pipeline.tally import results_of
from hits.procedures import by_paper, procedures
from hits.protocol import Source, protocol
from hits.templatetags.figures import pace
from hits.views.access import (
    desks,
    desks_or_404,
    login_required,
    may_create,
    study_of_researcher,
    user_of,
)
from hits.views.research_forms import NewStudyForm, WageForm
from hits.views.typed import number_in
from hits.views.version_form import as_in_paper

JOBS_SHOWN = 5
PROBLEMS_SHOWN = 100
_MORE = ("judgments_wanted", "pay", "expected_minutes", "split", "seed")
_ORDER = ["open", "draft", "paused", "closed"]


@login_required
@require_safe
def home(request: HttpRequest) -> HttpResponse:
    context = desks_or_404(request, "may_research")
    user = user_of(request)
    studies = list(Study.objects.of(user, Role.RESEARCHER).select_related("corpus", "version"))
    needs = needs_by_study(studies)
    progress = progress_by_study(studies)
    standing = [(study, progress[study.pk], needs.get(study.pk, [])) for study in studies]
    context |= {
        "rows": sorted(standing, key=_what_needs_somebody_first),
        "corpora": visible.corpora(user).select_related("owner"),
        "may_create": may_create(user),
    }
    return render(request, "research/home.html", context)


def _what_needs_somebody_first(row: tuple[Study, Progress, list[Any]]) -> tuple[bool, int, str]:
    found, _, needs = row
    return not needs, _ORDER.index(found.state), found.name


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def new_study(request: HttpRequest) -> HttpResponse:
    user = user_of(request)
    if not may_create(user):
        raise Http404
    corpora = visible.corpora(user)
    form = NewStudyForm(request.POST or None, corpora=corpora)
    if request.method == "POST" and form.is_valid():
        try:
            made = create_study(by=user, **form.cleaned_data)
        except Taken as refusal:
            form.add_error("slug", refusal.message)
        else:
            messages.success(request, f"The study is a draft. {_next_step(request)}")
            return redirect("study", slug=made.slug)
    context = desks(user) | {
        "form": form,
        "papers": list(by_paper()),
        "chosen": form["procedure"].value() or next(iter(procedures())),
        "first_fields": [form[name] for name in ("corpus", "name", "slug")],
        "more_fields": [form[name] for name in _MORE],
        "shows_more": any(name in form.errors for name in _MORE),
        "has_corpora": corpora.exists(),
    }
    return render(request, "research/new_study.html", context)


def _next_step(request: HttpRequest) -> str:
    """What the procedure that was chosen needs next."""
    chosen = procedures()[request.POST["procedure"]]
    return chosen.next_step or "Go through the steps, then open it."


@login_required
@require_safe
def study(request: HttpRequest, slug: str) -> HttpResponse:
    found = study_of_researcher(request, slug)
    overview = overview_of(found)
    published = _with_live_hits(found.publications.all())
    attention = attention_in(found, overview, is_published=bool(published))
    context = study_context(request, found, "overview") | {
        "overview": overview,
        "attention": [(each, _link(found, each.link)) for each in attention],
        "jobs": recent_jobs(found.jobs.all()),
        "pilots": pilot_times(found),
        "recipe_job": run_with(found),
        "wage": WageForm(),
        "sold": [each for each in published if each.state == "open" and not each.compensates_id],
    }
    return render(request, "research/study.html", context | _sources(request, found))


def _sources(request: HttpRequest, found: Study) -> dict[str, Any]:
    """What the units of a study are made of, and while it is a draft, what they could be."""
    kind, settings = rules_of(found)
    chosen = list(found.proposals.select_related("machine"))
    fed_by = list(found.fed_by.order_by("name")) if kind.feeders else []
    has_rows = Source.ROWS in kind.sources and found.rows.exists()
    context = {
        "kind": kind,
        "chosen": chosen,
        "fed_by": fed_by,
        "may_open": bool(chosen or fed_by or has_rows or kind.asks_corpus(settings)),
        "takes_more": found.state in {"open", "paused"} and bool(fed_by or has_rows),
    }
    if found.state == Study.State.DRAFT:
        like, changed = as_in_paper(found)
        if like.direction and chosen and chosen[0].direction != like.direction:
            changed.append("Direction")
        offered = _offered_proposals(found, kind.directions, first=like.direction)
        taken = chosen if context["may_open"] else _largest_of_each(offered, like.direction)
        context |= {
            "like": like,
            "changed": changed,
            "chosen_ids": {proposal.pk for proposal in taken},
            "proposals": offered,
            "rows": found.rows.count() if has_rows else 0,
            "others": opened_beside(request, found),
            "continued_ids": set(found.continues.values_list("pk", flat=True)),
            "feeders": _possible_feeders(request, found) if kind.feeders else [],
            "feeder_names": sorted(protocol(slug).name for slug in kind.feeders),
        }
    return context


def _offered_proposals(found: Study, directions: Sequence[str], *, first: str) -> list[Proposal]:
    finished = found.corpus.proposals.filter(finished_at__isnull=False, direction__in=directions)
    in_order = finished.select_related("machine").order_by("direction", "split", "pk")
    return sorted(in_order, key=lambda each: each.direction != first)


def _largest_of_each(offered: Sequence[Proposal], direction: str) -> Iterable[Proposal]:
    """What the paper would have taken: every machine, in one direction and on one split."""
    fitting = [each for each in offered if each.direction == direction]
    on_one_split = [each for each in fitting if each.split == fitting[0].split]
    by_size = sorted(on_one_split, key=lambda each: (each.queries, each.pk))
    return {each.machine_id: each for each in by_size}.values()


def _possible_feeders(request: HttpRequest, found: Study) -> QuerySet[Study]:
    theirs = Study.objects.of(user_of(request), Role.RESEARCHER).exclude(pk=found.pk)
    return theirs.filter(chain.possible_feeders(found)).order_by("name")


def warn_of_people_in_both(request: HttpRequest, both: int) -> None:
    if both:
        messages.warning(
            request,
            f"{both:,} {'person has' if both == 1 else 'people have'} worked in two studies that "
            "are kept apart now. They get no further page in either, their open pages went back, "
            "and what they judged in the later one is not used.",
        )


@login_required
@require_POST
def feeders(request: HttpRequest, slug: str) -> HttpResponse:
    found = study_of_researcher(request, slug)
    named = [name.replace("\0", "") for name in request.POST.getlist("feeder")]
    chosen = list(_possible_feeders(request, found).filter(slug__in=named))
    try:
        both = chain.choose_feeders(study=found, feeders=chosen)
    except PipelineError as refusal:
        messages.error(request, refusal.message)
    else:
        messages.success(request, f"Fed by {len(chosen)} stud{'y' if len(chosen) == 1 else 'ies'}.")
        warn_of_people_in_both(request, both)
    return redirect("study", slug=slug)


@login_required
@require_POST
def units(request: HttpRequest, slug: str) -> HttpResponse:
    """More units for a study that is open, by a job."""
    found = study_of_researcher(request, slug)
    if found.state not in {Study.State.OPEN, Study.State.PAUSED}:
        messages.error(request, "Only a study that is open or paused takes more units.")
    else:
        _ask_for_one(request, found, "feed")
        messages.success(request, "What is new is being taken over.")
    return redirect("study", slug=slug)


@login_required
@require_POST
def state(request: HttpRequest, slug: str) -> HttpResponse:
    """Open a draft by a job; pause, reopen or close at once."""
    found = study_of_researcher(request, slug)
    wanted = request.POST.get("state", "")
    if wanted == "closed" and "sure" not in request.POST and on_offer(found).exists():
        return _ask_whether_to_close(request, found)
    try:
        if found.state == Study.State.DRAFT and wanted == "open":
            _ask_to_open(request, found)
        else:
            set_state(study=found, state=wanted, by=user_of(request))
            messages.success(request, f"The study is {found.get_state_display()} now.")
            _say_what_stays_paused(request, found)
    except PipelineError as refusal:
        messages.error(request, refusal.message)
    return redirect("study", slug=slug)


def _ask_whether_to_close(request: HttpRequest, found: Study) -> HttpResponse:
    context = study_context(request, found, "overview") | {"sold": _with_live_hits(on_offer(found))}
    return render(request, "research/close_study.html", context)


def _with_live_hits(publications: QuerySet[Publication]) -> list[Publication]:
    live = Count("hits", filter=Q(hits__state="live"))
    return list(publications.annotate(hits_live=live).order_by("pk"))


def _say_what_stays_paused(request: HttpRequest, found: Study) -> None:
    paused = on_offer(found).filter(state="paused").count()
    if found.state == Study.State.OPEN and paused:
        what = "1 publication stays" if paused == 1 else f"{paused:,} publications stay"
        messages.warning(request, f"{what} paused. Open what shall be sold again under Channels.")


def _ask_to_open(request: HttpRequest, found: Study) -> None:
    refuse_without_source(found)
    _ask_for_one(request, found, "open")
    messages.success(request, "The units are being made; the study opens when that is done.")


def _ask_for_one(request: HttpRequest, found: Study, kind: str) -> None:
    arguments = {"study": found.pk}
    jobs.ask_for_one(kind=kind, arguments=arguments, by=user_of(request), study=found)


@login_required
@require_POST
def proposals(request: HttpRequest, slug: str) -> HttpResponse:
    found = study_of_researcher(request, slug)
    wanted = [number_in(value) for value in request.POST.getlist("proposal")]
    named = [name.replace("\0", "") for name in request.POST.getlist("continues")]
    continued = list(opened_beside(request, found).filter(slug__in=named))
    try:
        arrange.choose_proposals(study=found, proposals=wanted, continues=continued)
    except PipelineError as refusal:
        messages.error(request, refusal.message)
    else:
        number = len(set(wanted))
        told = f"{number} proposal{'' if number == 1 else 's'}" if number else "No proposal is"
        messages.success(request, f"{told} chosen.")
    return redirect("study", slug=slug)


@login_required
@require_safe
def results(request: HttpRequest, slug: str) -> HttpResponse:
    found = study_of_researcher(request, slug)
    context = study_context(request, found, "results") | {
        "results": results_of(found),
        "outcomes": outcomes_so_far(found),
    }
    return render(request, "research/results.html", context)


@login_required
@require_safe
def results_table(request: HttpRequest, slug: str) -> HttpResponse:
    """The table by machine and rank, for a paper; names cannot become formulas."""
    found = study_of_researcher(request, slug)
    counted = results_of(found)
    response = HttpResponse(content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{found.slug}-results.csv"'
    table = csv.writer(response)
    table.writerow(["field", "machine", "rank", "n", "value", "count"])
    for tally in counted.tallies:
        shares = tally.numbers.shares if tally.numbers else tally.shares
        table.writerows(
            [tally.field, "all", "", tally.n, each.label, each.count] for each in shares
        )
    for row in counted.machines:
        rank = "all" if row.rank is None else row.rank
        first = counted.tallies[0].field
        table.writerows(
            [first, row.machine, rank, row.n, each.label, each.count] for each in row.shares
        )
    return response


@login_required
@require_safe
def problems(request: HttpRequest, slug: str) -> HttpResponse:
    found = study_of_researcher(request, slug)
    context = study_context(request, found, "results") | {
        "problems": reported(found, PROBLEMS_SHOWN),
        "most": PROBLEMS_SHOWN,
    }
    return render(request, "research/problems.html", context)


@login_required
@require_safe
def job(request: HttpRequest, pk: int) -> JsonResponse:
    found = get_object_or_404(visible.jobs(user_of(request)), pk=pk)
    return JsonResponse(
        {
            "state": found.get_state_display(),
            "done": found.done,
            "total": found.total,
            "message": found.message,
            "pace": "" if found.is_finished else pace(found),
            "is_finished": found.is_finished,
        },
        headers={"Cache-Control": "no-store"},
    )


@login_required
@require_POST
def cancel_job(request: HttpRequest, pk: int) -> HttpResponse:
    found = get_object_or_404(visible.jobs(user_of(request)), pk=pk)
    jobs.cancel(found)
    messages.success(request, "The job is asked to stop.")
    if found.study is not None and found.kind in {bulk.KIND, bulk.BACK}:
        return redirect("review_many", slug=found.study.slug)
    if found.study is not None and "publication" in found.arguments:
        return redirect("publication", slug=found.study.slug, pk=found.arguments["publication"])
    if found.study is not None and found.kind == report.KIND:
        return redirect("study_report", slug=found.study.slug)
    if found.study is not None:
        return redirect("study", slug=found.study.slug)
    if found.corpus is not None:
        return redirect("corpus", slug=found.corpus.slug)
    if found.kind == "evaluate":
        return redirect("evaluation", pk=found.evaluation.pk)
    return redirect("research")


def study_context(request: HttpRequest, found: Study, tab: str) -> dict[str, Any]:
    return desks(user_of(request)) | {"study": found, "tab": tab}


def opened_beside(
    request: HttpRequest, found: Study, protocols: Collection[str] = ()
) -> QuerySet[Study]:
    """The researcher's other studies on the same corpus, of the same protocol or of these."""
    theirs = Study.objects.of(user_of(request), Role.RESEARCHER).exclude(pk=found.pk)
    return theirs.filter(
        corpus=found.corpus_id, protocol__in=protocols or [found.protocol]
    ).exclude(state=Study.State.DRAFT)


def recent_jobs(found: QuerySet[Job]) -> QuerySet[Job]:
    """Without what may be long."""
    return found.select_related("asked_by", "study").defer("log").order_by("-pk")[:JOBS_SHOWN]


def _link(found: Study, name: str) -> str:
    if name == "review":
        return reverse("review_desk", args=[found.slug])
    if name == "appeals":
        return reverse("review_people", args=[found.slug])
    if name == "golds":
        return reverse("review_golds", args=[found.slug])
    if name == "jobs":
        return "#jobs"
    if name == "pilot_of" and found.pilot_of is not None:
        return reverse("study", args=[found.pilot_of.slug])
    return reverse(f"study_{name}", args=[found.slug])
