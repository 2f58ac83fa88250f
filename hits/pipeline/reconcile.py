"""Reconcile: the marketplace's own list says who handed over what; only it confirms."""

from datetime import datetime, timedelta

import structlog
from django.conf import settings
from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.utils import timezone

from hits.channels.configured import channel as channel_named
from hits.channels.configured import names
from hits.channels.contract import Channel, NoAnswer, Submitted, Ticket
from hits.models import Assignment, Claim, Decision, Hit, Intent, Publication
from hits.models.publication import GRACE
from hits.pipeline import jobs, ledger, limits
from hits.pipeline.compensate import end_compensation
from hits.pipeline.errors import Closed
from hits.pipeline.jobs import Progress
from hits.pipeline.launch import grant
from hits.pipeline.people import account_at
from hits.pipeline.publish import QUEUE, replace_lost, take_back_tickets
from hits.pipeline.review import record
from hits.pipeline.submit import close
from hits.records import Json

log = structlog.get_logger()

NOT_CONFIRMED = "Not confirmed by the marketplace"
CONFIRMED = "Confirmed by the marketplace after all."
DECIDED_THERE = "Decided at the marketplace."
_ORDER = ["", "submitted", "rejected", "approved"]


def reconcile(publication: Publication, progress: Progress | None = None) -> Json:
    """Take over what the marketplace lists, and whatever follows from it."""
    channel = channel_named(publication.channel)
    asked_at = timezone.now()
    if publication.state != Publication.State.OPEN:
        _find_out_what_was_made(publication)
    hits = {hit.hit_id: hit for hit in _unsettled_hits().filter(publication=publication)}
    confirmed = _take_over(publication, channel, hits, progress) if hits else 0
    _end_expired(publication, asked_at)
    freed = free_unconfirmed(publication, asked_at)
    grant(publication.study, publication.channel)
    if publication.state != Publication.State.OPEN:
        take_back_tickets(publication)
    with transaction.atomic():
        Publication.objects.filter(pk=publication.pk).update(reconciled_at=asked_at)
        added = replace_lost(publication)
    return {"confirmed": confirmed, "freed": freed, "tickets": added}


def _half_made() -> QuerySet[Intent]:
    """Calls for tickets that may have been made, of publications that are not open any more."""
    return Intent.objects.filter(
        action=Ticket.action, attempts__gt=0, settled_at__isnull=True
    ).exclude(publication__state=Publication.State.OPEN)


def _find_out_what_was_made(publication: Publication) -> None:
    is_closed = publication.state == Publication.State.CLOSED
    for intent in _half_made().filter(publication=publication):
        ledger.find_out(intent, gives_up=is_closed)


def _unsettled_hits() -> QuerySet[Hit]:
    """Tickets of which something new can be heard: live ones, pages that are not paid, and
    those that ended, until they were asked about once more after their last moment."""
    claims = Claim.objects.filter(hit=OuterRef("pk"))
    in_doubt = Q(publication__reconciled_at__isnull=True) | Q(
        last_moment__gte=F("publication__reconciled_at") - GRACE
    )
    return Hit.objects.with_last_moment().filter(
        Q(state=Hit.State.LIVE)
        | Q(Exists(claims.filter(theirs="submitted")))
        | Q(in_doubt, ~Exists(claims.exclude(theirs="")), state=Hit.State.ENDED),
        state__in=[Hit.State.LIVE, Hit.State.ENDED],
    )


def _take_over(
    publication: Publication, channel: Channel, hits: dict[str, Hit], progress: Progress | None
) -> int:
    confirmed = 0
    try:
        for listed in channel.list_submissions(publication.hit_type_id, list(hits)):
            if progress is not None:
                progress(confirmed, message=f"{confirmed:,} pages confirmed")
            if listed.hit_id in hits:
                confirmed += confirm(hits[listed.hit_id], listed)
    except NoAnswer as silence:
        raise Closed(f"{publication.channel} does not answer: {silence}") from None
    return confirmed


@transaction.atomic
def confirm(hit: Hit, listed: Submitted) -> bool:
    """One submission on the marketplace's list. True where it is new to us."""
    Hit.objects.select_for_update(no_key=True).get(pk=hit.pk)
    account = account_at(channel=hit.publication.channel, external_id=listed.worker)
    Claim.objects.get_or_create(hit=hit, ref=listed.ref, account=account)
    claim = Claim.objects.select_for_update(no_key=True).get(
        hit=hit, ref=listed.ref, account=account
    )
    is_new = not claim.theirs
    # The list may be older than what the ledger has done since.
    if _ORDER.index(listed.state) <= _ORDER.index(claim.theirs):
        return False
    claim.theirs = listed.state
    claim.confirmed_at = claim.confirmed_at or timezone.now()
    claim.submitted_there_at = listed.submitted_at
    claim.auto_approval_at = listed.auto_approval_at
    claim.save(update_fields=["theirs", "confirmed_at", "submitted_there_at", "auto_approval_at"])
    if is_new:
        _give_the_place_to(claim)
        _bring_back(claim)
        _note_receipt(claim, listed)
        end_compensation(claim)
    _note_payment(claim)
    return is_new


def _give_the_place_to(claim: Claim) -> None:
    """The marketplace sold the HIT to this worker: nobody else's claim to it was true."""
    Claim.objects.filter(hit=claim.hit_id, reserves=True).exclude(pk=claim.pk).update(
        reserves=False
    )
    Claim.objects.filter(pk=claim.pk).update(reserves=True)
    unsold = Assignment.objects.select_for_update(no_key=True).filter(
        claim__hit=claim.hit_id, state=Assignment.State.OPEN
    )
    for page in unsold.exclude(pk=claim.assignment_id or 0).order_by("pk"):
        close(page, Assignment.State.EXPIRED)
    sold = Hit.objects.filter(pk=claim.hit_id, state=Hit.State.LIVE)
    sold.update(state=Hit.State.ENDED)


def _bring_back(claim: Claim) -> None:
    """A page set aside for want of confirmation counts again where its units are open."""
    if claim.assignment_id is None:
        return
    page = Assignment.objects.select_for_update(no_key=True).get(pk=claim.assignment_id)
    last = page.decisions.filter(kind=Decision.Kind.USE).order_by("-pk").first()
    if last is None or last.by_id is not None or not last.reason.startswith(NOT_CONFIRMED):
        return
    if page.use == Assignment.Use.NOT_USED:
        record(page, use="pending", payment=page.payment, reason=CONFIRMED, by=None)
        limits.remember(page.pk)


def _note_receipt(claim: Claim, listed: Submitted) -> None:
    page = claim.assignment
    if page is None or page.submitted_at is None:
        log.warning("confirmed there, no answers here", claim=claim.pk)
    elif listed.receipt and listed.receipt != str(page.key):
        log.warning("another receipt than ours", claim=claim.pk)


def _note_payment(claim: Claim) -> None:
    """What was approved by itself, or decided on at the marketplace, is decided here too."""
    payment = {"approved": "approved", "rejected": "refused"}.get(claim.theirs)
    if payment is None or claim.assignment_id is None:
        return
    page = Assignment.objects.select_for_update(no_key=True).get(pk=claim.assignment_id)
    if page.state == Assignment.State.SUBMITTED and page.payment != payment:
        record(page, use=page.use, payment=payment, reason=DECIDED_THERE, by=None)


def _end_expired(publication: Publication, now: datetime) -> None:
    expired = publication.hits.filter(state=Hit.State.LIVE, expires_at__lt=now)
    expired.update(state=Hit.State.ENDED)


def free_unconfirmed(publication: Publication, now: datetime) -> int:
    """Pages that the marketplace will not confirm any more: their places go out again."""
    others = Claim.objects.filter(hit=OuterRef("claim__hit")).exclude(theirs="")
    over = Hit.objects.over(now - GRACE).filter(pk=OuterRef("claim__hit"))
    duration = timedelta(seconds=publication.terms["duration"])
    stranded = Assignment.objects.filter(
        Exists(over) | Exists(others) | Q(claim__opened_at__lt=now - duration - GRACE),
        claim__hit__publication=publication,
        claim__theirs="",
        state=Assignment.State.SUBMITTED,
    ).exclude(use=Assignment.Use.NOT_USED)
    return sum(_set_aside(pk) for pk in list(stranded.values_list("pk", flat=True)))


@transaction.atomic
def _set_aside(assignment_id: int) -> bool:
    page = Assignment.objects.select_for_update(no_key=True).get(pk=assignment_id)
    if Claim.objects.filter(assignment=page).exclude(theirs="").exists():
        return False
    record(page, use="not_used", payment=page.payment, reason=f"{NOT_CONFIRMED}.", by=None)
    limits.forget(page.pk)
    return True


def due() -> QuerySet[Publication]:
    """Publications of which nothing was heard for a while, until all is settled there."""
    heard = timezone.now() - timedelta(seconds=settings.SYNC_SECONDS)
    return Publication.objects.filter(
        Q(reconciled_at__isnull=True) | Q(reconciled_at__lt=heard),
        Exists(_unsettled_hits().filter(publication=OuterRef("pk")))
        | Exists(_half_made().filter(publication=OuterRef("pk"))),
        channel__in=names(),
    )


def reconcile_due(progress: Progress) -> Json:
    """Every publication whose time has come; one that fails does not keep the others waiting."""
    done: dict[str, Json] = {}
    for publication in due().select_related("study__version"):
        progress(len(done))
        try:
            done[str(publication.pk)] = reconcile(publication, progress)
        except Closed as silence:
            log.warning("not reconciled", publication=publication.pk, why=silence.message)
            done[str(publication.pk)] = {"failed": silence.message}
    return done


def ask_to_reconcile(*, channel: str, hit_ids: list[str]) -> None:
    """A hint came in: ask for the publications it speaks of, each once at a time."""
    hinted = Publication.objects.filter(channel=channel, hits__hit_id__in=hit_ids).distinct()
    for publication in hinted:
        jobs.ask_once(kind="reconcile", arguments={"publication": publication.pk}, queue=QUEUE)
