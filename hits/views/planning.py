"""What a draft would ask and cost; a study once more; a pilot and the pay that it suggests."""

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from hits.models import Study
from hits.pipeline.clone import clone_study, make_pilot, pilot_times, use_pilot
from hits.pipeline.errors import PipelineError, Taken
from hits.pipeline.open import refuse_without_source
from hits.pipeline.plan import plan_of
from hits.pipeline.renovate import ask_with_upload
from hits.protocol import Source, protocol
from hits.views.access import login_required, study_of_researcher, user_of
from hits.views.corpora import ask_machine
from hits.views.renovate_form import RenovateForm
from hits.views.research import study_context
from hits.views.research_forms import CloneForm, PilotForm, ProposeForm, WageForm


@login_required
@require_safe
def plan(request: HttpRequest, slug: str) -> HttpResponse:
    """What a draft would ask and cost."""
    study = study_of_researcher(request, slug)
    if study.state != Study.State.DRAFT:
        return redirect("study", slug=slug)
    context = study_context(request, study, "overview")
    try:
        refuse_without_source(study)
        context["plan"] = plan_of(study)
    except PipelineError as refusal:
        context["refusal"] = refusal.message
    return render(request, "research/plan.html", context)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def propose(request: HttpRequest, slug: str) -> HttpResponse:
    """A machine ranks the corpus for a draft; the job is seen on the draft's page."""
    study = study_of_researcher(request, slug)
    kind = protocol(study.protocol)
    if study.state != Study.State.DRAFT or Source.PROPOSALS not in kind.sources:
        return redirect("study", slug=slug)
    form = ProposeForm(request.POST or None, corpus=study.corpus)
    form.offer(kind.directions)
    if request.method == "POST" and form.is_valid():
        ask_machine(form, study.corpus, by=user_of(request), study=study)
        messages.success(request, "The machine has been asked. Choose what it proposes then.")
        return redirect("study", slug=slug)
    context = study_context(request, study, "overview") | {"form": form}
    return render(request, "research/propose.html", context, status=422 if form.errors else 200)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def renovate(request: HttpRequest, slug: str) -> HttpResponse:
    """Machines make coarse texts finer; what fits becomes rows of the study."""
    study = study_of_researcher(request, slug)
    is_closed = study.state == Study.State.CLOSED
    if is_closed or Source.DETAILS not in protocol(study.protocol).sources:
        return redirect("study", slug=slug)
    form = RenovateForm(request.POST or None, request.FILES or None, study=study)
    if request.method == "POST" and form.is_valid():
        ask_with_upload(study=study, by=user_of(request), **form.cleaned_data)
        messages.success(request, "Finer texts have been asked for: they become rows here.")
        return redirect("study", slug=slug)
    context = study_context(request, study, "overview") | {
        "form": form,
        "rankings": form.fields["proposal"].queryset.exists(),  # type: ignore[attr-defined]
    }
    return render(request, "research/renovate.html", context, status=422 if form.errors else 200)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def clone(request: HttpRequest, slug: str) -> HttpResponse:
    found = study_of_researcher(request, slug)
    form = CloneForm(request.POST or None, initial={"name": f"{found.name}, again"})
    if request.method == "POST" and form.is_valid():
        try:
            made = clone_study(study=found, by=user_of(request), **form.cleaned_data)
        except Taken as refusal:
            form.add_error("slug", refusal.message)
        except PipelineError as refusal:
            form.add_error(None, refusal.message)
        else:
            messages.success(request, "A draft with the same settings, wording and sources.")
            return redirect("study", slug=made.slug)
    context = study_context(request, found, "overview") | {"form": form}
    return render(request, "research/clone.html", context, status=422 if form.errors else 200)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def pilot(request: HttpRequest, slug: str) -> HttpResponse:
    found = study_of_researcher(request, slug)
    form = PilotForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            made = make_pilot(study=found, by=user_of(request), **form.cleaned_data)
        except PipelineError as refusal:
            form.add_error(None, refusal.message)
        else:
            messages.success(request, "The pilot is a draft: open it, then invite people to it.")
            return redirect("study", slug=made.slug)
    context = study_context(request, found, "overview") | {"form": form}
    return render(request, "research/pilot.html", context, status=422 if form.errors else 200)


@login_required
@require_POST
def pay_by_pilot(request: HttpRequest, slug: str, pilot: str) -> HttpResponse:
    """The pay and the expected time of a page, by what a pilot took."""
    found = study_of_researcher(request, slug)
    timed = next((each for each in pilot_times(found) if each.pilot.slug == pilot), None)
    if timed is None:
        raise Http404
    form = WageForm(request.POST)
    if not form.is_valid():
        messages.error(request, "Say what an hour should earn: an amount in dollars.")
        return redirect("study", slug=slug)
    try:
        version = use_pilot(study=found, timed=timed, by=user_of(request), **form.cleaned_data)
    except PipelineError as refusal:
        messages.error(request, refusal.message)
    else:
        messages.success(request, f"Version {version.number}: a page pays ${version.pay}.")
    return redirect("study", slug=slug)
