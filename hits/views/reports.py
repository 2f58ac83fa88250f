"""The report of a study: its tables and figures on a page, and each as a file."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from hits.pipeline.report import report_of
from hits.views.access import login_required, study_of_researcher
from hits.views.research import study_context
from hits.views.tables import file_of, table_context


@login_required
@require_safe
def report(request: HttpRequest, slug: str) -> HttpResponse:
    study = study_of_researcher(request, slug)
    found = report_of(study)
    context = study_context(request, study, "results") | table_context(found.tables, found.at)
    return render(request, "research/report.html", context | {"report": found})


@login_required
@require_safe
def file(request: HttpRequest, slug: str, table: str, form: str) -> HttpResponse:
    study = study_of_researcher(request, slug)
    return file_of(request, report_of(study).tables, table, form, slug)
