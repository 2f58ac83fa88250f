"""The page of a HIT for somebody who is logged in: shown, saved, submitted, given back."""

from dataclasses import replace
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.views import redirect_to_login
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from hits.models import Assignment, Study, StudyVersion, User
from hits.pipeline import people, submit
from hits.pipeline.errors import Closed, Incomplete, Stale
from hits.pipeline.show import page_of
from hits.pipeline.statements import Joined
from hits.records import Fields, Page, Saved
from hits.views.access import login_required
from hits.views.answering import (
    answer_to_save,
    answer_to_submit,
    fields_of,
    refuse,
    revision_of,
    wants_json,
)

_OWN = Joined(
    """hits_assignment a JOIN hits_study s ON s.id = a.study_id
    JOIN hits_studyversion v ON v.id = a.version_id
    WHERE a.key = %(key)s AND a.account_id = %(account)s""",
    a=Assignment,
    s=Study,
    v=StudyVersion,
)
ONE_AT_A_TIME, ALL = "one", "all"


@login_required
@require_GET
@never_cache
def page(request: HttpRequest, key: UUID) -> HttpResponse:
    assignment = _assignment(request, key)
    if assignment.state == Assignment.State.SUBMITTED:
        return redirect("page_done", key=key)
    shown = page_of(assignment)
    if not shown.is_open:
        messages.info(request, "This page was given back.")
        return redirect("home")
    if assignment.state == Assignment.State.EXPIRED and not submit.has_consent(assignment.pk):
        messages.info(request, submit.WITHDREW)
        return redirect("home")
    return _render(request, shown)


@require_POST
def page_save(request: HttpRequest, key: UUID) -> JsonResponse:
    if not isinstance(request.user, User):
        return refuse(401, "logged_out", "You are logged out.")
    account = people.account_of(request.user)

    def save(fields: Fields, revision: int) -> Saved:
        return submit.save_draft(
            assignment_key=key, account=account, fields=fields, revision=revision
        )

    try:
        answer = answer_to_save(request, save)
    except Assignment.DoesNotExist:
        return refuse(404, "unknown", "There is no such page of yours.")
    if answer.status_code == 200:
        _remember_view(request)
    return answer


@require_POST
def page_submit(request: HttpRequest, key: UUID) -> HttpResponse:
    if not isinstance(request.user, User):
        if wants_json(request):
            return refuse(401, "logged_out", "You are logged out.")
        messages.warning(request, "You were logged out, so this page is not submitted yet.")
        return redirect_to_login(reverse("page", kwargs={"key": key}))
    _remember_view(request)
    fields = fields_of(request)
    done_url = reverse("page_done", kwargs={"key": key})
    try:
        receipt = submit.submit(
            assignment_key=key,
            account=people.account_of(request.user),
            fields=fields,
            revision=revision_of(request),
        )
    except Assignment.DoesNotExist:
        return refuse(404, "unknown", "There is no such page of yours.")
    except Incomplete as incomplete:
        return _ask_for_the_rest(request, key, fields, incomplete)
    except Stale as refusal:
        return _ask_to_load_the_newer(request, key, fields, refusal)
    except Closed as refusal:
        if wants_json(request):
            return refuse(409, "closed", refusal.message)
        messages.warning(request, refusal.message)
        return redirect("home")
    if wants_json(request):
        return answer_to_submit(receipt, done_url)
    return redirect(done_url)


def _ask_for_the_rest(
    request: HttpRequest, key: UUID, fields: Fields, incomplete: Incomplete
) -> HttpResponse:
    if wants_json(request):
        return JsonResponse({"errors": incomplete.errors}, status=422)
    shown = page_of(_assignment(request, key), fields=fields, errors=incomplete.errors)
    notice = f"{incomplete.message} Nothing is lost: answer them and submit again."
    return _render(request, shown, notice=notice, status=422)


def _ask_to_load_the_newer(
    request: HttpRequest, key: UUID, fields: Fields, refusal: Stale
) -> HttpResponse:
    if wants_json(request):
        return refuse(409, "newer", refusal.message)
    shown = page_of(_assignment(request, key), fields=fields)
    older = replace(shown, revision=revision_of(request))
    return _render(request, older, notice=refusal.message, is_older=True, status=409)


@login_required
@require_POST
def page_return(request: HttpRequest, key: UUID) -> HttpResponse:
    assignment = _assignment(request, key)
    try:
        submit.give_back(assignment_key=key, account=assignment.account)
    except Closed as refusal:
        messages.warning(request, refusal.message)
    else:
        messages.success(request, "You gave the page back.")
    return redirect("home")


def _render(
    request: HttpRequest,
    shown: Page,
    *,
    notice: str = "",
    is_older: bool = False,
    status: int = 200,
) -> HttpResponse:
    address = {"key": shown.key}
    context = {
        "page": shown,
        "alike": {},
        "notice": notice,
        "newer_url": reverse("page", kwargs=address) if is_older else "",
        "view": request.session.get("view", ONE_AT_A_TIME),
        "show_instructions": "first" in request.GET,
        "save_url": reverse("page_save", kwargs=address),
        "submit_url": reverse("page_submit", kwargs=address),
        "return_url": reverse("page_return", kwargs=address),
        "leave_url": reverse("home"),
        "login_url": reverse("login"),
    }
    return render(request, "work/rater.html", context, status=status)


def _assignment(request: HttpRequest, key: UUID) -> Assignment:
    assert isinstance(request.user, User)
    account = people.account_of(request.user)
    found = _OWN.first(key=key, account=account.pk)
    if found is None:
        raise Http404
    assignment: Assignment = found[0]
    assignment.study, assignment.version, assignment.account = found[1], found[2], account
    return assignment


def _remember_view(request: HttpRequest) -> None:
    """One at a time or all at once, as the person last had it."""
    view = request.POST.get("view")
    if view in {ONE_AT_A_TIME, ALL} and request.session.get("view", ONE_AT_A_TIME) != view:
        request.session["view"] = view
