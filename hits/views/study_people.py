"""Who belongs to a study, and the links that invite others."""

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from hits.pipeline import arrange
from hits.pipeline.errors import Refused
from hits.views.access import login_required, study_of_researcher, user_of
from hits.views.research import study_context
from hits.views.research_forms import InviteForm

INVITATIONS_SHOWN = 50


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
    context = study_context(request, study, "people") | {
        "form": form,
        "members": members,
        "invitations": [
            (each, settings.SITE_URL + reverse("join", args=[each.token]))
            for each in invitations[:INVITATIONS_SHOWN]
        ],
    }
    return render(request, "research/people.html", context)


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
