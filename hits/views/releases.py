"""Releases: asked for as a job, listed with their manifests, downloaded file by file."""

import json

from django.contrib import messages
from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from hits.models import ReleaseFile, Study
from hits.pipeline import jobs, visible
from hits.pipeline.release import path_of
from hits.views.access import login_required, study_of_researcher, user_of
from hits.views.research import opened_beside, recent_jobs, study_context
from hits.views.research_forms import ReleaseForm


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def releases(request: HttpRequest, slug: str) -> HttpResponse:
    study = study_of_researcher(request, slug)
    user = user_of(request)
    others = opened_beside(request, study)
    form = ReleaseForm(request.POST or None, others=others, initial={"name": study.slug})
    if request.method == "POST" and study.state == Study.State.DRAFT:
        form.add_error(None, "A draft has nothing to release. Open the study first.")
    if request.method == "POST" and form.is_valid():
        together = [study.pk, *(other.pk for other in form.cleaned_data["also"])]
        arguments = {"studies": together, "name": form.cleaned_data["name"], "by": user.pk}
        jobs.ask(kind="release", arguments=arguments, by=user, study=study)
        messages.success(request, "The release is being made.")
        return redirect("study_releases", slug=slug)
    made = visible.releases(user).filter(studies=study).select_related("made_by")
    found = made.prefetch_related("files", "studies").order_by("-made_at", "-pk")
    context = study_context(request, study, "releases") | {
        "form": form,
        "others": others.exists(),
        "jobs": recent_jobs(study.jobs.filter(kind="release")),
        "releases": [
            (each, json.dumps(each.manifest, indent=2, ensure_ascii=False)) for each in found[:20]
        ],
    }
    return render(request, "research/releases.html", context, status=422 if form.errors else 200)


@login_required
@require_safe
def download(request: HttpRequest, pk: int, name: str) -> HttpResponse | FileResponse:
    """Only names that the release knows are looked for on disk."""
    mine = visible.releases(user_of(request)).filter(pk=pk)
    file = get_object_or_404(
        ReleaseFile.objects.select_related("release"), release__in=mine, name=name
    )
    path = path_of(file)
    if not path.is_file():
        raise Http404("The file of this release is not on this server.")
    response = FileResponse(path.open("rb"), as_attachment=True, filename=file.name)
    response.headers["ETag"] = f'"{file.sha256}"'
    response.headers["Cache-Control"] = "private, max-age=31536000, immutable"
    return response
