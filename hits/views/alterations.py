"""BISON's queries, altered: a file in, a file out."""

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_http_methods

from hits.pipeline.alter import ASKED, WithoutWordNet, altered_queries
from hits.pipeline.errors import Refused
from hits.pipeline.evaluate import files_by_upload
from hits.views.access import desks_or_404, login_required, user_of
from hits.views.evaluation_forms import EvaluationForm


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def alterations(request: HttpRequest) -> HttpResponseBase:
    context = desks_or_404(request, "may_research")
    form = EvaluationForm(
        request.POST if request.method == "POST" else None,
        request.FILES if request.method == "POST" else None,
        kind=ASKED,
        released=files_by_upload(ASKED, user_of(request)),
    )
    del form.fields["name"]
    if request.method == "POST" and form.is_valid():
        try:
            pieces = altered_queries(form.sent["annotations"], **form.chosen_settings)
        except Refused as refusal:
            wrong = "alteration" if isinstance(refusal, WithoutWordNet) else "annotations"
            form.add_error(wrong, refusal.message)
        else:
            name = f"bison-{form.chosen_settings['alteration']}.json"
            disposition = {"Content-Disposition": f'attachment; filename="{name}"'}
            return StreamingHttpResponse(
                pieces, content_type="application/json", headers=disposition
            )
    context |= {"kind": ASKED, "form": form, "does": "Alter and download"}
    page: HttpResponse = render(
        request, "research/new_evaluation.html", context, status=422 if form.errors else 200
    )
    return page
