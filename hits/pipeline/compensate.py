"""Compensate: a worker is paid whose work reached us, but never the marketplace."""

from datetime import timedelta

from django.db import transaction

from hits.channels.contract import Terms
from hits.models import Claim, ClaimState, Publication, User
from hits.pipeline.errors import Refused
from hits.pipeline.publish import (
    add_tickets,
    change_state,
    marketplace,
    refuse_what_is_not_covered,
)

LIFETIME = timedelta(days=14)
DURATION = timedelta(hours=1)
APPROVAL = timedelta(days=1)


def compensate(*, claim: Claim, by: User) -> Publication:
    """A ticket for one worker alone, whose work reached us but not the marketplace."""
    publication = claim.hit.publication
    if existing := Publication.objects.filter(compensates=claim).first():
        return existing
    _refuse_unless_stranded(claim)
    terms = _terms_for(publication)
    refuse_what_is_not_covered(marketplace(publication.channel), 1, terms)
    with transaction.atomic():
        Claim.objects.select_for_update(no_key=True).get(pk=claim.pk)
        if existing := Publication.objects.filter(compensates=claim).first():
            return existing
        _refuse_unless_stranded(claim)
        made = Publication.objects.create(
            study=publication.study,
            channel=publication.channel,
            terms=terms.as_json(),
            reward=terms.reward,
            pages=1,
            compensates=claim,
            created_by=by,
        )
        add_tickets(made, 1, by)
    return made


def _refuse_unless_stranded(claim: Claim) -> None:
    found = Claim.objects.with_state().get(pk=claim.pk)
    if found.theirs:
        raise Refused("The marketplace has this page: pay it there.")
    if found.state in {ClaimState.SAVED, ClaimState.HANDED_OVER}:
        raise Refused("The marketplace may still list this page: wait until its time is over.")
    if found.state != ClaimState.NOT_HANDED_OVER:
        raise Refused("Nothing was handed in with this page.")


def end_compensation(claim: Claim) -> bool:
    """The page was confirmed after all, so it is paid there: a compensation that nobody has
    taken is offered no longer."""
    with transaction.atomic():
        mine = Publication.objects.filter(compensates=claim).select_for_update(of=("self",))
        made = mine.exclude(state=Publication.State.CLOSED).first()
        if made is None or Claim.objects.filter(hit__publication=made).exists():
            return False
        change_state(made, Publication.State.CLOSED, None)
    return True


def _terms_for(publication: Publication) -> Terms:
    terms = Terms.from_json(publication.terms)
    return Terms(
        title=f"Compensation: {terms.title}"[:128],
        description="You did a page for us that was not handed over. This one pays you for it.",
        keywords="compensation",
        reward=terms.reward,
        duration=DURATION,
        lifetime=LIFETIME,
        auto_approval=APPROVAL,
    )
