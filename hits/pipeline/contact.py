"""Contact: what is asked of a marketplace about single workers: a message, a block."""

from collections.abc import Sequence
from uuid import UUID, uuid4

from django.db import transaction

from hits.channels.configured import channel
from hits.channels.contract import Block, Notify, Refusal, Unblock
from hits.models import Account, Claim, Intent, Publication, User
from hits.pipeline import ledger
from hits.pipeline.errors import Refused

ABOUT_BLOCKS = (Block.action, Unblock.action)


@transaction.atomic
def write_to(
    *,
    publication: Publication,
    workers: Sequence[str],
    subject: str,
    text: str,
    by: User,
    claim: Claim | None = None,
    key: UUID | None = None,
) -> int:
    """A message to each of these workers; with the same key again, nothing more is sent."""
    key = key or uuid4()
    if not workers:
        raise Refused("There is nobody to write to.")
    at_once = channel(publication.channel).capabilities.most_notified
    if not at_once:
        raise Refused("Workers of this channel cannot be written to.")
    batches = [workers[start : start + at_once] for start in range(0, len(workers), at_once)]
    for number, batch in enumerate(batches):
        _ask(
            Notify(workers=tuple(batch), subject=subject, text=text),
            f"notify-{key.hex}-{number}",
            publication=publication,
            claim=claim,
            by=by,
        )
    return len(workers)


@transaction.atomic
def block(*, claim: Claim, reason: str, by: User, key: UUID | None = None) -> None:
    """The worker sees no HIT of this requester any more, of no study."""
    order = Block(worker=claim.account.external_id, reason=reason)
    token = f"block-{(key or uuid4()).hex}"
    _ask(order, token, publication=claim.hit.publication, claim=claim, by=by)


@transaction.atomic
def unblock(*, claim: Claim, reason: str, by: User, key: UUID | None = None) -> None:
    order = Unblock(worker=claim.account.external_id, reason=reason)
    token = f"unblock-{(key or uuid4()).hex}"
    _ask(order, token, publication=claim.hit.publication, claim=claim, by=by)


def is_blocked(account: Account) -> bool:
    """By what was last asked of the marketplace."""
    asked = Intent.objects.filter(claim__account=account, action__in=ABOUT_BLOCKS)
    last = asked.exclude(state=Intent.State.REFUSED).order_by("-pk").first()
    return last is not None and last.action == Block.action


def _ask(
    order: Notify | Block | Unblock,
    token: str,
    *,
    publication: Publication,
    claim: Claim | None,
    by: User,
) -> None:
    if Intent.objects.filter(token=token).exists():
        return
    try:
        ledger.intend(
            channel=publication.channel,
            order=order,
            token=token,
            publication=publication,
            claim=claim,
            by=by,
        )
    except Refusal as refusal:
        raise Refused(str(refusal)) from None
