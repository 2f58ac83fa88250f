"""Review: is a page's work paid, and do its judgments count? Two decisions, each on record."""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.db import transaction
from django.db.models import QuerySet, Sum
from django.utils import timezone

from hits.models import (
    Account,
    Assignment,
    Claim,
    Decision,
    Job,
    Look,
    Membership,
    Opinion,
    Role,
    Slot,
    Study,
    User,
)
from hits.pipeline import places
from hits.pipeline.doubt import note
from hits.pipeline.errors import Closed, NotAllowed, Refused, Stale
from hits.pipeline.pay import payment_there

LONGEST_REASON = 2000
TAKEN_BACK = "The reviewer took the decision back."


def queue(study: Study, *, user: User | None = None) -> QuerySet[Assignment]:
    """Pages that wait for a person, the most doubtful first, then the oldest. For a reviewer,
    without pages of their own and without those on which they asked for somebody else."""
    waiting = Assignment.objects.filter(study=study, waits=True)
    if user is not None:
        own = Account.objects.filter(user=user).values("person")
        waiting = waiting.exclude(person__in=own).exclude(second_asked_by=user)
    return waiting.order_by("-doubt", "submitted_at", "pk")


def last_decision(assignment: Assignment) -> int:
    """The newest decision on a page: what a reviewer saw when they decided."""
    return assignment.decisions.order_by("-pk").values_list("pk", flat=True).first() or 0


def did_it(user: User, assignment: Assignment) -> bool:
    return Account.objects.filter(user=user, person_id=assignment.person_id).exists()


@transaction.atomic
def decide(
    *,
    assignment: Assignment,
    by: User,
    use: str,
    payment: str,
    reason: str,
    seen: int | None = None,
    loss: Decimal | None = None,
    job: Job | None = None,
) -> Assignment:
    """Decide on use and payment, or decide anew; the earlier decision stays on record.

    With `seen`, the last decision the reviewer knew of, a newer one stops them. Who refuses
    payment has looked at every question of the page, and says in `loss` what the worker loses."""
    locked = _locked(assignment)
    if seen is not None and seen != last_decision(locked):
        raise Stale("Somebody decided on this page while you looked at it. Look again first.")
    _refuse_wrong(locked, by, use, payment, reason)
    if locked.second_asked_by_id == by.pk:
        raise NotAllowed("You asked for a second opinion on this page: somebody else decides.")
    _refuse_against_marketplace(locked, payment)
    if payment == Assignment.Payment.REFUSED != locked.payment:
        _refuse_unseen(locked, by, loss)
    before = locked.use
    record(locked, use=use, payment=payment, reason=reason.strip(), by=by, job=job)
    if job is None:
        _note_change(locked, before)
    return locked


def _note_change(page: Assignment, before: str) -> None:
    """Others are compared with what counts: their signals are read again when that has changed."""
    if (before == Assignment.Use.NOT_USED) != (page.use == Assignment.Use.NOT_USED):
        transaction.on_commit(lambda: note([page.study_id]))


def _locked(assignment: Assignment) -> Assignment:
    pages = Assignment.objects.select_for_update(no_key=True, of=("self",))
    locked = pages.select_related("version").get(pk=assignment.pk)
    if locked.state != Assignment.State.SUBMITTED:
        raise Closed("Only submitted pages can be decided on.")
    return locked


def _refuse_wrong(page: Assignment, by: User, use: str, payment: str, reason: str) -> None:
    if did_it(by, page):
        raise NotAllowed("You did this page yourself: somebody else has to decide on it.")
    if use not in Assignment.Use.values or payment not in Assignment.Payment.values:
        raise Refused("Say whether the judgments are used and whether the work is paid.")
    _refuse_unpaid(use, payment)
    refuse_reason(reason)


def _refuse_unpaid(use: str, payment: str) -> None:
    """Nobody's work is taken for nothing, or leaves the queue with its pay forgotten."""
    if use == Assignment.Use.USED and payment == Assignment.Payment.REFUSED:
        raise Refused("Work that is not paid is not used.")
    if use != Assignment.Use.PENDING and payment == Assignment.Payment.PENDING:
        raise Refused("Say whether the work is paid: nobody would be asked again.")


def refuse_reason(reason: str) -> None:
    if not reason.strip():
        raise Refused("Give a reason: it stays on record, and the rater may read it.")
    if len(reason) > LONGEST_REASON:
        raise Refused(f"A reason has at most {LONGEST_REASON:,} characters.")


def _refuse_against_marketplace(assignment: Assignment, payment: str) -> None:
    claim = Claim.objects.filter(assignment=assignment).select_related("hit__publication").first()
    if claim is None:
        return
    if not claim.theirs:
        raise Closed("The marketplace has not confirmed this page, so it cannot be decided on.")
    settled = payment_there(claim)
    if settled and payment not in {settled, assignment.payment}:
        raise Closed("The marketplace was told to pay or refuse: that cannot be changed any more.")


# Refusing payment


@dataclass(frozen=True, slots=True)
class Loss:
    """What a refusal costs a worker."""

    pay: Decimal
    seconds: float | None
    channel: str


def loss_of(page: Assignment) -> Loss:
    """Of a page with its version."""
    claim = Claim.objects.filter(assignment=page).select_related("hit__publication").first()
    slots = Slot.objects.filter(assignment=page)
    seconds = slots.aggregate(sum=Sum("judgment__seconds"))["sum"]
    if claim is None:
        return Loss(page.version.pay, seconds, "")
    return Loss(claim.hit.publication.reward, seconds, claim.hit.publication.channel)


def look(*, assignment: Assignment, by: User, positions: Iterable[int]) -> None:
    """Write down which questions of a page a reviewer had before their eyes."""
    there = Slot.objects.filter(assignment=assignment, position__in=set(positions))
    looks = [
        Look(assignment=assignment, by=by, position=position)
        for position in there.values_list("position", flat=True)
    ]
    Look.objects.bulk_create(looks, ignore_conflicts=True)


def unseen(assignment: Assignment, by: User) -> list[int]:
    """The questions of a page that a reviewer has not looked at."""
    looked = Look.objects.filter(assignment=assignment, by=by).values("position")
    left = Slot.objects.filter(assignment=assignment).exclude(position__in=looked)
    return list(left.order_by("position").values_list("position", flat=True))


def _refuse_unseen(page: Assignment, by: User, loss: Decimal | None) -> None:
    if left := unseen(page, by):
        raise Refused(
            f"Look at the whole page before you refuse payment: {len(left)} of its questions "
            "you have not seen."
        )
    lost = loss_of(page).pay
    if loss is None or loss != lost:
        raise Refused(f"Confirm what this costs the worker: ${lost:,.2f}.")


# Somebody else's eyes


@transaction.atomic
def ask_second(*, assignment: Assignment, by: User, use: str, payment: str, reason: str) -> Opinion:
    """Say what one would decide, and leave it to another reviewer, who does not see it before."""
    locked = _locked(assignment)
    _refuse_wrong(locked, by, use, payment, reason)
    if not locked.waits:
        raise Closed("This page does not wait for a decision.")
    if locked.second_asked_by_id is not None:
        raise Closed("A second opinion on this page is asked for already.")
    others = Membership.objects.filter(
        study=locked.study_id, role__in=[Role.REVIEWER, Role.RESEARCHER]
    ).exclude(user=by)
    if not others.exists():
        raise Refused("Nobody else reviews this study. Invite a second reviewer first.")
    Assignment.objects.filter(pk=locked.pk).update(second_asked_by=by)
    return Opinion.objects.create(
        assignment=locked, by=by, use=use, payment=payment, reason=reason.strip()
    )


# Undo


@transaction.atomic
def take_back(*, assignment: Assignment, by: User, seen: int | None = None) -> Assignment:
    """Undo one's own last decision on a page. What a marketplace has paid or refused stays; the
    use is taken back all the same."""
    locked = _locked(assignment)
    newest = locked.decisions.order_by("-pk").first()
    if newest is None or newest.by_id != by.pk or newest.reason == TAKEN_BACK:
        raise Stale("The last decision on this page is not one of yours; nothing was changed.")
    if seen is not None and seen != newest.pk:
        raise Stale("Somebody has decided on this page since; nothing was changed.")
    use, payment = _before(locked, newest)
    claim = Claim.objects.filter(assignment=locked).select_related("hit__publication").first()
    settled = payment_there(claim) if claim is not None and claim.theirs else ""
    if settled == Assignment.Payment.REFUSED and use == Assignment.Use.USED:
        raise Closed("The marketplace has refused payment for good: unpaid work is not used.")
    before = locked.use
    record(locked, use=use, payment=settled or payment, reason=TAKEN_BACK, by=by, in_any_case=True)
    _note_change(locked, before)
    Assignment.objects.filter(pk=locked.pk).update(looked_at=None)
    return locked


def _before(page: Assignment, newest: Decision) -> tuple[str, str]:
    """Use and payment as they were before what was decided together with the newest decision."""
    values = {"use": "pending", "payment": "pending"}
    together = {newest.kind}
    for each in page.decisions.exclude(pk=newest.pk).order_by("-pk"):
        same = (each.by_id, each.reason, each.at) == (newest.by_id, newest.reason, newest.at)
        if same and len(together) == 1 and each.kind not in together:
            together.add(each.kind)
            continue
        earlier = page.decisions.filter(pk__lte=each.pk).order_by("pk")
        values |= dict(earlier.values_list("kind", "value"))
        break
    return values["use"], values["payment"]


def record(
    assignment: Assignment,
    *,
    use: str,
    payment: str,
    reason: str,
    by: User | None,
    in_any_case: bool = False,
    job: Job | None = None,
) -> None:
    """Write down what changed, and move the places with it. The caller holds the row's lock. A
    person who leaves a page as the rule had it is on record for that as well."""
    confirms = by is not None and assignment.waits and use != Assignment.Use.PENDING
    changed = [
        Decision(assignment=assignment, kind=kind, value=value, reason=reason, by=by, job=job)
        for kind, value, before in [
            ("use", use, assignment.use),
            ("payment", payment, assignment.payment),
        ]
        if value != before or (kind == "use" and (confirms or in_any_case))
    ]
    if not changed:
        return
    Decision.objects.bulk_create(changed)
    if use == "not_used" and assignment.use != "not_used":
        places.drop(assignment)
    elif use != "not_used" and assignment.use == "not_used":
        places.retake(assignment, ["not_used"])
    values: dict[str, Any] = {"use": use, "payment": payment}
    if by is not None:
        values |= {"looked_at": timezone.now(), "second_asked_by": None}
    Assignment.objects.filter(pk=assignment.pk).update(**values)
    assignment.use, assignment.payment = Assignment.Use(use), Assignment.Payment(payment)
    assignment.looked_at = values.get("looked_at", assignment.looked_at)
