"""Pay: what was decided on confirmed work becomes calls to the marketplace, each once."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from uuid import UUID, uuid4

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet, Sum
from django.utils import timezone

from hits.channels.configured import NoSuchChannel
from hits.channels.configured import channel as channel_named
from hits.channels.contract import Approve, Bonus, Cost, Reject, Terms
from hits.models import Assignment, Claim, Decision, Intent, Publication, Study, User
from hits.models.publication import GRACE
from hits.pipeline import ledger
from hits.pipeline.errors import Closed, Refused
from hits.pipeline.ledger import SUCCEEDED
from hits.pipeline.letters import APPEAL, address_for

Theirs = Claim.Theirs
# What a marketplace lets a worker read of a refusal.
LONGEST_FEEDBACK = 1000


@dataclass(frozen=True, slots=True)
class Spending:
    """Money of a publication, with the fees."""

    paid: Decimal
    bonuses: Decimal
    owed: Decimal
    offered: Decimal

    @property
    def promised(self) -> Decimal:
        return self.owed + self.offered

    @property
    def total(self) -> Decimal:
        return self.paid + self.bonuses + self.owed + self.offered


def settle_payments(publication: Publication | None = None) -> int:
    """Write down what is to be approved and rejected; decisions rest for a moment before, so
    that they can be taken back."""
    claims = Claim.objects.filter(Q(theirs=Theirs.SUBMITTED) | Q(theirs=Theirs.REJECTED))
    if publication is not None:
        claims = claims.filter(hit__publication=publication)
    written = Intent.objects.filter(claim=OuterRef("pk"))
    approval, rejection = written.filter(action="approve"), written.filter(action="reject")
    rested = timezone.now() - timedelta(seconds=settings.PAY_AFTER_SECONDS)
    too_new = Decision.objects.filter(
        assignment=OuterRef("assignment"), kind=Decision.Kind.PAYMENT, at__gt=rested
    )
    decided = Q(~Exists(approval), assignment__payment="approved") | Q(
        ~Exists(rejection), assignment__payment="refused", theirs=Theirs.SUBMITTED
    )
    due = claims.filter(decided, ~Exists(too_new), assignment__state="submitted")
    owed = claims.filter(
        ~Exists(approval), theirs=Theirs.SUBMITTED, hit__publication__compensates__isnull=False
    )
    both = due.values_list("pk", flat=True).union(owed.values_list("pk", flat=True))
    return sum(_pay(pk) for pk in list(both))


@transaction.atomic
def _pay(claim_id: int) -> bool:
    claim = _locked(claim_id)
    if claim.hit.publication.compensates_id is not None:
        return _approve(claim, None) is not None
    assert claim.assignment is not None
    if claim.assignment.payment == Assignment.Payment.APPROVED:
        return _approve(claim, None) is not None
    if claim.assignment.payment == Assignment.Payment.REFUSED:
        return _reject(claim) is not None
    return False


def _locked(claim_id: int) -> Claim:
    """With its page locked, whose decision then stays as it is."""
    claim = Claim.objects.select_related("hit__publication", "account").get(pk=claim_id)
    if claim.assignment_id is not None:
        pages = Assignment.objects.select_for_update(no_key=True)
        claim.assignment = pages.get(pk=claim.assignment_id)
    return claim


def _approve(claim: Claim, by: User | None) -> Intent | None:
    if not _is_settled(claim):
        return None
    publication = claim.hit.publication
    overturns = claim.theirs == Theirs.REJECTED
    if overturns and timezone.now() > _last_moment(claim):
        return None
    return ledger.intend(
        channel=publication.channel,
        order=Approve(claim.ref, overturns=overturns),
        token=f"approve-{claim.pk}",
        publication=publication,
        hit=claim.hit,
        claim=claim,
        amount=page_cost(publication).page,
        by=by,
    )


def _reject(claim: Claim) -> Intent | None:
    if not _is_settled(claim):
        return None
    assert claim.assignment is not None
    decisions = claim.assignment.decisions.filter(kind=Decision.Kind.PAYMENT)
    decision = decisions.order_by("-pk")[0]
    publication = claim.hit.publication
    address = address_for(study_id=publication.study_id, account_id=claim.account_id)
    appeal = f"\n\n{APPEAL} {address}"
    return ledger.intend(
        channel=publication.channel,
        order=Reject(claim.ref, _cut(decision.reason, LONGEST_FEEDBACK - len(appeal)) + appeal),
        token=f"reject-{claim.pk}",
        publication=publication,
        hit=claim.hit,
        claim=claim,
        by=decision.by,
    )


def _cut(text: str, longest: int) -> str:
    """The address that follows leads to the whole of it."""
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def _is_settled(claim: Claim) -> bool:
    """No decision about this claim is on its way."""
    return not claim.intents.filter(
        action__in=["approve", "reject"], settled_at__isnull=True
    ).exists()


def page_cost(publication: Publication) -> Cost:
    """Of one page; without a fee where the channel is not configured any more."""
    terms = Terms.from_json(publication.terms)
    try:
        channel = channel_named(publication.channel)
    except NoSuchChannel:
        return Cost(pages=1, reward=publication.reward, fee=Decimal(0))
    return channel.cost(pages=1, reward=publication.reward, requirements=terms.requirements)


def _last_moment(claim: Claim) -> datetime:
    """Until when a rejection can be overturned."""
    time = ledger.opened(claim.hit.publication.channel).capabilities.unreject or timedelta(0)
    assert claim.submitted_there_at is not None
    return claim.submitted_there_at + time


def bonus(
    *, claim: Claim, amount: Decimal, reason: str, by: User, key: UUID | None = None
) -> Intent:
    """A bonus for a page, once for each key. It waits until the page is confirmed."""
    publication = claim.hit.publication
    channel = ledger.opened(publication.channel)
    if not channel.capabilities.bonus:
        raise Refused("There are no bonuses on this channel.")
    if amount <= 0:
        raise Refused("Say how much the bonus is.")
    duration = timedelta(seconds=publication.terms["duration"])
    if not claim.theirs and timezone.now() > claim.opened_at + duration + GRACE:
        raise Refused(
            "The marketplace will not confirm this work any more, so it pays no bonus for it. "
            "Make a compensation HIT instead."
        )
    order = Bonus(claim.ref, claim.account.external_id, amount, reason.strip())
    intent = ledger.intend(
        channel=publication.channel,
        order=order,
        token=f"bonus-{claim.pk}-{(key or uuid4()).hex}",
        publication=publication,
        hit=claim.hit,
        claim=claim,
        amount=channel.bonus_cost(amount),
        by=by,
    )
    if intent.request != channel.write(order):
        raise Refused("This key belongs to a bonus of another amount or for another reason.")
    return intent


@transaction.atomic
def pay_stranded(*, claim: Claim, by: User) -> None:
    """Approve what is confirmed there and has no answers here."""
    locked = _locked(claim.pk)
    if locked.theirs != Theirs.SUBMITTED:
        raise Closed("The marketplace has no submission of this page that waits for payment.")
    if locked.assignment is not None and locked.assignment.submitted_at is not None:
        raise Refused("This page has answers: decide on it in review.")
    intent = _approve(locked, by)
    if intent is not None:
        ledger.try_again(Intent.objects.filter(pk=intent.pk))


def payment_may_change(claim: Claim) -> bool:
    """What the marketplace paid cannot be undone; a rejection can, for a while."""
    if claim.theirs == Theirs.APPROVED or not _is_settled(claim):
        return False
    if claim.intents.filter(action="approve", state__in=SUCCEEDED).exists():
        return False
    return claim.theirs != Theirs.REJECTED or timezone.now() <= _last_moment(claim)


def payment_there(claim: Claim) -> str:
    """What the marketplace has done, or was told to do, where that cannot be changed any more."""
    if payment_may_change(claim):
        return ""
    in_vain = Intent.objects.in_vain().values("pk")
    told = claim.intents.filter(action="approve").exclude(pk__in=in_vain)
    if claim.theirs == Theirs.APPROVED or told.exists():
        return Assignment.Payment.APPROVED
    return Assignment.Payment.REFUSED


def due_within(studies: Sequence[Study], time: timedelta = timedelta(hours=48)) -> QuerySet[Claim]:
    """Confirmed work that the marketplace will approve by itself within this time."""
    return Claim.objects.filter(
        hit__publication__study__in=studies,
        theirs=Theirs.SUBMITTED,
        auto_approval_at__lte=timezone.now() + time,
    ).order_by("auto_approval_at")


def spending(publication: Publication) -> Spending:
    page = page_cost(publication).page
    claims = Claim.objects.filter(hit__publication=publication)
    bonuses = publication.intents.filter(action="bonus", state__in=SUCCEEDED)
    offered = publication.hits.offered().count() + publication.hits.in_work().count()
    return Spending(
        paid=page * claims.filter(theirs=Theirs.APPROVED).count(),
        bonuses=bonuses.aggregate(sum=Sum("amount"))["sum"] or Decimal(0),
        owed=page * claims.filter(theirs=Theirs.SUBMITTED).count(),
        offered=page * offered,
    )
