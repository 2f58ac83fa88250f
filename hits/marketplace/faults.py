"""Faults to be had on purpose, where the settings allow them. They are rows, so that every process
of the marketplace has them."""

import random
import time

from django.conf import settings
from django.db.models import F

from hits.marketplace.models import Fault

Kind = Fault.Kind


def strikes(kind: Fault.Kind, operation: str) -> bool:
    return bool(_struck(kind, operation))


def delay(operation: str) -> None:
    time.sleep(sum(fault.seconds for fault in _struck(Kind.DELAY, operation)))


def _struck(kind: Fault.Kind, operation: str) -> list[Fault]:
    if not settings.MARKETPLACE_FAULTS:
        return []
    found = Fault.objects.filter(kind=kind, operation__in=["*", operation])
    return [fault for fault in found if _strikes(fault)]


def _strikes(fault: Fault) -> bool:
    if fault.share is not None:
        return random.random() < fault.share
    left = Fault.objects.filter(pk=fault.pk, remaining__gt=0)
    return bool(left.update(remaining=F("remaining") - 1))
