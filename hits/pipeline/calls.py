"""Calls: what a person does about a call that was refused, or a message that did not arrive."""

from django.db import transaction

from hits.channels.contract import Bonus, Notify
from hits.models import Intent, User
from hits.pipeline import jobs, ledger
from hits.pipeline.errors import Closed
from hits.pipeline.publish import QUEUE

SETTLED = "This call needs nothing: it was neither refused nor left undelivered."


@transaction.atomic
def repeat(*, intent: Intent, by: User | None) -> Intent:
    """Make a refused call again, or send a message again to those whom it did not reach."""
    locked = _locked(intent)
    if locked.action == Notify.action and locked.state != Intent.State.REFUSED:
        locked = _sent_again(locked, by)
    else:
        _refuse_beside_a_twin(locked)
        ledger.try_again(Intent.objects.filter(pk=locked.pk))
        locked.refresh_from_db()
    jobs.ask_once(kind="settle", arguments={}, queue=QUEUE)
    return locked


@transaction.atomic
def dismiss(*, intent: Intent) -> Intent:
    """Leave it as it is; it asks for attention no longer."""
    locked = _locked(intent)
    locked.state = Intent.State.DISMISSED
    locked.save(update_fields=["state"])
    return locked


def _locked(intent: Intent) -> Intent:
    locked = Intent.objects.select_for_update(of=("self",)).get(pk=intent.pk)
    if not locked.may_be_repeated:
        raise Closed(SETTLED)
    return locked


def _refuse_beside_a_twin(intent: Intent) -> None:
    """Of two like bonuses on their way at once nobody could tell which was paid."""
    if intent.action != Bonus.action:
        return
    twins = Intent.objects.filter(
        channel=intent.channel, action=intent.action, claim=intent.claim_id, request=intent.request
    )
    if twins.filter(settled_at=None).exists():
        raise Closed("Another bonus that is just the same is on its way. Wait until it is paid.")


def _sent_again(intent: Intent, by: User | None) -> Intent:
    order = Notify(
        workers=tuple(intent.failures),
        subject=intent.request["Subject"],
        text=intent.request["MessageText"],
    )
    again = ledger.intend(
        channel=intent.channel,
        order=order,
        token=f"notify-again-{intent.pk}",
        publication=intent.publication,
        hit=intent.hit,
        claim=intent.claim,
        by=by,
    )
    intent.state = Intent.State.DISMISSED
    intent.message = "Sent again."
    intent.save(update_fields=["state", "message"])
    return again
