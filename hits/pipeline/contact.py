"""Contact: what is asked of a marketplace about single workers: a message, a block."""

from collections.abc import Sequence
from uuid import UUID, uuid4

from django.db import transaction
from django.db.models import Q

from hits.channels.configured import channel
from hits.channels.contract import Block, Notify, Unblock
from hits.models import Account, Claim, Intent, Publication, User
from hits.pipeline import ledger
from hits.pipeline.errors import Refused


@transaction.atomic
def write_to(
    *,
    publication: Publication,
    workers: Sequence[str],
    subject: str,
    text: str,
    by: User,
    key: UUID | None = None,
) -> int:
    """A message to each of these workers; with the same key again, nothing more is sent."""
    key = key or uuid4()
    if not workers:
        raise Refused("There is nobody to write to.")
    at_once = channel(publication.channel).capabilities.most_notified
    if not at_once:
        raise Refused("Workers of this channel cannot be written to.")
    for number, start in enumerate(range(0, len(workers), at_once)):
        batch = tuple(workers[start : start + at_once])
        ledger.intend(
            channel=publication.channel,
            order=Notify(workers=batch, subject=subject, text=text),
            token=f"notify-{key.hex}-{number}",
            publication=publication,
            by=by,
        )
    return len(workers)


def block(*, claim: Claim, reason: str, by: User, key: UUID | None = None) -> None:
    """The worker sees no HIT of this requester any more, of no study."""
    _about(claim, Block(worker=claim.account.external_id, reason=reason), by, key)


def unblock(*, claim: Claim, reason: str, by: User, key: UUID | None = None) -> None:
    _about(claim, Unblock(worker=claim.account.external_id, reason=reason), by, key)


def is_blocked(account: Account) -> bool:
    """By what was last asked of the marketplace."""
    asked = Intent.objects.filter(
        Q(token__startswith=_token(Block.action, account))
        | Q(token__startswith=_token(Unblock.action, account))
    )
    last = asked.exclude(state=Intent.State.REFUSED).order_by("-pk").first()
    return last is not None and last.action == Block.action


def _about(claim: Claim, order: Block | Unblock, by: User, key: UUID | None) -> None:
    """Not bound to the claim: what is asked about a claim waits until it is confirmed."""
    ledger.intend(
        channel=claim.account.channel,
        order=order,
        token=_token(order.action, claim.account) + (key or uuid4()).hex,
        publication=claim.hit.publication,
        by=by,
    )


def _token(action: str, account: Account) -> str:
    return f"{action}-{account.pk}-"
