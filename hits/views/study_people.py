"""Who belongs to a study, and the links that invite others."""

from django.conf import settings
from django.contrib import messages
from django.db.models import F, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from hits.models import Role, Study
from hits.pipeline import arrange, training
from hits.pipeline.chain import exclude, stop_excluding
from hits.pipeline.errors import Refused
from hits.views.access import login_required, study_of_researcher, user_of
from hits.views.research import study_context, warn_of_people_in_both
from hits.views.research_forms import InviteForm

INVITATIONS_SHOWN = 50
STANDINGS_SHOWN = 200


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def people(request: HttpRequest, slug: str) -> HttpResponse:
    study = study_of_researcher(request, slug)
    form = InviteForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        arrange.invite(study=study, by=user_of(request), **form.cleaned_data)
        messages.success(request, "The link is ready: copy it and send it.")
        return redirect("study_people", slug=slug)
    members = study.memberships.select_related("user").order_by("role", "user__first_name", "pk")
    invitations = study.invitations.select_related("created_by").order_by("-pk")
    standings = training.standings(study).order_by(F("qualified_at").desc(nulls_first=True), "-pk")
    assert study.version is not None
    context = study_context(request, study, "people") | {
        "form": form,
        "standings": standings[:STANDINGS_SHOWN] if study.version.training_units else [],
        "most_shown": STANDINGS_SHOWN,
        "members": members,
        "apart": study.exclusions.select_related("other").order_by("other__name"),
        "others": _others(request, study),
        "invitations": [
            (each, settings.SITE_URL + reverse("join", args=[each.token]))
            for each in invitations[:INVITATIONS_SHOWN]
        ],
    }
    return render(request, "research/people.html", context)


def _others(request: HttpRequest, study: Study) -> QuerySet[Study]:
    theirs = Study.objects.of(user_of(request), Role.RESEARCHER).exclude(pk=study.pk)
    return theirs.exclude(pk__in=study.exclusions.values("other")).order_by("name")


@login_required
@require_POST
def keep_apart(request: HttpRequest, slug: str) -> HttpResponse:
    """Whoever worked in one of two studies never works in the other, from now on or no more."""
    study = study_of_researcher(request, slug)
    named = request.POST.get("other", "").replace("\0", "")
    other = get_object_or_404(Study.objects.of(user_of(request), Role.RESEARCHER), slug=named)
    try:
        if "end" in request.POST:
            stop_excluding(study=study, other=other)
            messages.success(request, f"People of {other.name} may work here again.")
        else:
            both = exclude(study=study, other=other)
            messages.success(request, f"Nobody works here and in {other.name} from now on.")
            warn_of_people_in_both(request, both)
    except Refused as refusal:
        messages.error(request, refusal.message)
    return redirect("study_people", slug=slug)


@login_required
@require_POST
def end_membership(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    study = study_of_researcher(request, slug)
    member = get_object_or_404(study.memberships.select_related("user"), pk=pk)
    try:
        arrange.end_membership(member)
    except Refused as refusal:
        messages.error(request, refusal.message)
        return redirect("study_people", slug=slug)
    messages.success(request, f"{member.user} is no longer {member.role} here.")
    if member.user == request.user and member.role == "researcher":
        return redirect("home")
    return redirect("study_people", slug=slug)


@login_required
@require_POST
def end_invitation(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    study = study_of_researcher(request, slug)
    arrange.end_invitation(get_object_or_404(study.invitations, pk=pk))
    messages.success(request, "Nobody can join by that link any more.")
    return redirect("study_people", slug=slug)


@login_required
@require_POST
def let_in(request: HttpRequest, slug: str, person: int) -> HttpResponse:
    study = study_of_researcher(request, slug)
    try:
        training.let_in(study=study, person_id=person, by=user_of(request))
    except Refused as refusal:
        messages.error(request, refusal.message)
    else:
        messages.success(request, f"Rater {person} can go on without more training.")
    return redirect("study_people", slug=slug)
