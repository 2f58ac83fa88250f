"""A study rehearsed on simulated crowds, before a cent is paid."""

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from hits.pipeline import jobs
from hits.pipeline.rehearse import MOST_PEOPLE, last_rehearsal
from hits.views.access import login_required, study_of_researcher, user_of
from hits.views.research import recent_jobs, study_context


class RehearsalForm(forms.Form):
    people = forms.IntegerField(min_value=1, max_value=MOST_PEOPLE, initial=50, label="People")
    bad_share = forms.FloatField(
        min_value=0,
        max_value=1,
        initial=0.1,
        label="Share of them who work badly",
        help_text="Hasty, biased, adversarial, colluding or drifting.",
    )
    positives = forms.FloatField(
        min_value=0.01,
        max_value=0.99,
        initial=0.3,
        label="Share of units whose right answer is a yes",
    )
    hours_a_day = forms.FloatField(
        min_value=0.05, max_value=24, initial=1, label="Hours a day that each works"
    )


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def rehearsal(request: HttpRequest, slug: str) -> HttpResponse:
    study = study_of_researcher(request, slug)
    form = RehearsalForm(request.POST if request.method == "POST" else None)
    if form.is_valid():
        arguments = {"study": study.pk, **form.cleaned_data}
        jobs.ask(kind="rehearse", arguments=arguments, by=user_of(request), study=study)
        messages.success(request, "The rehearsal has been asked for: it takes some seconds.")
        return redirect("study_rehearsal", slug=slug)
    last = last_rehearsal(study)
    running = study.jobs.filter(kind="rehearse", state__in=["queued", "running", "failed"])
    if last is not None:
        running = running.filter(pk__gt=last.pk)
    context = study_context(request, study, "overview") | {
        "form": form,
        "found": last.result if last else None,
        "at": last.finished_at if last else None,
        "jobs": recent_jobs(running),
    }
    status = 422 if form.errors else 200
    return render(request, "research/rehearsal.html", context, status=status)
