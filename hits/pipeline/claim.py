"""Claim: somebody says to have accepted a HIT, and gets the page that it owes them.

Who they are stands in an address that anybody can write, so until the marketplace confirms it a
claim gets a page, but only one claim of a HIT may hold units: its place. Rows are locked in this
order: the HIT, its claims, then what drawing and freeing places lock.
"""

import re
from contextlib import suppress
from datetime import datetime, timedelta

import structlog
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from hits.channels.contract import Entry
from hits.models import Assignment, Claim, Consent, Hit, Study
from hits.models.publication import GRACE
from hits.pipeline import limits, people, submit
from hits.pipeline.draw import AGREE_FIRST, draw_for_ticket
from hits.pipeline.errors import Closed, NotAllowed, PipelineError, Refused, Stale
from hits.pipeline.review import record
from hits.pipeline.show import page_of
from hits.records import Fields, Page, Receipt, Saved

log = structlog.get_logger("claims")

IDLE = timedelta(minutes=10)
MOST_UNCONFIRMED = 20
NOT_CONFIRMED = "Not confirmed by the marketplace, which offered the HIT to somebody else."

_ID = re.compile(r"[!-~]{1,64}")


class TooMany(PipelineError):
    """More people claim a HIT than it can have been offered to."""


def specimen(study: Study) -> Page:
    """A page as everybody may see it before they accept. Nothing is reserved and stored."""
    assert study.version is not None
    return page_of(
        Assignment(study=study, version=study.version, seed=study.seed, lease_until=timezone.now())
    )


def duration_of(hit: Hit) -> timedelta:
    return timedelta(seconds=hit.publication.terms["duration"])


def check(*, hit: Hit, entry: Entry) -> None:
    """Refuse what no marketplace sends for this HIT."""
    if hit.hit_id and entry.hit_id and entry.hit_id != hit.hit_id:
        log.warning("changed HIT id", hit=hit.pk, given=entry.hit_id[:64])
        raise Refused("This address belongs to another HIT.")
    if not entry.is_preview and not (_ID.fullmatch(entry.ref) and _ID.fullmatch(entry.worker)):
        log.warning("impossible ids", hit=hit.pk)
        raise Refused("This address is not complete. Open the HIT from the marketplace again.")


def find(*, hit: Hit, entry: Entry) -> Claim | None:
    return (
        Claim.objects.filter(
            hit=hit,
            ref=entry.ref,
            account__channel=hit.publication.channel,
            account__external_id=entry.worker,
        )
        .select_related("account", "assignment__study__version", "assignment__version")
        .first()
    )


def has_page(claim: Claim) -> bool:
    page = claim.assignment
    return page is not None and page.state != Assignment.State.RETURNED


def is_over(claim: Claim) -> bool:
    """Nothing is left to do: answered here, or handed in at the marketplace without a page."""
    page = claim.assignment
    if page is None:
        return claim.theirs != Claim.Theirs.UNKNOWN
    return page.state == Assignment.State.SUBMITTED


def came_too_late(claim: Claim) -> bool:
    """Answered here, and the marketplace gives no more time to hand it over."""
    if claim.theirs or claim.assignment is None:
        return False
    return timezone.now() > claim.opened_at + duration_of(claim.hit) + GRACE


def has_agreed(*, hit: Hit, entry: Entry) -> bool:
    study = hit.publication.study
    assert study.version is not None
    return Consent.objects.filter(
        participation__study=study,
        participation__person__accounts__channel=hit.publication.channel,
        participation__person__accounts__external_id=entry.worker,
        version__number__gte=study.version.consent_number,
        withdrawn_at__isnull=True,
    ).exists()


def claim(*, hit: Hit, entry: Entry) -> Claim:
    """The claim of somebody who agreed to the study's information, with its page."""
    found = find(hit=hit, entry=entry)
    if found is not None and (is_over(found) or _may_go_on(found)):
        note_seen(found)
        return found
    if not has_agreed(hit=hit, entry=entry):
        raise NotAllowed(AGREE_FIRST)
    return _give_page(enter(hit=hit, entry=entry))


def _may_go_on(claim: Claim) -> bool:
    page = claim.assignment
    if page is not None and page.state == Assignment.State.EXPIRED:
        return submit.has_consent(page.pk)
    return has_page(claim)


def agree(*, hit: Hit, entry: Entry, since: datetime | None = None) -> Claim:
    """Take note that somebody who accepted agrees, and give them their page. Their time runs
    since they were asked: at the marketplace it does."""
    entered = enter(hit=hit, entry=entry, since=since)
    people.give_consent(study=hit.publication.study, account=entered.account)
    return _give_page(entered)


@transaction.atomic
def enter(*, hit: Hit, entry: Entry, since: datetime | None = None) -> Claim:
    """The claim, found or made, with the HIT's place if that can be had."""
    locked = Hit.objects.select_for_update(no_key=True).get(pk=hit.pk)
    now = timezone.now()
    found = find(hit=hit, entry=entry)
    if found is None:
        _refuse_a_crowd(hit, now)
        account = people.account_at(channel=hit.publication.channel, external_id=entry.worker)
        found = Claim.objects.create(
            hit=hit, ref=entry.ref, account=account, opened_at=since or now, seen_at=now
        )
    is_offered = locked.state in {Hit.State.MEANT, Hit.State.LIVE}
    if not found.reserves and not has_page(found) and is_offered and _place_can_be_had(hit, now):
        found.reserves = True
        found.save(update_fields=["reserves"])
    return found


def note_seen(claim: Claim) -> None:
    Claim.objects.filter(pk=claim.pk).update(seen_at=timezone.now())


def save(*, claim: Claim, fields: Fields, revision: int) -> Saved:
    saved = submit.save_draft(
        assignment_key=_page_of(claim).key,
        account=claim.account,
        fields=fields,
        revision=revision,
    )
    note_seen(claim)
    return saved


def hand_in(*, claim: Claim, fields: Fields, revision: int = 0) -> Receipt:
    """Store the answers here. Those to a specimen, which has no slots, stay in its draft."""
    page = _page_of(claim)
    if not page.slots.exists():
        with suppress(Stale, Closed):
            save(claim=claim, fields=fields, revision=page.draft_revision)
    receipt = submit.submit(
        assignment_key=page.key, account=claim.account, fields=fields, revision=revision
    )
    note_seen(claim)
    return receipt


def note_hand_over(claim: Claim) -> None:
    """The browser is about to post the page to the marketplace."""
    page = claim.assignment
    if page is not None and page.state != Assignment.State.SUBMITTED:
        return
    now = timezone.now()
    Claim.objects.filter(pk=claim.pk, handed_over_at__isnull=True).update(
        handed_over_at=now, seen_at=now
    )


def _page_of(claim: Claim) -> Assignment:
    if claim.assignment is None:
        raise Closed("This HIT has no page yet. Load it again.")
    return claim.assignment


def _refuse_a_crowd(hit: Hit, now: datetime) -> None:
    recent = hit.claims.filter(confirmed_at__isnull=True, opened_at__gt=now - duration_of(hit))
    if recent.count() >= MOST_UNCONFIRMED:
        log.warning("too many claims", hit=hit.pk)
        raise TooMany("Too many people have opened this HIT, so it has no questions left to give.")


def _place_can_be_had(hit: Hit, now: datetime) -> bool:
    """Whether nobody has the place, or whoever has it went away and could be parted from it."""
    holder = _lock(hit.claims.filter(reserves=True))
    if holder is None:
        return True
    if holder.confirmed_at is not None or not _is_gone(holder, now):
        return False
    if holder.assignment is not None and not _take_units_from(holder.assignment):
        return False
    holder.reserves = False
    holder.save(update_fields=["reserves"])
    log.info("place taken over", hit=hit.pk, claim=holder.pk)
    return True


def _is_gone(holder: Claim, now: datetime) -> bool:
    page = holder.assignment
    if page is not None and page.state != Assignment.State.SUBMITTED:
        ended = page.state != Assignment.State.OPEN or page.lease_until <= now
        if ended:
            return True
    return holder.seen_at <= now - IDLE


def _take_units_from(page: Assignment) -> bool:
    """Free what a page holds or counts. One that is locked is being worked on at this moment."""
    locked = (
        Assignment.objects.select_for_update(no_key=True, skip_locked=True)
        .filter(pk=page.pk)
        .first()
    )
    if locked is None or locked.use == Assignment.Use.USED:
        return False
    if locked.state == Assignment.State.OPEN:
        submit.close(locked, Assignment.State.EXPIRED)
    elif locked.state == Assignment.State.SUBMITTED:
        record(locked, use="not_used", payment=locked.payment, reason=NOT_CONFIRMED, by=None)
        limits.forget(locked.pk)
    return True


def _lock(claims: QuerySet[Claim]) -> Claim | None:
    """Read by a statement of its own: one that waited for the lock would see no page that was
    made in the meantime."""
    locked = claims.select_for_update(no_key=True).values_list("pk", flat=True).first()
    if locked is None:
        return None
    return Claim.objects.select_related(
        "account", "assignment__study", "assignment__version", "hit__publication__study__version"
    ).get(pk=locked)


@transaction.atomic
def _give_page(entered: Claim) -> Claim:
    """A page for a claim, once: whoever asks for it at the same time waits here."""
    claim = _lock(Claim.objects.filter(pk=entered.pk))
    assert claim is not None
    if has_page(claim):
        return claim
    lease_until = claim.opened_at + duration_of(claim.hit)
    claim.assignment = draw_for_ticket(
        study=claim.hit.publication.study,
        account=claim.account,
        lease_until=lease_until,
        may_hold=claim.reserves and lease_until > timezone.now(),
    )
    claim.save(update_fields=["assignment"])
    return claim
