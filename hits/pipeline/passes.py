"""A pass: what a worker's page carries instead of a cookie. It is bound to a worker, an assignment
and its HIT, and is signed here."""

from dataclasses import dataclass
from datetime import UTC, datetime

from django.core.signing import BadSignature, Signer
from django.utils import timezone

from hits.channels.contract import Entry
from hits.models import Hit

_SIGNER = Signer(salt="claim")


@dataclass(frozen=True, slots=True)
class Pass:
    """Who holds it, and since when: the marketplace's clock ran by then."""

    entry: Entry
    since: datetime


def write_pass(*, hit: Hit, entry: Entry, until: datetime) -> str:
    times = [timezone.now().timestamp(), until.timestamp()]
    bound = [hit.publication.channel, hit.key.hex, entry.ref, entry.worker, *times]
    return _SIGNER.sign_object(bound)


def read_pass(text: str, hit: Hit) -> Pass | None:
    """A pass that was written here, for this HIT, and has not run out."""
    try:
        channel, key, ref, worker, since, until = _SIGNER.unsign_object(text)
    except (BadSignature, ValueError):
        return None
    if (channel, key) != (hit.publication.channel, hit.key.hex):
        return None
    if until < timezone.now().timestamp():
        return None
    entry = Entry(worker, ref, hit.hit_id, is_preview=False, is_verified=False)
    return Pass(entry, datetime.fromtimestamp(since, UTC))
