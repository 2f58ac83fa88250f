"""What a researcher can do about a worker, each with the words that are to be confirmed."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django import forms

from hits.models import Claim, User
from hits.pipeline import ledger, pay, people, workers
from hits.pipeline.errors import Refused
from hits.views.channel_forms import BlockForm, BonusForm, ExcludeForm, MessageForm

Values = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Confirmation:
    """What is about to happen, and what the worker will read of it."""

    what: str
    button: str
    quoted: str = ""
    is_danger: bool = False


@dataclass(frozen=True, slots=True)
class Act:
    name: str
    title: str
    about: str
    form: type[forms.Form]
    confirm: Callable[[Claim, Values], Confirmation]
    do: Callable[[Claim, Values, User, UUID], str]
    """Does it once for each key, and says what happened."""


def acts_on(claim: Claim) -> list[Act]:
    """Those that make sense now: nobody is blocked or excluded twice."""
    study = claim.hit.publication.study
    is_excluded = bool(people.excluded_because(study, claim.account))
    is_blocked = workers.is_blocked(claim.account)
    return [
        BONUS,
        WRITE,
        READMIT if is_excluded else EXCLUDE,
        UNBLOCK if is_blocked else BLOCK,
    ]


def _worker(claim: Claim) -> str:
    return claim.account.external_id


def _unproven(claim: Claim) -> str:
    if claim.theirs:
        return ""
    return (
        f"{claim.hit.publication.channel.capitalize()} has not listed this worker’s work: somebody "
        "else may have written their id. "
    )


def _confirm_bonus(claim: Claim, values: Values) -> Confirmation:
    name, amount = claim.hit.publication.channel, values["amount"]
    cost = ledger.opened(name).bonus_cost(amount)
    return Confirmation(
        what=f"{name.capitalize()} pays {_worker(claim)} a bonus of ${amount:,.2f}. With the fee "
        f"it costs ${cost:,.2f}, and it cannot be taken back. The worker reads:",
        quoted=values["reason"],
        button=f"Pay ${amount:,.2f}",
    )


def _pay_bonus(claim: Claim, values: Values, by: User, key: UUID) -> str:
    intent = pay.bonus(claim=claim, by=by, key=key, **values)
    bonus = f"The bonus of ${values['amount']:,.2f}"
    if intent.state in ledger.SUCCEEDED:
        return f"{bonus} was paid before; nothing more is paid."
    if intent.settled_at is not None:
        raise Refused(f"{bonus} was refused: {intent.message} Try it again from the ledger.")
    waits = "" if claim.theirs else " It is paid once the marketplace has confirmed the work."
    return f"{bonus} is written down.{waits}"


BONUS = Act(
    name="bonus",
    title="Pay a bonus",
    about="On top of the reward, for this work.",
    form=BonusForm,
    confirm=_confirm_bonus,
    do=_pay_bonus,
)


def _confirm_message(claim: Claim, values: Values) -> Confirmation:
    name = claim.hit.publication.channel.capitalize()
    when = (
        ""
        if workers.can_be_reached(claim.account)
        else ", once it has paid or refused work of theirs"
    )
    return Confirmation(
        what=f"{name} sends {_worker(claim)} this message{when}:",
        quoted=f"{values['subject']}\n\n{values['text']}",
        button="Send the message",
    )


def _send_message(claim: Claim, values: Values, by: User, key: UUID) -> str:
    workers.notify(
        publication=claim.hit.publication,
        accounts=[claim.account],
        by=by,
        key=key,
        about=claim,
        **values,
    )
    if workers.can_be_reached(claim.account):
        return "The message is on its way."
    return "The message is sent once work of this worker is paid or refused."


WRITE = Act(
    name="message",
    title="Write to the worker",
    about="The marketplace delivers it, by email or on a page of its own, to workers whose work "
    "was paid or refused; it cannot be answered here.",
    form=MessageForm,
    confirm=_confirm_message,
    do=_send_message,
)


def _confirm_exclusion(claim: Claim, values: Values) -> Confirmation:
    study = claim.hit.publication.study
    return Confirmation(
        what=f"{_unproven(claim)}{_worker(claim)} gets no more units of {study.name}, on any "
        "channel. What they did stays and is paid. They can still accept HITs, and then get a page "
        "of golds, which is paid; to keep them from accepting, block them as well.",
        button="Exclude from this study",
        is_danger=True,
    )


def _exclude(claim: Claim, values: Values, by: User, key: UUID) -> str:
    study = claim.hit.publication.study
    people.exclude(study=study, account=claim.account, reason=values["reason"], by=by)
    return f"{_worker(claim)} is excluded from this study."


EXCLUDE = Act(
    name="exclude",
    title="Exclude from this study",
    about="No more units of this study. The marketplace does not hear of it.",
    form=ExcludeForm,
    confirm=_confirm_exclusion,
    do=_exclude,
)


def _confirm_return(claim: Claim, values: Values) -> Confirmation:
    study = claim.hit.publication.study
    return Confirmation(
        what=f"{_worker(claim)} gets units of {study.name} again.", button="Let them work again"
    )


def _readmit(claim: Claim, values: Values, by: User, key: UUID) -> str:
    people.readmit(study=claim.hit.publication.study, account=claim.account, by=by)
    return f"{_worker(claim)} may work in this study again."


READMIT = Act(
    name="readmit",
    title="Let them work again",
    about="They are excluded from this study now.",
    form=forms.Form,
    confirm=_confirm_return,
    do=_readmit,
)


def _confirm_block(claim: Claim, values: Values) -> Confirmation:
    return Confirmation(
        what=f"{_unproven(claim)}{claim.hit.publication.channel.capitalize()} takes no more work "
        "for this account "
        f"from {_worker(claim)}, in any study. Many blocks can cost a worker their account there: "
        "block only for work that was not honestly done. The reason that is kept there:",
        quoted=values["reason"],
        button="Block the worker",
        is_danger=True,
    )


def _block(claim: Claim, values: Values, by: User, key: UUID) -> str:
    workers.block(claim=claim, reason=values["reason"], by=by)
    return f"{_worker(claim)} is being blocked."


BLOCK = Act(
    name="block",
    title="Block the worker",
    about="No HIT of any of your studies at this marketplace.",
    form=BlockForm,
    confirm=_confirm_block,
    do=_block,
)


def _confirm_unblock(claim: Claim, values: Values) -> Confirmation:
    return Confirmation(
        what=f"{claim.hit.publication.channel.capitalize()} shows your HITs to {_worker(claim)} "
        "again. The reason that is kept there:",
        quoted=values["reason"],
        button="Unblock the worker",
    )


def _unblock(claim: Claim, values: Values, by: User, key: UUID) -> str:
    workers.unblock(claim=claim, reason=values["reason"], by=by)
    return f"{_worker(claim)} is being unblocked."


UNBLOCK = Act(
    name="unblock",
    title="Unblock the worker",
    about="They are blocked at this marketplace now.",
    form=BlockForm,
    confirm=_confirm_unblock,
    do=_unblock,
)

ACTS = [BONUS, WRITE, EXCLUDE, READMIT, BLOCK, UNBLOCK]
