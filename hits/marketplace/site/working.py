"""Accepting a HIT, working on it in its frame, giving it back."""

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import require_GET, require_POST

from hits.marketplace import work
from hits.marketplace.errors import Refused
from hits.marketplace.models import HIT, Assignment, HITType, Worker
from hits.marketplace.site.guards import for_workers, origin, show, tell


@require_POST
@for_workers
def accept(request: HttpRequest, worker: Worker, hit_group_id: str) -> HttpResponse:
    """The HIT that was looked at, or another of its group if somebody was quicker."""
    kind = HITType.objects.filter(hit_group_id=hit_group_id).first()
    if kind is None:
        raise Http404
    work.settle_due()
    hit_id = request.POST.get("hit", "").replace("\0", "")
    looked_at = HIT.objects.filter(hit_type=kind, hit_id=hit_id).first()
    try:
        accepted = work.accept_one(worker=worker, hit_type=kind, rather=looked_at)
    except Refused as refusal:
        return tell(request, worker, "Not accepted", refusal.message, status=409)
    return redirect("assignment", assignment_id=accepted.assignment_id)


@require_GET
@for_workers
def assignment(request: HttpRequest, worker: Worker, assignment_id: str) -> HttpResponse:
    mine = _mine(worker, assignment_id)
    hit = mine.hit
    context: dict[str, Any] = {"assignment": mine, "hit": hit, "kind": hit.hit_type}
    if mine.status in Assignment.HANDED_IN:
        more = work.offered(worker).filter(hit_type=hit.hit_type).count()
        return show(request, worker, "handed_in", more=more, **context)
    if mine.status != Assignment.Status.ACCEPTED:
        return show(request, worker, "not_in_hand", **context)
    address = work.frame_address(hit=hit, assignment=mine, submit_to=f"{origin(request)}/")
    left = int((mine.deadline - timezone.now()).total_seconds())
    return show(request, worker, "work", address=address, seconds_left=left, **context)


@require_GET
@for_workers
def state(_request: HttpRequest, worker: Worker, assignment_id: str) -> HttpResponse:
    return JsonResponse({"status": _mine(worker, assignment_id).status})


@require_POST
@for_workers
def give_back(request: HttpRequest, worker: Worker, assignment_id: str) -> HttpResponse:
    try:
        work.give_back(assignment=_mine(worker, assignment_id))
    except Refused as refusal:
        return tell(request, worker, "Not returned", refusal.message, status=409)
    return redirect("/?returned")


def _mine(worker: Worker, assignment_id: str) -> Assignment:
    work.settle_due()
    mine = (
        Assignment.objects.filter(worker=worker, assignment_id=assignment_id)
        .select_related("hit__hit_type__requester", "worker")
        .order_by("-id")
        .first()
    )
    if mine is None:
        raise Http404
    return mine
