"""Replace: what was paid at a marketplace and is not used is bought again, within what the study's
rules allow. In the house its units are open again without that."""

from datetime import timedelta

import structlog
from django.conf import settings
from django.db import transaction
from django.db.models import Exists, F, OuterRef, QuerySet, Sum
from django.utils import timezone

from hits.channels.contract import Terms
from hits.models import Assignment, Decision, Job, Publication, Study
from hits.pipeline import jobs
from hits.pipeline.errors import Refused
from hits.pipeline.publish import (
    QUEUE,
    add_tickets,
    locked_publication,
    marketplace,
    pages_short,
    refuse_what_is_not_covered,
)
from hits.pipeline.rules import quality_of

log = structlog.get_logger()

KIND = "replace"


def ask_what_is_due() -> None:
    """Ask for tickets where some are wanted; not more often than a marketplace is asked at all."""
    lately = timezone.now() - timedelta(seconds=settings.SYNC_SECONDS)
    if Job.objects.filter(kind=KIND, asked_at__gt=lately).exists():
        return
    if any(_wanted(publication) for publication in _on_sale()):
        jobs.ask_once(kind=KIND, arguments={}, queue=QUEUE)


def replace_all() -> int:
    return sum(replace_not_used(publication) for publication in _on_sale())


def _on_sale() -> QuerySet[Publication]:
    vain = _in_vain().filter(claim__hit__publication=OuterRef("pk"))
    found = Publication.objects.filter(
        Exists(vain), state=Publication.State.OPEN, study__state=Study.State.OPEN
    )
    return found.select_related("study__version").order_by("pk")


def replace_not_used(publication: Publication) -> int:
    """Tickets in place of pages that are paid and not used; somebody agreed to so many of them in
    the study's rules, wherever it is on sale. The publication comes with its study and version."""
    wanted = _wanted(publication)
    if wanted < 1:
        return 0
    terms = Terms.from_json(publication.terms)
    try:
        refuse_what_is_not_covered(marketplace(publication.channel), wanted, terms)
    except Refused as refusal:
        log.warning("not replaced", publication=publication.pk, why=refusal.message)
        return 0
    with transaction.atomic():
        locked = locked_publication(publication)
        locked.study.version = publication.study.version
        wanted = min(wanted, _wanted(locked))
        if wanted < 1:
            return 0
        Publication.objects.filter(pk=locked.pk).update(
            pages=F("pages") + wanted, replaced=F("replaced") + wanted
        )
        add_tickets(locked, wanted, by=None)
    return wanted


def _wanted(publication: Publication) -> int:
    study = publication.study
    is_open = publication.state == Publication.State.OPEN and study.state == Study.State.OPEN
    if not is_open or publication.compensates_id is not None:
        return 0
    allowed = quality_of(study).replacement_pages - _replaced_in(study)
    lost = _in_vain().filter(claim__hit__publication=publication).count() - publication.replaced
    return min(allowed, lost, pages_short(study)) if min(allowed, lost) > 0 else 0


def _replaced_in(study: Study) -> int:
    bought: int = study.publications.aggregate(sum=Sum("replaced", default=0))["sum"]
    return bought


def _in_vain() -> QuerySet[Assignment]:
    """Paid and not used. Decisions rest for a moment before, so that they can be taken back."""
    rested = timezone.now() - timedelta(seconds=settings.PAY_AFTER_SECONDS)
    too_new = Decision.objects.filter(assignment=OuterRef("pk"), at__gt=rested)
    return Assignment.objects.filter(
        ~Exists(too_new), use=Assignment.Use.NOT_USED, payment=Assignment.Payment.APPROVED
    ).exclude(claim__theirs="")
