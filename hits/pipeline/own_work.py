"""Own work: a person's submitted pages, and what was decided on paying them. What a page's golds
expected, and whether its judgments are used, is not told here."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from django.db.models import OuterRef, Prefetch, QuerySet, Subquery, Sum

from hits.models import Assignment, Decision, Judgment, User

BY_RULE = "Checked by a rule."


@dataclass(frozen=True, slots=True)
class Told:
    """The decision on payment that holds; the reason is the reviewer's, who knew it is read."""

    reason: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Earned:
    approved: Decimal
    waiting: Decimal


def own_pages(user: User) -> QuerySet[Assignment]:
    return with_payment(Assignment.objects.filter(account__user=user))


def with_payment(pages: QuerySet[Assignment]) -> QuerySet[Assignment]:
    """Pages with the decisions on paying them, in two statements."""
    payment = Decision.objects.filter(kind=Decision.Kind.PAYMENT).order_by("pk")
    return pages.select_related("study", "version").prefetch_related(
        Prefetch("decisions", queryset=payment, to_attr="payment_decisions")
    )


def with_seconds(pages: QuerySet[Assignment]) -> QuerySet[Assignment]:
    """With the time each page took, looked up for the pages that are shown and no others."""
    times = Judgment.objects.filter(slot__assignment=OuterRef("pk")).order_by()
    summed = times.values("slot__assignment").annotate(seconds=Sum("seconds")).values("seconds")
    return pages.annotate(seconds=Subquery(summed))


def told(page: Assignment) -> Told | None:
    """What holds on paying a page of own_pages; nothing while it waits."""
    decisions: list[Decision] = page.payment_decisions  # type: ignore[attr-defined]
    if not decisions or page.payment == Assignment.Payment.PENDING:
        return None
    last = decisions[-1]
    return Told(BY_RULE if last.by_id is None else last.reason, last.at)


def earned(user: User) -> Earned:
    submitted = Assignment.objects.filter(account__user=user, state="submitted").order_by()
    sums = dict(submitted.values_list("payment").annotate(Sum("version__pay")))
    return Earned(sums.get("approved", Decimal(0)), sums.get("pending", Decimal(0)))
