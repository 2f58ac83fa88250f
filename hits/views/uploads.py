"""Files of lines into a study: rows that units are made of, and judgments made elsewhere."""

from typing import Any

from django.contrib import messages
from django.core.files.uploadedfile import UploadedFile
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from hits.importers.lines import KINDS
from hits.models import Study
from hits.pipeline import arrange, jobs
from hits.pipeline import rows as rows_of
from hits.pipeline.errors import PipelineError
from hits.pipeline.judgments import may_take
from hits.protocol import Source, protocol
from hits.views.access import login_required, study_of_researcher, user_of
from hits.views.research import recent_jobs, study_context
from hits.views.research_forms import JudgmentsForm, RowsForm

RECORDS_SHOWN = 50
# Both forms of the page have a file.
JUDGMENTS_IDS = "judgments_%s"


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def imports(request: HttpRequest, slug: str) -> HttpResponse:
    study = study_of_researcher(request, slug)
    if request.method != "POST":
        return _show(request, study)
    form = JudgmentsForm(request.POST, request.FILES, auto_id=JUDGMENTS_IDS)
    if form.is_valid():
        try:
            may_take(study)
        except PipelineError as refusal:
            form.add_error(None, refusal.message)
        else:
            more = {"raise_wanted": form.cleaned_data["raise_wanted"], "by": user_of(request).pk}
            _ask(request, study, "judgments", form.cleaned_data["file"], **more)
            return redirect("study_imports", slug=slug)
    return _show(request, study, judgments_form=form)


@login_required
@require_POST
def rows(request: HttpRequest, slug: str) -> HttpResponse:
    study = study_of_researcher(request, slug)
    form = RowsForm(request.POST, request.FILES)
    if form.is_valid():
        try:
            rows_of.row_model_of(study)
        except PipelineError as refusal:
            form.add_error(None, refusal.message)
        else:
            _ask(request, study, "rows", form.cleaned_data["file"])
            return redirect("study_imports", slug=slug)
    return _show(request, study, rows_form=form)


@login_required
@require_POST
def remove_rows(request: HttpRequest, slug: str) -> HttpResponse:
    study = study_of_researcher(request, slug)
    try:
        removed = rows_of.remove_rows(study=study)
    except PipelineError as refusal:
        messages.error(request, refusal.message)
    else:
        messages.success(request, f"{removed:,} row{'' if removed == 1 else 's'} removed.")
    return redirect("study_imports", slug=slug)


def _ask(request: HttpRequest, study: Study, kind: str, file: UploadedFile, **more: Any) -> None:
    called = arrange.name_of_upload(file)
    source = str(arrange.keep_upload(file, KINDS))
    arguments = {"study": study.pk, "source": source, "called": called, **more}
    jobs.ask(kind=kind, arguments=arguments, by=user_of(request), study=study)
    messages.success(request, f"{called} is here; its import has been asked for.")


def _show(
    request: HttpRequest,
    study: Study,
    *,
    rows_form: RowsForm | None = None,
    judgments_form: JudgmentsForm | None = None,
) -> HttpResponse:
    kind = protocol(study.protocol)
    fields = kind.row_model.model_fields if kind.row_model else {}
    context = study_context(request, study, "overview") | {
        "takes_rows": Source.ROWS in kind.sources and study.state != Study.State.CLOSED,
        "makes_texts": Source.DETAILS in kind.sources,
        "takes_judgments": study.state in {Study.State.OPEN, Study.State.PAUSED},
        "row_fields": list(fields),
        "required": [name for name, field in fields.items() if field.is_required()],
        "columns": kind.columns,
        "rows": study.rows.count(),
        "rows_form": rows_form or RowsForm(),
        "judgments_form": judgments_form or JudgmentsForm(auto_id=JUDGMENTS_IDS),
        "records": study.imports.select_related("by").order_by("-pk")[:RECORDS_SHOWN],
        "jobs": recent_jobs(study.jobs.filter(kind__in=["rows", "renovate", "judgments"])),
    }
    wrong = rows_form is not None or judgments_form is not None
    return render(request, "research/imports.html", context, status=422 if wrong else 200)
