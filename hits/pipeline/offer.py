"""Offer: what a researcher asks of workers becomes terms, and is published once."""

from collections.abc import Sequence
from datetime import timedelta
from decimal import Decimal

from django.db import transaction

from hits.channels.contract import Requirement, Terms
from hits.models import Publication, Study, User
from hits.pipeline.errors import Stale
from hits.pipeline.publish import publish

# A country, or a state of one: US, US-CA.
COUNTRY = r"^[A-Z]{2}(-[A-Z0-9]{1,3})?$"


def terms_of(
    *,
    title: str,
    description: str,
    keywords: str,
    reward: Decimal,
    minutes: int,
    days: int,
    approval_days: int,
    approved_hits: int | None,
    approval_rate: int | None,
    countries: Sequence[str],
) -> Terms:
    requirements = []
    if approved_hits is not None:
        requirements.append(_at_least(Requirement.APPROVED_HITS, approved_hits))
    if approval_rate is not None:
        requirements.append(_at_least(Requirement.APPROVAL_RATE, approval_rate))
    if countries:
        requirements.append(Requirement(Requirement.LOCALE, "In", tuple(countries)))
    return Terms(
        title=title,
        description=description,
        keywords=keywords,
        reward=reward,
        duration=timedelta(minutes=minutes),
        lifetime=timedelta(days=days),
        auto_approval=timedelta(days=approval_days),
        requirements=tuple(requirements),
    )


def _at_least(qualification: str, value: int) -> Requirement:
    return Requirement(qualification, "GreaterThanOrEqualTo", (value,))


def last_publication(study: Study) -> int:
    """The newest publication of a study: what a researcher saw when they published."""
    return study.publications.order_by("-pk").values_list("pk", flat=True).first() or 0


@transaction.atomic
def offer(
    *,
    study: Study,
    channel: str,
    terms: Terms,
    pages: int,
    least_wage: Decimal | None,
    by: User,
    seen: int | None = None,
) -> Publication:
    """Publish; with `seen`, the last publication known, a newer one stops it: a button that is
    pressed twice must not spend twice."""
    Study.objects.select_for_update(no_key=True).get(pk=study.pk)
    if seen is not None and seen != last_publication(study):
        raise Stale("The study was published a moment ago. Look at that first.")
    return publish(
        study=study, channel=channel, terms=terms, by=by, least_wage=least_wage, pages=pages
    )
