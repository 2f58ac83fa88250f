"""Ledger: every creating or paying call is written down before it is made, and settled after.

A call is made only while its row is locked, after an attempt was counted in a transaction of its
own: two workers never make one call at once, and a worker that dies leaves a row that says that
a call may have been made. Such a call is made again where the marketplace knows its token, else
looked up in the marketplace's own lists first.
"""

from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from random import uniform
from typing import Any

import structlog
from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.utils import timezone
from django.utils.dateparse import parse_datetime

from hits.channels.configured import NoSuchChannel, channel
from hits.channels.contract import Call, Channel, Notify, Order, Outcome, Refusal, Result
from hits.models import Claim, Hit, Intent, Publication, User
from hits.models.ledger import OF_A_LAUNCH as OF_A_LAUNCH
from hits.pipeline.errors import Refused

log = structlog.get_logger()

FIRST_WAIT = 0.5
LONGEST_WAIT = 300.0
SUCCEEDED = [Intent.State.DONE, Intent.State.ALREADY_DONE]
# A token is trusted for a little less long than it is remembered.
MARGIN = timedelta(hours=1)
# Not refused by the marketplace: it was not asked, or did not hear.
WITHDRAWN = "The publication was closed before this was made."

Tell = Callable[[int, int | None, str], None]


def intend(
    *,
    channel: str,
    order: Order,
    token: str,
    publication: Publication | None = None,
    hit: Hit | None = None,
    claim: Claim | None = None,
    amount: Decimal = Decimal(0),
    by: User | None = None,
) -> Intent:
    """Write a call down, once: the same token finds what was written before."""
    intent = drafted(channel=channel, order=order, token=token)
    values = {
        "channel": channel,
        "action": intent.action,
        "request": intent.request,
        "publication": publication,
        "hit": hit,
        "claim": claim,
        "amount": amount,
        "by": by,
    }
    return Intent.objects.get_or_create(token=token, defaults=values)[0]


def drafted(*, channel: str, order: Order, token: str, **values: Any) -> Intent:
    """A call to be written down together with others."""
    try:
        request = opened(channel).write(order)
    except Refusal as refusal:
        raise Refused(str(refusal)) from None
    return Intent(channel=channel, token=token, action=order.action, request=request, **values)


def opened(name: str) -> Channel:
    try:
        return channel(name)
    except NoSuchChannel as unknown:
        raise Refused(str(unknown)) from None


def unsettled() -> QuerySet[Intent]:
    """Calls still to be made; those about a submission wait until it is confirmed, and letters
    about it until some work of its worker is decided: before, a marketplace delivers none."""
    unconfirmed = Claim.objects.filter(pk=OuterRef("claim"), theirs="")
    decided = Claim.objects.filter(account=OuterRef("claim__account")).decided()
    is_letter = Q(action=Notify.action)
    waits = Q(~is_letter, Exists(unconfirmed)) | Q(is_letter, ~Exists(decided), claim__isnull=False)
    return Intent.objects.filter(~waits, settled_at__isnull=True)


def due() -> QuerySet[Intent]:
    return unsettled().filter(next_try_at__lte=timezone.now())


def settle_due(limit: int = 500, progress: Tell | None = None) -> dict[str, int]:
    """Make the calls whose time has come, but for those of launches."""
    chosen = due().exclude(action__in=OF_A_LAUNCH).order_by("next_try_at")
    intents = list(chosen[:limit])
    counted: Counter[str] = Counter()
    for number, intent in enumerate(intents):
        if progress is not None:
            progress(number, len(intents), "")
        counted[settle(intent).state] += 1
    return dict(counted)


def settle(intent: Intent) -> Intent:
    """Make a call once and write down how it ended; nothing where another worker is at it."""
    if attempt := _count_attempt(intent):
        _make(intent, attempt)
    intent.refresh_from_db()
    return intent


def try_again(intents: QuerySet[Intent]) -> int:
    """What was refused for a reason that is gone."""
    refused = [Intent.State.REFUSED, Intent.State.DISMISSED]
    return intents.filter(state__in=refused).update(
        state=Intent.State.MEANT, settled_at=None, next_try_at=timezone.now()
    )


@transaction.atomic
def withdraw(intents: QuerySet[Intent]) -> int:
    """Calls that nobody has begun to make are not made any more. One that is being made now is
    locked, and found out about later."""
    waiting = intents.filter(attempts=0, settled_at__isnull=True)
    locked = waiting.select_for_update(skip_locked=True, of=("self",))
    return Intent.objects.filter(pk__in=list(locked.values_list("pk", flat=True))).update(
        state=Intent.State.REFUSED, message=WITHDRAWN, settled_at=timezone.now()
    )


@transaction.atomic
def find_out(intent: Intent, *, gives_up: bool) -> None:
    """Whether a call that may have been made was made. It is not made now; where it was not and
    nobody wants it any more, that is its end."""
    waiting = Intent.objects.filter(pk=intent.pk, settled_at__isnull=True)
    locked = waiting.select_for_update(skip_locked=True).first()
    if locked is None:
        return
    call = Call(action=locked.action, token=locked.token, request=locked.request)
    # A list that may not be read says so in its message, and tells nothing.
    found = opened(locked.channel).look_up(call)
    if found.result is Result.DONE:
        found = Outcome(Result.ALREADY_DONE, answer=found.answer)
        _take_effect(locked, found)
    elif found.result is Result.RETRY and not found.message and gives_up:
        found = Outcome(Result.REFUSED, message=WITHDRAWN)
    _write(locked, found)


@transaction.atomic
def _count_attempt(intent: Intent) -> int | None:
    waiting = Intent.objects.filter(pk=intent.pk, settled_at__isnull=True)
    if waiting.select_for_update(skip_locked=True).first() is None:
        return None
    waiting.update(attempts=F("attempts") + 1)
    return waiting.values_list("attempts", flat=True).get()


@transaction.atomic
def _make(intent: Intent, attempt: int) -> None:
    mine = Intent.objects.filter(pk=intent.pk, settled_at__isnull=True, attempts=attempt)
    locked = mine.select_for_update(skip_locked=True).first()
    if locked is None:
        return
    outcome = _outcome(locked)
    if outcome.succeeded:
        _take_effect(locked, outcome)
    else:
        log.info("call not done", token=locked.token, result=outcome.result, why=outcome.message)
    _write(locked, outcome)


def _outcome(intent: Intent) -> Outcome:
    asked = opened(intent.channel)
    twins = Intent.objects.filter(
        channel=intent.channel, action=intent.action, claim=intent.claim_id, request=intent.request
    ).exclude(pk=intent.pk)
    if intent.action == "bonus" and twins.filter(settled_at=None, pk__lt=intent.pk).exists():
        return Outcome(Result.RETRY, message="Waits for another bonus that is just the same.")
    call = Call(
        action=intent.action,
        token=intent.token,
        request=intent.request,
        done_before=twins.filter(state__in=SUCCEEDED).count() if intent.action == "bonus" else 0,
    )
    if intent.attempts > 1 and not _token_holds(asked, intent):
        found = asked.look_up(call)
        if found.result is Result.DONE:
            return Outcome(Result.ALREADY_DONE, answer=found.answer)
        if found.result is Result.UNKNOWN:
            return found
    return asked.make(call)


def _token_holds(asked: Channel, intent: Intent) -> bool:
    age = timezone.now() - intent.meant_at
    return asked.has_token(intent.action) and age < asked.capabilities.remembers_tokens - MARGIN


def _write(intent: Intent, outcome: Outcome) -> None:
    now = timezone.now()
    intent.state = Intent.State(outcome.result)
    intent.message = outcome.message
    if outcome.result in {Result.RETRY, Result.UNKNOWN}:
        intent.next_try_at = now + _wait(intent.attempts)
    else:
        intent.answer = outcome.answer
        intent.settled_at = now
    intent.save(update_fields=["state", "message", "answer", "next_try_at", "settled_at"])


def _wait(attempts: int) -> timedelta:
    """Twice as long each time, and never the same for all, so that they do not come at once."""
    longest = min(LONGEST_WAIT, FIRST_WAIT * 2 ** min(attempts - 1, 20))
    return timedelta(seconds=uniform(longest / 2, longest))


def _take_effect(intent: Intent, outcome: Outcome) -> None:
    match intent.action:
        case "publication":
            made = Publication.objects.filter(intents=intent)
            made.update(hit_type_id=outcome.answer["id"])
        case "ticket":
            _ticket_is_live(intent, outcome)
        case "end":
            now = timezone.now()
            hits = Hit.objects.filter(intents=intent, state=Hit.State.LIVE)
            hits.update(state=Hit.State.ENDED, expires_at=now)
        case "delete":
            Hit.objects.filter(intents=intent).update(state=Hit.State.DELETED)
        case "approve":
            Claim.objects.filter(intents=intent).update(theirs=Claim.Theirs.APPROVED)
        case "reject":
            Claim.objects.filter(intents=intent).update(theirs=Claim.Theirs.REJECTED)


def _ticket_is_live(intent: Intent, outcome: Outcome) -> None:
    assert intent.publication is not None
    ends = parse_datetime(outcome.answer.get("expires_at", ""))
    lifetime = timedelta(seconds=intent.publication.terms["lifetime"])
    Hit.objects.filter(intents=intent, state=Hit.State.MEANT).update(
        hit_id=outcome.answer["id"],
        state=Hit.State.LIVE,
        expires_at=ends or timezone.now() + lifetime,
    )
