"""Ledger: every creating or paying call is written down before it is made, and settled after."""

from collections.abc import Callable
from decimal import Decimal

from hits.channels.contract import Order
from hits.models import Claim, Hit, Intent, Publication, User

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
    raise NotImplementedError


def settle(intent: Intent) -> Intent:
    raise NotImplementedError


def settle_due(limit: int = 500, progress: Tell | None = None) -> dict[str, int]:
    raise NotImplementedError
