"""Workers: messages to them and blocks, at the marketplace they come from."""

import secrets
from collections.abc import Sequence
from uuid import UUID, uuid4

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet

from hits.channels.contract import Block, Notify, Unblock
from hits.models import Account, Claim, Intent, Publication, User
from hits.pipeline import jobs, ledger
from hits.pipeline.errors import Refused
from hits.pipeline.publish import QUEUE


@transaction.atomic
def notify(
    *,
    publication: Publication,
    accounts: Sequence[Account],
    subject: str,
    text: str,
    by: User,
    key: UUID | None = None,
    about: Claim | None = None,
) -> list[Intent]:
    """Write to workers, so many at once as the marketplace takes; once for each key. A letter
    about somebody's work waits until they can be reached."""
    if not accounts:
        raise Refused("Say who is written to.")
    if any(account.channel != publication.channel for account in accounts):
        raise Refused("Only workers of this marketplace can be written to.")
    at_once = ledger.opened(publication.channel).capabilities.most_notified
    workers = sorted({account.external_id for account in accounts})
    key = key or uuid4()
    batches = [workers[start : start + at_once] for start in range(0, len(workers), at_once)]
    intents = [
        ledger.intend(
            channel=publication.channel,
            order=Notify(tuple(batch), subject, text),
            token=f"notify-{key.hex}-{number}",
            publication=publication,
            claim=about,
            by=by,
        )
        for number, batch in enumerate(batches)
    ]
    jobs.ask_once(kind="settle", arguments={}, queue=QUEUE)
    return intents


def can_be_reached(account: Account) -> bool:
    """Marketplaces deliver messages only to those whose work was paid or refused before."""
    return account.claims.decided().exists()


def reached_now(accounts: QuerySet[Account]) -> int:
    """How many of them can be reached."""
    decided = Claim.objects.filter(account=OuterRef("pk")).decided()
    return accounts.filter(Exists(decided)).count()


def block(*, claim: Claim, reason: str, by: User) -> Intent:
    """Keep a worker from all our HITs."""
    return _order(claim, Block(claim.account.external_id, reason), by)


def unblock(*, claim: Claim, reason: str, by: User) -> Intent:
    return _order(claim, Unblock(claim.account.external_id, reason), by)


def is_blocked(account: Account) -> bool:
    """By what the marketplace was last asked for."""
    last = _blocks(account).exclude(state__in=["refused", "dismissed"]).order_by("-pk").first()
    return last is not None and last.action == Block.action


def calls_about(claim: Claim) -> QuerySet[Intent]:
    """What was asked about one worker's work, and the blocks of this worker from its study."""
    blocks = _blocks(claim.account).filter(publication__study=claim.hit.publication.study_id)
    return Intent.objects.filter(Q(claim=claim) | Q(pk__in=blocks.values("pk")))


def _blocks(account: Account) -> QuerySet[Intent]:
    return Intent.objects.filter(
        Q(token__startswith=_token(Block.action, account))
        | Q(token__startswith=_token(Unblock.action, account))
    )


def _token(action: str, account: Account) -> str:
    return f"{action}-{account.pk}-"


@transaction.atomic
def _order(claim: Claim, order: Block | Unblock, by: User) -> Intent:
    """In the ledger of a publication, where a refusal is seen; not of the claim, for it does not
    wait until the work is confirmed."""
    intent = ledger.intend(
        channel=claim.account.channel,
        order=order,
        token=_token(order.action, claim.account) + secrets.token_hex(8),
        publication=claim.hit.publication,
        by=by,
    )
    jobs.ask_once(kind="settle", arguments={}, queue=QUEUE)
    return intent
