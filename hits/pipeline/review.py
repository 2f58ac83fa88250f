"""Review: is a page's work paid, and do its judgments count? Two decisions, each on record."""

from django.db import transaction
from django.db.models import F, QuerySet

from hits.models import Account, Assignment, Claim, Decision, Study, User
from hits.pipeline import places
from hits.pipeline.errors import Closed, NotAllowed, Refused, Stale
from hits.pipeline.pay import payment_there

LONGEST_REASON = 2000


def queue(study: Study) -> QuerySet[Assignment]:
    """Checked pages that wait for a person: most failed golds first, then the oldest."""
    return Assignment.objects.filter(
        study=study, use=Assignment.Use.PENDING, checked_at__isnull=False
    ).order_by(F("golds_failed").desc(), "submitted_at", "pk")


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
) -> Assignment:
    """Decide on use and payment, or decide anew; the earlier decision stays on record.

    With `seen`, the last decision the reviewer knew of, a newer one stops them."""
    locked = Assignment.objects.select_for_update(no_key=True).get(pk=assignment.pk)
    if locked.state != Assignment.State.SUBMITTED:
        raise Closed("Only submitted pages can be decided on.")
    if seen is not None and seen != last_decision(locked):
        raise Stale("Somebody decided on this page while you looked at it. Look again first.")
    if did_it(by, locked):
        raise NotAllowed("You did this page yourself: somebody else has to decide on it.")
    if use not in Assignment.Use.values or payment not in Assignment.Payment.values:
        raise Refused("Say whether the judgments are used and whether the work is paid.")
    if not reason.strip():
        raise Refused("Give a reason: it stays on record, and the rater may read it.")
    if len(reason) > LONGEST_REASON:
        raise Refused(f"A reason has at most {LONGEST_REASON:,} characters.")
    _refuse_against_marketplace(locked, payment)
    record(locked, use=use, payment=payment, reason=reason.strip(), by=by)
    return locked


def _refuse_against_marketplace(assignment: Assignment, payment: str) -> None:
    claim = Claim.objects.filter(assignment=assignment).select_related("hit__publication").first()
    if claim is None:
        return
    if not claim.theirs:
        raise Closed("The marketplace has not confirmed this page, so it cannot be decided on.")
    settled = payment_there(claim)
    if settled and payment not in {settled, assignment.payment}:
        raise Closed("The marketplace was told to pay or refuse: that cannot be changed any more.")


def record(assignment: Assignment, *, use: str, payment: str, reason: str, by: User | None) -> None:
    """Write down what changed, and move the places with it. The caller holds the row's lock."""
    changed = [
        Decision(assignment=assignment, kind=kind, value=value, reason=reason, by=by)
        for kind, value, before in [
            ("use", use, assignment.use),
            ("payment", payment, assignment.payment),
        ]
        if value != before
    ]
    if not changed:
        return
    Decision.objects.bulk_create(changed)
    if use == "not_used" and assignment.use != "not_used":
        places.drop(assignment)
    elif use != "not_used" and assignment.use == "not_used":
        places.retake(assignment, ["not_used"])
    Assignment.objects.filter(pk=assignment.pk).update(use=use, payment=payment)
    assignment.use, assignment.payment = Assignment.Use(use), Assignment.Payment(payment)
