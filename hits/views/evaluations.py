"""Evaluate: analyses of files that researchers bring, each with an address that stays."""

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from hits.analysis.evaluations.contract import Setting
from hits.analysis.evaluations.kinds import KINDS
from hits.models import Evaluation
from hits.pipeline import visible
from hits.pipeline.alter import ASKED
from hits.pipeline.evaluate import ask_to_evaluate, files_by_upload, tables_of
from hits.views.access import desks_or_404, login_required, user_of
from hits.views.evaluation_forms import EvaluationForm
from hits.views.tables import file_of, table_context

SHOWN = 50


@login_required
@require_safe
def evaluations(request: HttpRequest) -> HttpResponse:
    context = desks_or_404(request, "may_research")
    mine = visible.evaluations(user_of(request)).defer("tables").select_related("job", "by")
    context |= {
        "kinds": KINDS.values(),
        "altering": ASKED,
        "evaluations": [(each, KINDS[each.kind].title) for each in mine.order_by("-pk")[:SHOWN]],
    }
    return render(request, "research/evaluations.html", context)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def new(request: HttpRequest, kind: str) -> HttpResponse:
    context = desks_or_404(request, "may_research")
    if kind not in KINDS:
        raise Http404("There is no such evaluation.")
    asked, user = KINDS[kind], user_of(request)
    form = EvaluationForm(
        request.POST if request.method == "POST" else None,
        request.FILES if request.method == "POST" else None,
        kind=asked,
        released=files_by_upload(asked, user),
    )
    if request.method == "POST" and form.is_valid():
        made = ask_to_evaluate(
            kind=asked,
            name=form.cleaned_data["name"],
            sent=form.sent,
            settings=form.chosen_settings,
            by=user,
        )
        messages.success(request, "Asked for. This page keeps its address.")
        return redirect("evaluation", pk=made.pk)
    context |= {"kind": asked, "form": form}
    status = 422 if form.errors else 200
    return render(request, "research/new_evaluation.html", context, status=status)


@login_required
@require_safe
def evaluation(request: HttpRequest, pk: int) -> HttpResponse:
    found = _evaluation(request, pk)
    kind = KINDS[found.kind]
    context = desks_or_404(request, "may_research") | {
        "evaluation": found,
        "kind": kind,
        "files": [
            (upload, found.files[upload.name])
            for upload in kind.uploads
            if upload.name in found.files
        ],
        "settings": [(each.label, _in_words(each, found)) for each in kind.settings],
        "jobs": [] if found.job.is_finished else [found.job],
    }
    return render(
        request, "research/evaluation.html", context | table_context(tables_of(found), found.at)
    )


@login_required
@require_safe
def file(request: HttpRequest, pk: int, table: str, form: str) -> HttpResponse:
    found = _evaluation(request, pk)
    return file_of(request, tables_of(found), table, form, f"evaluation-{found.pk}")


def _in_words(setting: Setting, found: Evaluation) -> str:
    value = found.settings.get(setting.name, "")
    if isinstance(value, bool):
        return "yes" if value else "no"
    return (setting.options or {}).get(str(value), str(value))


def _evaluation(request: HttpRequest, pk: int) -> Evaluation:
    mine = visible.evaluations(user_of(request)).select_related("job__asked_by", "by")
    return get_object_or_404(mine, pk=pk)
