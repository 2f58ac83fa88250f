"""The ways to decide on a page, the one that is proposed, and what each is called."""

from collections.abc import Sequence
from dataclasses import dataclass

from hits.models import Assignment, Claim
from hits.pipeline import evidence
from hits.pipeline.pay import payment_there

Use, Payment = Assignment.Use, Assignment.Payment


@dataclass(frozen=True, slots=True)
class Choice:
    """One way to decide on a page, with the reason that is written down if nobody edits it."""

    name: str
    use: str
    payment: str
    label: str
    key: str
    reason: str


def claim_of(assignment: Assignment) -> Claim | None:
    """What a marketplace knows of the page; nothing where a rater of the house did it."""
    claims = Claim.objects.filter(assignment=assignment)
    return claims.select_related("hit__publication").first()


def settled_at(claim: Claim | None) -> str:
    return payment_there(claim) if claim is not None and claim.theirs else ""


def choices_on(assignment: Assignment, settled: str) -> list[Choice]:
    found = _finding(assignment)
    looked_at = f"{found} Looked at by a reviewer: the judgments are used."
    if settled:
        unused = f"{found} The judgments are not used."
        without = Choice("pay", "not_used", settled, "Do not use", "1", unused)
        if settled == Payment.REFUSED:
            return [without]
        return [without, Choice("use", "used", settled, "Use", "2", looked_at)]
    return [
        Choice(
            "pay", "not_used", "approved", "Pay, do not use", "1",
            f"{found} The work is paid; its judgments are not used.",
        ),
        Choice("use", "used", "approved", "Pay and use", "2", looked_at),
    ]  # fmt: skip


def _finding(assignment: Assignment) -> str:
    """The rater may read it: how many golds a page has, and what was measured, is not told."""
    if assignment.golds_failed:
        return "Some answers were not as expected."
    if assignment.doubt >= 1:
        return "This work differs much from what others did."
    return "No answer was found to be wrong."


def proposal_for(choices: Sequence[Choice], assignment: Assignment) -> Choice:
    """The fair one: work in doubt is paid all the same, only not used."""
    return choices[0] if assignment.golds_failed or assignment.doubt >= 1 else choices[-1]


def in_words(use: str, payment: str) -> str:
    if use == Use.PENDING:
        return "waiting"
    paid = {Payment.APPROVED: "paid", Payment.REFUSED: "not paid"}.get(
        Payment(payment), "payment open"
    )
    return f"{paid} and {'used' if use == Use.USED else 'not used'}"


def what_happened(assignment: Assignment, before: str, use: str, payment: str, reason: str) -> str:
    text = f"Rater {assignment.person_id}: {in_words(use, payment)}."
    if use == Use.NOT_USED and before != use:
        count = evidence.units_out_again(assignment)
        text += f" {count} unit{'' if count == 1 else 's'} went out again."
    return f"{text} Written down: “{reason}”"
