"""What a worker's page carries instead of a cookie: the signed key of its HIT in the address,
and in the page a pass for the claim of one worker on one assignment of that HIT."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.conf import settings
from django.core.signing import BadSignature, Signer
from django.utils import timezone

from hits.channels.contract import Entry
from hits.models import Hit

_keys = Signer(salt="hit")
_passes = Signer(salt="claim")


@dataclass(frozen=True, slots=True)
class Pass:
    channel: str
    hit_key: UUID
    ref: str
    worker: str


def signed_key(hit: Hit) -> str:
    return _keys.sign(hit.key.hex)


def address_of(hit: Hit) -> str:
    """Where a marketplace frames the page of a HIT."""
    return f"{settings.SITE_URL}/hit/{signed_key(hit)}/"


def key_in(signed: str) -> UUID | None:
    """The key of a HIT that was signed here; None for anything else."""
    try:
        return UUID(_keys.unsign(signed))
    except (BadSignature, ValueError):
        return None


def write_pass(*, hit: Hit, entry: Entry, until: datetime) -> str:
    channel = hit.publication.channel
    bound = [channel, hit.key.hex, entry.ref, entry.worker, int(until.timestamp())]
    return _passes.sign_object(bound)


def read_pass(token: str, hit_key: UUID) -> Pass | None:
    """What a pass is bound to, if it was written here, for this HIT, and has not run out."""
    try:
        channel, key, ref, worker, until = _passes.unsign_object(token)
    except (BadSignature, ValueError):
        return None
    if UUID(key) != hit_key or until < timezone.now().timestamp():
        return None
    return Pass(channel, hit_key, ref, worker)
