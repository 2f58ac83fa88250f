"""Erasing a person on their request: first what there is of them; when said again, it is done."""

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from hits.models import Erasure, Person
from hits.pipeline import erase
from hits.pipeline.errors import PipelineError
from hits.views.access import desks, login_required, user_of
from hits.views.research_forms import ErasureForm

MOST_SHOWN = 50


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def erasures(request: HttpRequest) -> HttpResponse:
    user = user_of(request)
    if not user.is_staff:
        raise Http404
    form = ErasureForm(request.POST or None)
    person = _found(form, request) if form.is_valid() else None
    if person is not None and "really" in request.POST:
        erase.erase(person=person, by=user)
        messages.success(request, "The person is erased. What they chose stays, without them.")
        return redirect("erasures")
    context = desks(user) | {
        "form": form,
        "outlook": erase.outlook(person) if person else None,
        "erasures": Erasure.objects.select_related("by").order_by("-pk")[:MOST_SHOWN],
    }
    return render(request, "research/erasures.html", context, status=422 if form.errors else 200)


def _found(form: ErasureForm, request: HttpRequest) -> Person | None:
    try:
        person = erase.find(**form.cleaned_data)
        erase.check(person=person, by=user_of(request))
    except PipelineError as error:
        form.add_error(None, error.message)
        return None
    return person
