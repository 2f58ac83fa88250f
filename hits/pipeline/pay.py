"""Pay: what was decided on confirmed work becomes calls to the marketplace, each once."""

from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal

from django.db.models import QuerySet

from hits.models import Claim, Intent, Publication, Study, User


@dataclass(frozen=True, slots=True)
class Spending:
    """Money of a publication, with the fees."""

    paid: Decimal
    bonuses: Decimal
    owed: Decimal
    offered: Decimal

    @property
    def total(self) -> Decimal:
        return self.paid + self.bonuses + self.owed + self.offered


def settle_payments(publication: Publication | None = None) -> int:
    raise NotImplementedError


def bonus(*, claim: Claim, amount: Decimal, reason: str, by: User) -> Intent:
    raise NotImplementedError


def pay_stranded(*, claim: Claim, by: User) -> None:
    raise NotImplementedError


def payment_may_change(claim: Claim) -> bool:
    raise NotImplementedError


def due_within(study: Study, time: timedelta = timedelta(hours=48)) -> QuerySet[Claim]:
    """Confirmed work that the marketplace will approve by itself within this time."""
    raise NotImplementedError


def spending(publication: Publication) -> Spending:
    raise NotImplementedError
