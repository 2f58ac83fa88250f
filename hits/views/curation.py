"""What does not belong into a study's data, what is asked again, and what becomes a gold."""

from collections.abc import Callable
from io import TextIOWrapper
from typing import Any, NamedTuple

from django import forms
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from hits.models import Curation, Study, User
from hits.pipeline import golds, rejudge, remove
from hits.pipeline.doubtful import Doubtful, denied, rated_low
from hits.pipeline.errors import PipelineError, Refused
from hits.pipeline.evidence import Shown, what_they_show
from hits.pipeline.golds import Promising, promising, promotes
from hits.pipeline.naming import keys_of
from hits.pipeline.remove import Thing
from hits.protocol import protocol
from hits.views.access import login_required, study_of_researcher, user_of
from hits.views.curation_forms import (
    AgainForm,
    GoldsForm,
    LowForm,
    OverlapForm,
    ReasonForm,
    RemoveForm,
)
from hits.views.research import study_context
from hits.views.typed import number_in, typed

EVENTS_SHOWN = 100
DOUBTFUL_SHOWN = 200
GOLDS_SHOWN = 20

Values = dict[str, Any]


class Act(NamedTuple):
    form: type[forms.Form]
    do: Callable[[HttpRequest, Study, Values, User], str]


@login_required
@require_safe
def curation(request: HttpRequest, slug: str) -> HttpResponse:
    study = _opened(request, slug)
    looked = denied(study) if "doubtful" in request.GET else None
    ready = promising(study=study, most=GOLDS_SHOWN) if "golds" in request.GET else None
    return _show(request, study, doubtful=looked, ready=ready)


@login_required
@require_POST
def act(request: HttpRequest, slug: str, act: str) -> HttpResponse:
    study = _opened(request, slug)
    found = ACTS.get(act)
    if found is None:
        raise Http404
    form = found.form(request.POST, prefix=act)
    if form.is_valid():
        try:
            messages.success(request, found.do(request, study, form.cleaned_data, user_of(request)))
        except PipelineError as refusal:
            form.add_error(None, refusal.message)
        else:
            return redirect("study_curation", slug=slug)
    return _show(request, study, wrong=(act, form))


@login_required
@require_POST
def low(request: HttpRequest, slug: str) -> HttpResponse:
    """The original pairs that an uploaded file rates low, to choose from."""
    study = _opened(request, slug)
    form = LowForm(request.POST, request.FILES, prefix="low")
    if not form.is_valid():
        return _show(request, study, wrong=("low", form))
    lines = TextIOWrapper(form.cleaned_data["file"], encoding="utf-8", errors="replace")
    try:
        found = rated_low(study, lines, form.cleaned_data["below"])
    except PipelineError as refusal:
        form.add_error("file", refusal.message)
        return _show(request, study, wrong=("low", form))
    return _show(request, study, doubtful=found)


def _opened(request: HttpRequest, slug: str) -> Study:
    study = study_of_researcher(request, slug)
    if study.state == Study.State.DRAFT:
        raise Http404
    return study


def _remove(request: HttpRequest, study: Study, values: Values, by: User) -> str:
    named = remove.named(study, image=values["image"], caption=values["caption"])
    return _removed(study, [named], values["reason"], by)


def _remove_chosen(request: HttpRequest, study: Study, values: Values, by: User) -> str:
    things = remove.originals(study, [number_in(each) for each in request.POST.getlist("pair")])
    if not things:
        raise Refused("Choose some pairs.")
    return _removed(study, things, values["reason"], by)


def _removed(study: Study, things: list[Thing], reason: str, by: User) -> str:
    made = remove.remove(study=study, things=things, reason=reason, by=by)
    units = sum(each.units for each in made)
    return f"{len(made)} removed, with {units:,} unit{'' if units == 1 else 's'}."


def _restore(request: HttpRequest, study: Study, values: Values, by: User) -> str:
    ids = (request.POST.get(name, "") for name in ("image", "caption"))
    image, caption = (number_in(each) if each else None for each in ids)
    made = remove.restore(
        study=study, things=[Thing(image, caption)], reason=values["reason"], by=by
    )
    return "It is back in the data." if made else "It was in the data already."


def _again(request: HttpRequest, study: Study, values: Values, by: User) -> str:
    keys = keys_of(study, values.pop("units"))
    again = rejudge.rejudge(study=study, keys=keys, by=by, **values)
    units = f"{again.units:,} unit{'' if again.units == 1 else 's'}"
    return f"{units} will be asked again; {again.set_aside:,} judgments were set aside."


def _overlap(request: HttpRequest, study: Study, values: Values, by: User) -> str:
    again = rejudge.overlap(study=study, by=by, **values)
    return f"{again.units:,} units want {values['judgments']} judgments each."


def _golds(request: HttpRequest, study: Study, values: Values, by: User) -> str:
    keys = list(map(typed, request.POST.getlist("unit")))
    made = golds.promote(study=study, keys=keys, by=by, **values)
    return f"{len(made)} gold{'' if len(made) == 1 else 's'} more."


ACTS = {
    "remove": Act(RemoveForm, _remove),
    "remove-chosen": Act(ReasonForm, _remove_chosen),
    "restore": Act(ReasonForm, _restore),
    "again": Act(AgainForm, _again),
    "overlap": Act(OverlapForm, _overlap),
    "golds": Act(GoldsForm, _golds),
}


def _show(
    request: HttpRequest,
    study: Study,
    *,
    doubtful: list[Doubtful] | None = None,
    ready: list[Promising] | None = None,
    wrong: tuple[str, forms.Form] | None = None,
) -> HttpResponse:
    fresh: dict[str, forms.Form] = {name: each.form(prefix=name) for name, each in ACTS.items()}
    fresh["low"] = LowForm(prefix="low")
    forms_shown = fresh | ({wrong[0]: wrong[1]} if wrong else {})
    events = study.curations.select_related("image", "caption", "unit", "by").order_by("-pk")
    context = study_context(request, study, "curation") | {
        **{f"{name.replace('-', '_')}_form": form for name, form in forms_shown.items()},
        "gone": _gone(study),
        "events": events[:EVENTS_SHOWN],
        "doubtful": doubtful[:DOUBTFUL_SHOWN] if doubtful is not None else None,
        "may_ask": study.state != Study.State.CLOSED,
        "promotes": promotes(study),
        "looked_for_golds": ready is not None,
        "promising": _described(study, ready or []),
    }
    return render(request, "research/curation.html", context, status=422 if wrong else 200)


def _described(study: Study, ready: list[Promising]) -> list[tuple[Promising, Shown, str]]:
    """What each shows, and the gold that it makes, in words."""
    kind = protocol(study.protocol)
    assert study.version is not None
    wording = kind.wording_model.model_validate(study.version.wording)
    shown = what_they_show(study, [each.unit for each in ready])
    return [
        (each, what, kind.describe(kind.named(each.gold, each.unit.payload, None), wording))
        for each, what in zip(ready, shown, strict=True)
    ]


def _gone(study: Study) -> list[Curation]:
    """The newest event of each thing that is gone."""
    last = study.curations.filter(kind__in=["remove", "restore"])
    last = last.order_by("image", "caption", "-pk").distinct("image", "caption")
    found = last.select_related("image", "caption", "by")
    return sorted((each for each in found if each.kind == "remove"), key=lambda each: -each.pk)
