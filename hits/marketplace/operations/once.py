"""UniqueRequestToken: a call done once, for as long as its token is remembered."""

from datetime import timedelta

from django.db import IntegrityError, transaction
from django.utils import timezone

from hits.marketplace.models import Requester, RequestToken

REMEMBERED = timedelta(hours=24)


def claim(
    requester: Requester, operation: str, token: str | None
) -> tuple[RequestToken | None, bool]:
    """The token's row, and whether the call is still to be done. Of calls at the same moment
    the second waits for the first to end."""
    if token is None:
        return None, True
    now = timezone.now()
    try:
        with transaction.atomic():
            made = RequestToken.objects.create(
                requester=requester, operation=operation, token=token, created_at=now
            )
            return made, True
    except IntegrityError:
        held = RequestToken.objects.select_for_update().get(
            requester=requester, operation=operation, token=token
        )
    if held.created_at + REMEMBERED > now:
        return held, False
    held.created_at = now
    held.save(update_fields=["created_at"])
    return held, True


def remember(row: RequestToken | None, made: str) -> None:
    if row is not None:
        row.made = made
        row.save(update_fields=["made"])
