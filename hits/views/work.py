"""The page of a HIT for somebody who is logged in: shown, saved, submitted, given back."""

from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
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
from hits.records import Fields, Page

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
        messages.info(request, "This page was given back. Start another one here.")
        return redirect("home")
    if assignment.state == Assignment.State.EXPIRED and not submit.has_consent(assignment.pk):
        messages.info(request, submit.WITHDREW)
        return redirect("home")
    return _render(request, shown)


@require_POST
def page_save(request: HttpRequest, key: UUID) -> JsonResponse:
    if not isinstance(request.user, User):
        return _refuse(401, "logged_out", "You are logged out.")
    try:
        saved = submit.save_draft(
            assignment_key=key,
            account=people.account_of(request.user),
            fields=_fields(request),
            revision=int(request.POST.get("revision", "")),
        )
    except ValueError:
        return _refuse(400, "revision", "A save needs the number of its revision.")
    except Assignment.DoesNotExist:
        return _refuse(404, "unknown", "There is no such page of yours.")
    except Stale as refusal:
        return _refuse(409, "newer", refusal.message)
    except Closed as refusal:
        return _refuse(409, "closed", refusal.message)
    _remember_view(request)
    return JsonResponse({"saved_at": saved.saved_at.isoformat(), "revision": saved.revision})


@require_POST
def page_submit(request: HttpRequest, key: UUID) -> HttpResponse:
    wants_json = "application/json" in request.headers.get("Accept", "")
    if not isinstance(request.user, User):
        if wants_json:
            return _refuse(401, "logged_out", "You are logged out.")
        messages.warning(request, "You were logged out, so this page is not submitted yet.")
        return redirect_to_login(reverse("page", kwargs={"key": key}))
    _remember_view(request)
    fields = _fields(request)
    done_url = reverse("page_done", kwargs={"key": key})
    try:
        receipt = submit.submit(
            assignment_key=key, account=people.account_of(request.user), fields=fields
        )
    except Assignment.DoesNotExist:
        return _refuse(404, "unknown", "There is no such page of yours.")
    except Incomplete as incomplete:
        if wants_json:
            return JsonResponse({"errors": incomplete.errors}, status=422)
        shown = page_of(_assignment(request, key), fields=fields, errors=incomplete.errors)
        notice = f"{incomplete.message} Nothing is lost: answer them and submit again."
        return _render(request, shown, notice=notice, status=422)
    except Closed as refusal:
        if wants_json:
            return _refuse(409, "closed", refusal.message)
        messages.warning(request, refusal.message)
        return redirect("home")
    if wants_json:
        return JsonResponse(
            {
                "receipt": receipt.key,
                "submitted_at": receipt.submitted_at.isoformat(),
                "next_url": done_url,
            }
        )
    return redirect(done_url)


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
    request: HttpRequest, shown: Page, *, notice: str = "", status: int = 200
) -> HttpResponse:
    address = {"key": shown.key}
    context = {
        "page": shown,
        "alike": {},
        "notice": notice,
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


def _fields(request: HttpRequest) -> Fields:
    return dict(request.POST.lists())


def _remember_view(request: HttpRequest) -> None:
    """One at a time or all at once, as the person last had it."""
    view = request.POST.get("view")
    if view in {ONE_AT_A_TIME, ALL} and request.session.get("view", ONE_AT_A_TIME) != view:
        request.session["view"] = view


def _refuse(status: int, error: str, message: str) -> JsonResponse:
    return JsonResponse({"error": error, "message": message}, status=status)
