"""What a worker does. The worker site and tests call these; each is one transaction."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from itertools import chain
from urllib.parse import urlencode, urlsplit, urlunsplit

from django.db import transaction
from django.db.models import Count, Min, QuerySet
from django.utils import timezone

from hits.marketplace import events, states
from hits.marketplace.answers import question_form_answers
from hits.marketplace.eligibility import Requirement, Standing
from hits.marketplace.errors import Refused
from hits.marketplace.ids import thing_id
from hits.marketplace.models import HIT, Assignment, HITType, Worker
from hits.marketplace.settling import settle_due

__all__ = [
    "NOT_ACCEPTED",
    "Offer",
    "accept",
    "accept_one",
    "available",
    "frame_address",
    "give_back",
    "offered",
    "preview",
    "settle_due",
    "submit",
]

NOT_ACCEPTED = "ASSIGNMENT_ID_NOT_AVAILABLE"
QUICKER_OTHERS = 20


@dataclass(frozen=True)
class Offer:
    """The HITs of one group that a worker could do, and the one to begin with."""

    hit_type: HITType
    hit: HIT
    hits: int
    may_preview: bool
    may_accept: bool
    unmet: tuple[Requirement, ...]


def offered(worker: Worker) -> QuerySet[HIT]:
    """HITs with a free place that the worker has not taken, whatever they require."""
    taken = Assignment.objects.filter(worker=worker, status__in=Assignment.LIVE)
    alive = HIT.objects.filter(status=HIT.Status.ASSIGNABLE, expires_at__gt=timezone.now())
    return alive.exclude(assignments__in=taken)


def available(worker: Worker) -> list[Offer]:
    """One offer a group, newest first; groups that the worker may not discover are left out."""
    settle_due()
    groups = offered(worker).values("hit_type").annotate(hits=Count("id"), first=Min("id"))
    hits = HIT.objects.select_related("hit_type__requester").in_bulk(
        [group["first"] for group in groups]
    )
    standing = Standing.of(worker)
    offers = [_offer(standing, hits[group["first"]], group["hits"]) for group in groups]
    found = [offer for offer in offers if standing.may_discover(offer.hit_type)]
    return sorted(found, key=lambda offer: offer.hit_type.created_at, reverse=True)


def _offer(standing: Standing, hit: HIT, hits: int) -> Offer:
    return Offer(
        hit_type=hit.hit_type,
        hit=hit,
        hits=hits,
        may_preview=standing.may_preview(hit.hit_type),
        may_accept=standing.may_accept(hit.hit_type),
        unmet=tuple(standing.unmet(hit.hit_type)),
    )


def preview(*, worker: Worker | None, hit: HIT) -> Offer:
    """Refused where the HIT is over or a qualification guards its preview; strangers see what
    needs no qualification to be seen."""
    settle_due()
    hit = HIT.objects.select_related("hit_type__requester").get(pk=hit.pk)
    if hit.status != HIT.Status.ASSIGNABLE:
        raise Refused("unavailable", "This HIT is not available any more.")
    if worker is None:
        standing = Standing(scores={}, locale=("", ""), blocked_by=frozenset())
    else:
        standing = Standing.of(worker)
    offer = _offer(standing, hit, 1)
    if not offer.may_preview:
        raise Refused("not_qualified", "You do not meet the qualifications to see this HIT.")
    return offer


@transaction.atomic
def accept(*, worker: Worker, hit: HIT) -> Assignment:
    """The worker's assignment of this HIT: a new one, or the one already accepted."""
    hit = states.locked(hit.pk)
    mine = hit.assignments.filter(worker=worker, status__in=Assignment.LIVE).first()
    if mine is not None:
        return _again(mine)
    if hit.status != HIT.Status.ASSIGNABLE or states.is_over(hit):
        raise Refused("unavailable", "This HIT is not available any more.")
    standing = Standing.of(worker)
    if hit.requester_id in standing.blocked_by:
        raise Refused("blocked", "This requester does not take work from you.")
    if standing.unmet(hit.hit_type):
        raise Refused("not_qualified", "You do not meet the qualifications for this HIT.")
    return _assign(worker, hit)


def accept_one(*, worker: Worker, hit_type: HITType, rather: HIT | None) -> Assignment:
    """The HIT that was asked for, or, where others were quicker, the next of its group."""
    first = [rather] if rather is not None else []
    others = offered(worker).filter(hit_type=hit_type).order_by("id")
    for hit in chain(first, others[:QUICKER_OTHERS]):
        try:
            return accept(worker=worker, hit=hit)
        except Refused as refusal:
            if refusal.code != "unavailable":
                raise
    raise Refused("unavailable", "No HIT of this kind is left.")


def _again(mine: Assignment) -> Assignment:
    if mine.status != Assignment.Status.ACCEPTED:
        raise Refused("done", "You have done this HIT already.")
    if mine.deadline <= timezone.now():
        raise Refused("too_late", "The time for this HIT is over.")
    return mine


def _assign(worker: Worker, hit: HIT) -> Assignment:
    now = timezone.now()
    assignment = Assignment(
        hit=hit,
        worker=worker,
        assignment_id=_free_id(hit),
        accepted_at=now,
        deadline=now + timedelta(seconds=hit.hit_type.assignment_seconds),
    )
    assignment.save()
    hit.pending += 1
    states.refresh(hit)
    events.note("AssignmentAccepted", hit, assignment)
    return assignment


def _free_id(hit: HIT) -> str:
    """An id that was given back goes to the next worker, as at Mechanical Turk."""
    live = hit.assignments.filter(status__in=Assignment.LIVE).values("assignment_id")
    given_back = hit.assignments.exclude(assignment_id__in=live).order_by("-id")
    return given_back.values_list("assignment_id", flat=True).first() or thing_id()


@transaction.atomic
def give_back(*, assignment: Assignment) -> None:
    assignment = _in_hand(assignment)
    states.move(assignment, Assignment.Status.RETURNED)
    events.note("AssignmentReturned", assignment.hit, assignment)


@transaction.atomic
def submit(*, assignment: Assignment, answers: Iterable[tuple[str, str]]) -> Assignment:
    assignment = _in_hand(assignment)
    now = timezone.now()
    if assignment.deadline <= now:
        raise Refused("too_late", "The time for this HIT is over.")
    states.move(
        assignment,
        Assignment.Status.SUBMITTED,
        submitted_at=now,
        auto_approval_at=now + timedelta(seconds=assignment.hit.hit_type.auto_approval_seconds),
        answer=question_form_answers(answers),
    )
    events.note("AssignmentSubmitted", assignment.hit, assignment)
    return assignment


def _in_hand(assignment: Assignment) -> Assignment:
    """The assignment as it is now, its HIT's row locked; refused unless a worker has it."""
    hit = states.locked(assignment.hit_id)
    fresh = Assignment.objects.select_related("worker").get(pk=assignment.pk)
    fresh.hit = hit
    if fresh.status in Assignment.HANDED_IN:
        raise Refused("done", "This HIT was submitted already.")
    if fresh.status != Assignment.Status.ACCEPTED:
        raise Refused("not_yours", "This HIT is not with you any more.")
    return fresh


def frame_address(*, hit: HIT, assignment: Assignment | None, submit_to: str) -> str:
    """The address in the frame: the requester's own, with what the contract adds to it."""
    given = {
        "assignmentId": assignment.assignment_id if assignment else NOT_ACCEPTED,
        "hitId": hit.hit_id,
    }
    if assignment is not None:
        given |= {"turkSubmitTo": submit_to, "workerId": assignment.worker.worker_id}
    parts = urlsplit(hit.external_url)
    query = "&".join(part for part in (parts.query, urlencode(given)) if part)
    return urlunsplit(parts._replace(query=query))
