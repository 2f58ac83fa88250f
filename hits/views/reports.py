"""The report of a study: its tables on a page, and each as a file."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from hits.exporters.tables import as_read, table_as_csv, table_as_latex
from hits.models import Study
from hits.pipeline.report import report_of
from hits.records import Cell, Column, Table
from hits.views.access import login_required, study_of_researcher
from hits.views.research import study_context


@login_required
@require_safe
def report(request: HttpRequest, slug: str) -> HttpResponse:
    study = study_of_researcher(request, slug)
    found = report_of(study)
    context = study_context(request, study, "results") | {
        "report": found,
        "tables": [(table, _lines(table)) for table in found.tables],
    }
    return render(request, "research/report.html", context)


def _lines(table: Table) -> list[list[tuple[Column, Cell, str]]]:
    """Each cell with its column and as people read it."""
    return [
        [
            (column, "" if cell is None else cell, as_read(column, cell))
            for column, cell in zip(table.columns, row, strict=True)
        ]
        for row in table.rows
    ]


@login_required
@require_safe
def as_csv(request: HttpRequest, slug: str, table: str) -> HttpResponse:
    study = study_of_researcher(request, slug)
    return _file("".join(table_as_csv(_table(study, table))), f"{slug}-{table}.csv", "text/csv")


@login_required
@require_safe
def as_latex(request: HttpRequest, slug: str, table: str) -> HttpResponse:
    study = study_of_researcher(request, slug)
    return _file(table_as_latex(_table(study, table)), f"{slug}-{table}.tex", "application/x-tex")


def _table(study: Study, slug: str) -> Table:
    found = report_of(study).table(slug)
    if found is None:
        raise Http404("The report has no such table.")
    return found


def _file(text: str, name: str, content_type: str) -> HttpResponse:
    response = HttpResponse(text, content_type=f"{content_type}; charset=utf-8")
    response.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    return response
