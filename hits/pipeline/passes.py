"""A pass: what a worker's page carries instead of a cookie. It is bound to a worker, an assignment
and its HIT, and is signed here."""

from datetime import datetime

from django.core.signing import BadSignature, Signer
from django.utils import timezone

from hits.channels.contract import Entry
from hits.models import Hit

_SIGNER = Signer(salt="claim")


def write_pass(*, hit: Hit, entry: Entry, until: datetime) -> str:
    bound = [hit.publication.channel, hit.key.hex, entry.ref, entry.worker, until.timestamp()]
    return _SIGNER.sign_object(bound)


def read_pass(text: str, hit: Hit) -> Entry | None:
    """Who holds a pass, if it was written here, for this HIT, and has not run out."""
    try:
        channel, key, ref, worker, until = _SIGNER.unsign_object(text)
    except (BadSignature, ValueError):
        return None
    if (channel, key) != (hit.publication.channel, hit.key.hex):
        return None
    if until < timezone.now().timestamp():
        return None
    return Entry(worker, ref, hit.hit_id, is_preview=False, is_verified=False)
