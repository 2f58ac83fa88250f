"""Publish: a study offered at a marketplace, as one ticket a page."""

from dataclasses import dataclass
from decimal import Decimal
from uuid import UUID

from django.conf import settings
from django.core.signing import BadSignature, Signer

from hits.channels.contract import Terms
from hits.models import Claim, Hit, Publication, Study, User
from hits.pipeline.jobs import Progress
from hits.records import Json

_SIGNER = Signer(salt="hit")


@dataclass(frozen=True, slots=True)
class Estimate:
    pages: int
    reward: Decimal
    fee: Decimal
    page_cost: Decimal
    total: Decimal
    minutes: float | None
    hourly: Decimal | None
    balance: Decimal | None
    warning: str


def address_of(hit: Hit) -> str:
    """Where the marketplace's frame finds a ticket; without the signature there is nothing."""
    return f"{settings.SITE_URL}/hit/{_SIGNER.sign(hit.key.hex)}/"


def hit_of(signed_key: str) -> Hit:
    """The ticket of an address; Hit.DoesNotExist where the key is not ours."""
    try:
        key = UUID(_SIGNER.unsign(signed_key))
    except (BadSignature, ValueError):
        raise Hit.DoesNotExist from None
    return Hit.objects.select_related("publication__study__version").get(key=key)


def publish(
    *,
    study: Study,
    channel: str,
    terms: Terms,
    by: User,
    least_wage: Decimal | None,
    pages: int | None = None,
) -> Publication:
    raise NotImplementedError


def pages_missing(study: Study) -> int:
    """Open places by judged units a page, rounded up."""
    raise NotImplementedError


def pages_short(study: Study) -> int:
    """Pages missing, less the tickets that are out or about to be."""
    raise NotImplementedError


def top_up(*, publication: Publication, pages: int | None, by: User | None) -> int:
    raise NotImplementedError


def set_state(*, publication: Publication, state: str, by: User) -> None:
    raise NotImplementedError


def resume(*, publication: Publication, by: User) -> None:
    """Go on with a launch that was stopped or refused."""
    raise NotImplementedError


def delete_hits(*, publication: Publication, by: User) -> int:
    """Let the marketplace forget the tickets of a closed publication that are over and settled."""
    raise NotImplementedError


def launch(publication: Publication, progress: Progress) -> Json:
    raise NotImplementedError


def compensate(*, claim: Claim, by: User) -> Publication:
    raise NotImplementedError


def estimate(
    *,
    study: Study,
    channel: str,
    reward: Decimal,
    pages: int,
    least_wage: Decimal | None = None,
) -> Estimate:
    raise NotImplementedError
