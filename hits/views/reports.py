"""The report of a study: its tables and figures on a page, and each as a file."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from hits.pipeline.report import ask_for_report, report_now
from hits.views.access import login_required, study_of_researcher, user_of
from hits.views.research import study_context
from hits.views.tables import file_of, table_context


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def report(request: HttpRequest, slug: str) -> HttpResponse:
    """Posted, it asks for the report to be computed by a job."""
    study = study_of_researcher(request, slug)
    if request.method == "POST":
        ask_for_report(study=study, by=user_of(request))
        return redirect("study_report", slug=slug)
    now = report_now(study)
    context = study_context(request, study, "results") | {
        "now": now,
        "report": now.report,
        "jobs": [now.job] if now.job and not now.job.is_finished else [],
    }
    if now.report is not None:
        context |= table_context(now.report.tables, now.report.at)
    return render(request, "research/report.html", context)


@login_required
@require_safe
def file(request: HttpRequest, slug: str, table: str, form: str) -> HttpResponse:
    found = report_now(study_of_researcher(request, slug)).report
    if found is None:
        raise Http404("The report is not computed yet.")
    return file_of(request, found.tables, table, form, slug)
