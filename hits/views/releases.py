"""Releases: asked for as a job, listed with what they say, downloaded file by file."""

from collections.abc import Iterable
from typing import Any

from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404, redirect, render
from django.template.loader import render_to_string
from django.views.decorators.http import require_http_methods, require_safe

from hits.models import Release, ReleaseFile, Study, User
from hits.pipeline import jobs, links, shelf, visible
from hits.pipeline.errors import Closed, PipelineError
from hits.pipeline.release import Wish, as_arguments, check
from hits.protocol import released_together
from hits.serving import AnyResponse, file_response
from hits.views.access import login_required, study_of_researcher, user_of
from hits.views.research import opened_beside, recent_jobs, study_context
from hits.views.research_forms import LinksForm, ReleaseForm

MOST_SHOWN = 20
SECONDS = 600


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def releases(request: HttpRequest, slug: str) -> HttpResponse:
    study = study_of_researcher(request, slug)
    user = user_of(request)
    others = opened_beside(request, study, released_together(study.protocol)).filter(pilot_of=None)
    made = visible.releases(user).filter(studies=study).select_related("made_by")
    found = made.prefetch_related("files", "studies").order_by("-made_at", "-pk")[:MOST_SHOWN]
    form = ReleaseForm(request.POST or None, others=others, initial=_as_before(study, found))
    if request.method == "POST" and form.is_valid() and _asked(study, user, form):
        messages.success(request, "The release is being made.")
        return redirect("study_releases", slug=slug)
    context = study_context(request, study, "releases") | {
        "form": form,
        "others": others.exists(),
        "jobs": recent_jobs(study.jobs.filter(kind="release")),
        "releases": found,
    }
    return render(request, "research/releases.html", context, status=422 if form.errors else 200)


def _as_before(study: Study, found: Iterable[Release]) -> dict[str, Any]:
    """The next version says of itself what the one before did."""
    latest = next(iter(found), None)
    if latest is None:
        return {"name": study.slug, "licence": study.corpus.licence}
    return {
        "name": latest.name,
        "licence": latest.licence,
        "free_text": latest.free_text,
        "also": [each.pk for each in latest.studies.all()],
    }


def _asked(study: Study, user: User, form: ReleaseForm) -> bool:
    """Whether a job makes it now; else the form says why not."""
    said = form.cleaned_data
    wish = Wish(licence=said["licence"], free_text=said["free_text"] or None, step=said["step"])
    together = [study, *said["also"]]
    try:
        check(studies=together, name=said["name"], by=user)
    except PipelineError as refusal:
        form.add_error(None, refusal.message)
        return False
    arguments = as_arguments(studies=together, name=said["name"], by=user, wish=wish)
    jobs.ask(kind="release", arguments=arguments, by=user, study=study)
    return True


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def make_links(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Links to all files of a release that need no login and expire."""
    study = study_of_researcher(request, slug)
    release = get_object_or_404(_mine(request).filter(studies=study), pk=pk)
    form = LinksForm(request.POST or None)
    made = links.links_to(release, form.cleaned_data["hours"]) if form.is_valid() else ()
    context = study_context(request, study, "releases") | {
        "form": form,
        "release": release,
        "links": list(made),
    }
    return render(
        request, "research/release_links.html", context, status=422 if form.errors else 200
    )


@login_required
@require_safe
def download(request: HttpRequest, pk: int, name: str) -> AnyResponse:
    """Only names that the release knows are looked for on disk."""
    files = ReleaseFile.objects.select_related("release")
    return _handed_out(
        request, get_object_or_404(files, release__in=_mine(request), release=pk, name=name)
    )


@require_safe
def signed_file(request: HttpRequest, name: str) -> AnyResponse:
    """For whoever has a link that has not expired."""
    try:
        file = links.file_behind(request.GET.get("key", ""), name)
    except Closed as error:
        return _gone(error)
    return _handed_out(request, file)


def _mine(request: HttpRequest) -> QuerySet[Release]:
    return visible.releases(user_of(request))


def _handed_out(request: HttpRequest, file: ReleaseFile) -> AnyResponse:
    try:
        links.there(file)
    except Closed as error:
        return _gone(error)
    if shelf.is_in_a_bucket(file.release):
        return HttpResponseRedirect(shelf.link_to(file, SECONDS))
    return file_response(request, shelf.path_of(file), name=file.name, sha256=file.sha256)


def _gone(error: Closed) -> HttpResponse:
    context = {"title": "Not here any more", "message": error.message}
    return HttpResponse(render_to_string("refused.html", context), status=410)
