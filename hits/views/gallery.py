"""The gallery: every form there is, and a study's own, to be tried out before anybody is asked."""

import json
from collections.abc import Sequence
from typing import Any

from django.contrib.staticfiles import finders
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.templatetags.static import static
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_safe

from hits.models import Study
from hits.pipeline.gallery import answers_to, page_to_try, specimens_of
from hits.pipeline.plan import plan_of
from hits.pipeline.rules import rules_of
from hits.pipeline.show import items_of
from hits.protocol import Protocol, registry
from hits.records import Items, Json
from hits.views.access import desks_or_404, login_required, study_of_researcher
from hits.views.answering import fields_of


@login_required
@require_safe
def forms(request: HttpRequest) -> HttpResponse:
    context = desks_or_404(request, "may_research")
    kinds = sorted(registry().values(), key=lambda kind: kind.name)
    context["kinds"] = [(kind, _picture_of(kind)) for kind in kinds]
    return render(request, "research/forms.html", context)


def _picture_of(kind: Protocol[Any, Any]) -> str:
    """A small picture of its form, for those that come with one."""
    path = f"forms/{kind.slug}.webp"
    return static(path) if finders.find(path) else ""


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def form(request: HttpRequest, protocol: str) -> HttpResponse:
    desks_or_404(request, "may_research")
    kind = registry().get(protocol)
    if kind is None:
        raise Http404
    settings, wording = kind.settings_model(), kind.wording_model()
    asked = specimens_of(kind)
    return _try_out(request, kind, settings, wording, kind.name, reverse("forms"), asked)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def preview(request: HttpRequest, slug: str) -> HttpResponse:
    """A study's form in its own words: the first page of a draft that was given something to ask
    about, else specimens."""
    study = study_of_researcher(request, slug)
    assert study.version is not None
    kind, settings = rules_of(study)
    wording = kind.wording_model.model_validate(study.version.wording)
    back = reverse("study" if study.state == Study.State.DRAFT else "study_settings", args=[slug])
    payloads = plan_of(study).first_page if study.state == Study.State.DRAFT else []
    asked = (payloads, items_of(kind, payloads)) if payloads else specimens_of(kind)
    return _try_out(request, kind, settings, wording, study.name, back, asked)


def _try_out(
    request: HttpRequest,
    kind: Protocol[Any, Any],
    settings: Any,
    wording: Any,
    title: str,
    back: str,
    asked: tuple[Sequence[Json], Items],
) -> HttpResponse:
    payloads, items = asked
    fields = fields_of(request) if request.method == "POST" else None
    answers: list[Json] = []
    errors: dict[str, str] = {}
    if fields is not None:
        answers, errors = answers_to(kind, settings, payloads, fields)
    page = page_to_try(
        kind, settings, wording,
        title=title, payloads=payloads, items=items, fields=fields, errors=errors,
    )  # fmt: skip
    context = {
        "page": page,
        "alike": {},
        "submit_url": request.path,
        "leave_url": back,
        "stored": _stored(kind, wording, payloads, answers) if answers and not errors else [],
        "notice": "Some answers are missing or wrong." if errors else "",
    }  # fmt: skip
    return render(request, "research/form.html", context, status=422 if errors else 200)


def _stored(
    kind: Protocol[Any, Any], wording: Any, payloads: Sequence[Json], answers: Sequence[Json]
) -> list[tuple[str, str]]:
    return [
        (
            json.dumps(answer, ensure_ascii=False),
            kind.describe(kind.named(answer, payload, None), wording),
        )
        for payload, answer in zip(payloads, answers, strict=True)
    ]
