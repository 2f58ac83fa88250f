"""A study's settings and wording: seen version by version, changed by making a new one."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from hits.analysis.signals.settings import QualitySettings
from hits.models import StudyVersion
from hits.pipeline.errors import Refused, Stale
from hits.pipeline.versions import change_version
from hits.views.access import login_required, study_of_researcher, user_of
from hits.views.research import study_context
from hits.views.version_form import PARTS, PLAIN, VersionForm, labels_of


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def settings(request: HttpRequest, slug: str) -> HttpResponse:
    study = study_of_researcher(request, slug)
    assert study.version is not None
    form = VersionForm(request.POST or None, study=study, version=study.version)
    if request.method == "POST" and form.is_valid():
        changes = _changed(study.version, form.changes())
        if not changes:
            messages.info(request, "Nothing was different, so there is no new version.")
            return redirect("study_settings", slug=slug)
        try:
            version = change_version(
                study=study, by=user_of(request), seen=form.cleaned_data["seen"], **changes
            )
        except (Refused, Stale) as refusal:
            form.add_error(None, refusal.message)
        else:
            messages.success(request, f"Version {version.number} holds for pages from now on.")
            return redirect("study_settings", slug=slug)
    versions = list(study.versions.select_related("created_by").order_by("-number"))
    context = study_context(request, study, "settings") | {
        "form": form,
        "versions": _with_changes(versions, labels_of(study)),
    }
    return render(request, "research/settings.html", context, status=422 if form.errors else 200)


def _changed(version: StudyVersion, values: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if _of(version, name) != value}


def _of(version: StudyVersion, name: str) -> Any:
    """Versions from before there were rules of quality were under those that hold unless set."""
    value = getattr(version, name)
    return QualitySettings.model_validate(value).model_dump() if name == "quality" else value


def _with_changes(
    versions: Sequence[StudyVersion], labels: Mapping[str, str]
) -> list[tuple[StudyVersion, list[str]]]:
    """Each version with what it changed, as the form calls it; the newest first."""
    before = [*versions[1:], None]
    return [
        (new, [labels.get(name, name) for name in _names(new, old)])
        for new, old in zip(versions, before, strict=True)
    ]


def _names(new: StudyVersion, old: StudyVersion | None) -> list[str]:
    if old is None:
        return ["first version"]
    names = [name for name in PLAIN if getattr(new, name) != getattr(old, name)]
    for part in PARTS:
        values, earlier = _of(new, part), _of(old, part)
        names += [name for name in values if values[name] != earlier.get(name)]
    return names
