"""Corpora: what is in them, imports with what was refused, and proposals of machines."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from defusedcsv import csv
from django.conf import settings
from django.contrib import messages
from django.core.cache import cache
from django.db.models import Count, Q
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from hits.models import Corpus, Study, User
from hits.models.job import IMPORTS
from hits.pipeline import arrange, jobs, visible
from hits.pipeline.errors import Taken
from hits.pipeline.load import refusals
from hits.pipeline.propose import ask, ask_with_file
from hits.views.access import desks, login_required, may_create, user_of
from hits.views.research import recent_jobs
from hits.views.research_forms import CorpusForm, ProposeFileForm, ProposeForm, UploadForm

REFUSAL_COLUMNS = ("file", "place", "kind", "id", "reason", "detail")
SAMPLES = 12
COUNTS_KEPT_SECONDS = 300


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def new_corpus(request: HttpRequest) -> HttpResponse:
    user = user_of(request)
    if not may_create(user):
        raise Http404
    form = CorpusForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            made = arrange.create_corpus(by=user, **form.cleaned_data)
        except Taken as refusal:
            form.add_error("slug", refusal.message)
        else:
            messages.success(request, "The corpus is there. Import its images and captions next.")
            return redirect("corpus", slug=made.slug)
    return render(request, "research/new_corpus.html", desks(user) | {"form": form})


@login_required
@require_safe
def corpus(request: HttpRequest, slug: str) -> HttpResponse:
    return _show(request, _corpus(request, slug))


@login_required
@require_POST
def upload(request: HttpRequest, slug: str) -> HttpResponse:
    found = _own_corpus(request, slug)
    form = UploadForm(request.POST, request.FILES)
    if not form.is_valid():
        return _show(request, found, upload_form=form)
    file = form.cleaned_data["file"]
    called = arrange.name_of_upload(file)
    arguments = {
        "corpus": found.slug,
        "source": str(arrange.keep_upload(file)),
        "called": called,
        "split": form.cleaned_data["split"],
    }
    jobs.ask(kind="import", arguments=arguments, by=user_of(request), corpus=found)
    messages.success(request, f"{called} is here; its import has been asked for.")
    return redirect("corpus", slug=slug)


@login_required
@require_POST
def propose(request: HttpRequest, slug: str) -> HttpResponse:
    found = _corpus(request, slug)
    form = ProposeForm(request.POST, corpus=found)
    if not form.is_valid():
        return _show(request, found, propose_form=form)
    ask_machine(form, found, by=user_of(request))
    messages.success(request, "The machine has been asked.")
    return redirect("corpus", slug=slug)


def ask_machine(form: ProposeForm, corpus: Corpus, *, by: User, study: Study | None = None) -> None:
    """By a form that is valid; a job for a study is seen on the study's page."""
    ask(corpus=corpus, by=by, study=study, **form.cleaned_data)


@login_required
@require_POST
def propose_file(request: HttpRequest, slug: str) -> HttpResponse:
    found = _corpus(request, slug)
    form = ProposeFileForm(request.POST, request.FILES, corpus=found)
    if not form.is_valid():
        return _show(request, found, propose_file_form=form)
    ask_with_file(corpus=found, by=user_of(request), **form.cleaned_data)
    messages.success(request, "The file is here; its proposals have been asked for.")
    return redirect("corpus", slug=slug)


@login_required
@require_safe
def refused(request: HttpRequest, pk: int) -> StreamingHttpResponse:
    """Every line that an import refused, and why; cells cannot become formulas."""
    job = get_object_or_404(visible.jobs(user_of(request)), pk=pk, kind__in=IMPORTS)
    path = Path((job.result or {}).get("refusals", ""))
    folder = Path(settings.DATA_DIR).resolve() / "imports"
    if path.resolve().parent != folder or not path.is_file():
        raise Http404
    return StreamingHttpResponse(
        _refusal_lines(str(path)),
        content_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="refused-{job.pk}.csv"'},
    )


class _Echo:
    def write(self, line: str) -> str:
        return line


def _refusal_lines(path: str) -> Iterator[str]:
    table = csv.writer(_Echo())
    yield table.writerow(REFUSAL_COLUMNS)
    for line in refusals(path):
        yield table.writerow([line[name] for name in REFUSAL_COLUMNS])


def _corpus(request: HttpRequest, slug: str) -> Corpus:
    return get_object_or_404(visible.corpora(user_of(request)).select_related("owner"), slug=slug)


def _own_corpus(request: HttpRequest, slug: str) -> Corpus:
    found = _corpus(request, slug)
    if not _is_theirs(request, found):
        raise Http404
    return found


def _is_theirs(request: HttpRequest, found: Corpus) -> bool:
    user = user_of(request)
    return user.is_staff or found.owner_id == user.pk


def _show(
    request: HttpRequest,
    found: Corpus,
    *,
    upload_form: UploadForm | None = None,
    propose_form: ProposeForm | None = None,
    propose_file_form: ProposeFileForm | None = None,
) -> HttpResponse:
    context = desks(user_of(request)) | {
        "corpus": found,
        "counts": _counts(found),
        "samples": found.images.filter(blob__isnull=False).order_by("pk")[:SAMPLES],
        "is_theirs": _is_theirs(request, found),
        "upload_form": upload_form or UploadForm(),
        "propose_form": propose_form or ProposeForm(corpus=found),
        "propose_file_form": propose_file_form or ProposeFileForm(corpus=found),
        "proposals": found.proposals.select_related("machine").order_by("-pk")[:50],
        "jobs": recent_jobs(found.jobs.filter(study=None)),
        "studies": found.studies.filter(
            memberships__user=user_of(request), memberships__role="researcher"
        ),
    }
    wrong = any(form is not None for form in (upload_form, propose_form, propose_file_form))
    return render(request, "research/corpus.html", context, status=422 if wrong else 200)


def _counts(found: Corpus) -> dict[str, Any]:
    """Counted anew after each job, since only imports change a corpus."""
    finished = found.jobs.filter(finished_at__isnull=False).order_by("-finished_at")
    last = finished.values_list("pk", flat=True).first() or 0
    key = f"corpus/{found.pk}/{last}"
    counts: dict[str, Any] | None = cache.get(key)
    if counts is None:
        counts = _counted(found)
        cache.set(key, counts, COUNTS_KEPT_SECONDS if last else 10)
    return counts


def _counted(found: Corpus) -> dict[str, Any]:
    captions = dict(
        found.captions.order_by("image__split").values_list("image__split").annotate(Count("pk"))
    )
    splits = [
        {"name": split, "images": images, "with_file": files, "captions": captions.get(split, 0)}
        for split, images, files in found.images.order_by("split")
        .values_list("split")
        .annotate(images=Count("pk"), with_file=Count("pk", filter=Q(blob__isnull=False)))
    ]
    return {
        "splits": splits,
        "images": sum(split["images"] for split in splits),
        "with_file": sum(split["with_file"] for split in splits),
        "captions": sum(captions.values()),
        "regions": found.regions.count(),
    }
