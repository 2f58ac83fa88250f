"""A worker's pages inside a marketplace's frame: preview, consent, the page of a HIT, hand-over.

No cookie is set or read here. The address has the signed key of a HIT and, behind the question
mark, what the marketplace added to it; the page has a pass that goes with whatever it sends.
Templates are rendered without the request, so that no session can be touched.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import wraps
from typing import Any

import structlog
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_GET, require_POST

from hits.channels import configured
from hits.channels.contract import Channel, Entry, Refusal
from hits.models import Claim, Hit, Publication
from hits.pipeline import claim as claims
from hits.pipeline import people
from hits.pipeline.errors import Closed, Incomplete, NotAllowed, Refused, Stale
from hits.pipeline.feedback import feedback_on
from hits.pipeline.passes import Pass, read_pass, write_pass
from hits.pipeline.publish import hit_of
from hits.pipeline.show import page_of
from hits.pipeline.terms import terms_at
from hits.records import Fields, Page, Saved
from hits.views.answering import (
    answer_to_save,
    answer_to_submit,
    fields_of,
    refuse,
    revision_of,
    wants_json,
)

log = structlog.get_logger("claims")

# A page may come late, and is kept also then.
PASS_OUTLIVES_PAGE = timedelta(days=1)
FIRST = "first"
PAYS_FOR_EARLIER_WORK = (
    "This HIT pays you for work that you did before. Accept it and hand it over: there is nothing "
    "to answer."
)
OPEN_TOO_LONG = "This page has been open for too long. Load it again: what was saved is safe."


@dataclass(frozen=True, slots=True)
class Visit:
    """A request for a HIT that exists, of a channel that is configured."""

    request: HttpRequest
    signed_key: str
    hit: Hit
    channel: Channel

    @property
    def publication(self) -> Publication:
        return self.hit.publication

    def url(self, name: str) -> str:
        """An address of this HIT, with what the marketplace added to it."""
        query = self.request.GET.copy()
        query.pop(FIRST, None)
        return f"{reverse(name, args=[self.signed_key])}?{query.urlencode()}"

    def pass_sent(self) -> Pass | None:
        kind, _, text = self.request.headers.get("Authorization", "").partition(" ")
        if kind.lower() != "bearer":
            text = self.request.POST.get("token", "")
        found = read_pass(text, self.hit)
        if found is None:
            log.warning("no good pass", hit=self.hit.pk, given=bool(text))
        return found

    def entry_by_pass(self) -> Entry | None:
        found = self.pass_sent()
        return None if found is None else found.entry

    def pass_for(self, entry: Entry) -> str:
        until = timezone.now() + claims.duration_of(self.hit) + PASS_OUTLIVES_PAGE
        return write_pass(hit=self.hit, entry=entry, until=until)


View = Callable[[Visit], HttpResponse]


def _for_a_hit(view: View) -> Callable[[HttpRequest, str], HttpResponse]:
    @csrf_exempt
    @never_cache
    @wraps(view)
    def found(request: HttpRequest, signed_key: str) -> HttpResponse:
        try:
            hit = hit_of(signed_key)
            channel = configured.channel(hit.publication.channel)
        except (Hit.DoesNotExist, configured.NoSuchChannel):
            log.warning("no such HIT", key=signed_key[:100])
            return nothing(request, signed_key)
        return view(Visit(request, signed_key, hit, channel))

    return found


@csrf_exempt
def nothing(request: HttpRequest, anything: str) -> HttpResponse:
    return _say("There is nothing here.", status=404)


@require_GET
@_for_a_hit
def show(visit: Visit) -> HttpResponse:
    """The preview, or what somebody who accepted has to do next."""
    try:
        entry = visit.channel.admit(visit.request.GET.dict())
        claims.check(hit=visit.hit, entry=entry)
    except (Refusal, Refused) as refusal:
        return _say(str(refusal), status=404)
    _note_foreign_submit(visit)
    if entry.is_preview:
        return _preview(visit)
    try:
        return _next_step(visit, entry)
    except NotAllowed:
        return _ask_for_consent(visit, entry)
    except claims.TooMany as refusal:
        return _owe(visit, entry, refusal)
    except Closed as refusal:
        return _say(refusal.message, status=409)


def _next_step(visit: Visit, entry: Entry) -> HttpResponse:
    if visit.publication.compensates_id is not None:
        return _hand_over(visit, entry, claims.enter(hit=visit.hit, entry=entry))
    found = claims.claim(hit=visit.hit, entry=entry)
    if claims.is_over(found):
        return _hand_over(visit, entry, found)
    assert found.assignment is not None
    return _page(visit, entry, page_of(found.assignment))


@require_POST
@_for_a_hit
def agree(visit: Visit) -> HttpResponse:
    sent = visit.pass_sent()
    if sent is None:
        return _say(OPEN_TOO_LONG, status=403)
    try:
        claims.agree(hit=visit.hit, entry=sent.entry, since=sent.since)
    except claims.TooMany as refusal:
        return _owe(visit, sent.entry, refusal)
    except Closed as refusal:
        return _say(refusal.message, status=409)
    return HttpResponseRedirect(f"{visit.url('hit')}&{FIRST}")


@require_POST
@_for_a_hit
def save(visit: Visit) -> JsonResponse:
    found = _claim_by_pass(visit)
    if found is None:
        return refuse(401, "pass", OPEN_TOO_LONG)

    def keep(fields: Fields, revision: int) -> Saved:
        return claims.save(claim=found, fields=fields, revision=revision)

    return answer_to_save(visit.request, keep)


@require_POST
@_for_a_hit
def submit(visit: Visit) -> HttpResponse:
    found = _claim_by_pass(visit)
    in_json = wants_json(visit.request)
    if found is None:
        return refuse(401, "pass", OPEN_TOO_LONG) if in_json else _say(OPEN_TOO_LONG, status=403)
    fields = fields_of(visit.request)
    try:
        receipt = claims.hand_in(claim=found, fields=fields, revision=revision_of(visit.request))
    except Incomplete as incomplete:
        if in_json:
            return JsonResponse({"errors": incomplete.errors}, status=422)
        return _page_with_errors(visit, found, fields, incomplete)
    except Stale as refusal:
        return _page_that_is_older(visit, found, fields, refusal)
    except Closed as refusal:
        if in_json:
            return refuse(409, "closed", refusal.message)
    else:
        if in_json:
            return answer_to_submit(receipt, visit.url("hit"))
    return HttpResponseRedirect(visit.url("hit"))


@require_POST
@_for_a_hit
def handed_over(visit: Visit) -> HttpResponse:
    found = _claim_by_pass(visit)
    if found is None:
        return refuse(401, "pass", OPEN_TOO_LONG)
    claims.note_hand_over(found)
    return HttpResponse(status=204)


@require_POST
@_for_a_hit
def withdraw(visit: Visit) -> HttpResponse:
    found = _claim_by_pass(visit)
    if found is None or found.assignment is None:
        return _say(OPEN_TOO_LONG, status=403)
    people.withdraw_from(page=found.assignment, account=found.account)
    return _say("You have withdrawn. What you had not submitted is not used.", status=200)


def _claim_by_pass(visit: Visit) -> Claim | None:
    entry = visit.entry_by_pass()
    return None if entry is None else claims.find(hit=visit.hit, entry=entry)


def _note_foreign_submit(visit: Visit) -> None:
    """Pages go where our own record says; an address that says otherwise was tampered with."""
    given = visit.request.GET.get("turkSubmitTo", "").rstrip("/")
    if given and given != visit.channel.submit_origin:
        log.warning("foreign submit address", hit=visit.hit.pk, given=given[:100])


def _preview(visit: Visit) -> HttpResponse:
    if visit.publication.compensates_id is not None:
        return _say(PAYS_FOR_EARLIER_WORK, status=200)
    terms = _terms(visit.publication)
    context = {
        "page": replace(claims.specimen(visit.publication.study), terms=terms),
        "alike": {},
        "is_preview": True,
        "terms": terms,
        "minutes": _minutes(visit),
    }
    return _render(visit, "work/worker_preview.html", context)


def _ask_for_consent(visit: Visit, entry: Entry) -> HttpResponse:
    context = {
        "agree_url": visit.url("hit_agree"),
        "token": visit.pass_for(entry),
        "terms": _terms(visit.publication),
        "minutes": _minutes(visit),
    }
    return _render(visit, "work/worker_consent.html", context)


def _page(
    visit: Visit,
    entry: Entry,
    page: Page,
    *,
    notice: str = "",
    is_older: bool = False,
    status: int = 200,
) -> HttpResponse:
    reward = visit.publication.reward
    pay = f"${reward}" if reward else ""
    context = {
        "page": replace(page, pay=pay, terms=_terms(visit.publication)),
        "alike": {},
        "notice": notice,
        "newer_url": visit.url("hit") if is_older else "",
        "token": visit.pass_for(entry),
        "show_instructions": FIRST in visit.request.GET and not page.saved_at,
        "save_url": visit.url("hit_save"),
        "submit_url": visit.url("hit_submit"),
        "leave_url": visit.url("hit"),
        "withdraw_url": visit.url("hit_withdraw"),
    }
    return HttpResponse(render_to_string("work/worker.html", context), status=status)


def _page_with_errors(
    visit: Visit, found: Claim, fields: Fields, incomplete: Incomplete
) -> HttpResponse:
    assert found.assignment is not None
    entry = visit.entry_by_pass()
    assert entry is not None
    shown = page_of(found.assignment, fields=fields, errors=incomplete.errors)
    notice = f"{incomplete.message} Nothing is lost: answer them and submit again."
    return _page(visit, entry, shown, notice=notice, status=422)


def _page_that_is_older(visit: Visit, found: Claim, fields: Fields, refusal: Stale) -> HttpResponse:
    if wants_json(visit.request):
        return refuse(409, "newer", refusal.message)
    assert found.assignment is not None
    entry = visit.entry_by_pass()
    assert entry is not None
    shown = page_of(found.assignment, fields=fields)
    older = replace(shown, revision=revision_of(visit.request))
    return _page(visit, entry, older, notice=refusal.message, is_older=True, status=409)


def _owe(visit: Visit, entry: Entry, refusal: claims.TooMany) -> HttpResponse:
    """Nothing is stored of a claim too many. If it is the real one, the marketplace's list will
    say so once it is handed over, and it is paid for as work that did not arrive."""
    form = visit.channel.finish(ref=entry.ref, worker=entry.worker, receipt="")
    return _render(visit, "work/worker_finish.html", {"form": form, "owed": refusal.message})


def _hand_over(visit: Visit, entry: Entry, found: Claim) -> HttpResponse:
    receipt = str(found.assignment.key) if found.assignment else ""
    context = {
        "form": visit.channel.finish(
            ref=found.ref, worker=found.account.external_id, receipt=receipt
        ),
        "claim": found,
        "receipt": receipt,
        "is_late": claims.came_too_late(found),
        "feedback": feedback_on(found.assignment) if found.assignment else None,
        "token": visit.pass_for(entry),
        "note_url": visit.url("hit_handed_over"),
    }
    return _render(visit, "work/worker_finish.html", context)


def _render(visit: Visit, template: str, context: dict[str, Any]) -> HttpResponse:
    context["study"] = visit.publication.study
    return HttpResponse(render_to_string(template, context))


def _say(sentence: str, *, status: int) -> HttpResponse:
    text = render_to_string("work/worker_message.html", {"sentence": sentence})
    return HttpResponse(text, status=status)


def _minutes(visit: Visit) -> int:
    return claims.duration_of(visit.hit) // timedelta(minutes=1)


def _terms(publication: Publication) -> str:
    """What the HIT pays and how long its page takes."""
    return str(terms_at(publication.study, publication.reward))
