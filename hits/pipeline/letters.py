"""Letters: what is said to a worker of a marketplace is sent to them there, with an address at
which they read it and write back, without a login here."""

from django.conf import settings
from django.core.signing import BadSignature, Signer
from django.db.models import QuerySet
from django.urls import reverse

from hits.channels.configured import names
from hits.models import Account, Claim, PersonEvent, Study
from hits.pipeline import workers
from hits.pipeline.errors import NotAllowed

UNKNOWN = "This address is not known. Use the one in the marketplace’s message as it is."
APPEAL = "If you think that this is wrong, tell the reviewers:"
LONGEST_SUBJECT = 200
OPENINGS = {
    PersonEvent.Kind.WARNING: "The reviewers of “{study}” wrote to you:",
    PersonEvent.Kind.EXCLUDED: "You get no more questions of “{study}”:",
    PersonEvent.Kind.READMITTED: "You may work in “{study}” again:",
    PersonEvent.Kind.ANSWER: "The reviewers of “{study}” answered you:",
}

_SIGNER = Signer(salt="letters")


def address_for(*, study_id: int, account_id: int) -> str:
    return f"{settings.SITE_URL}{reverse('note', args=[signed(study_id, account_id)])}"


def signed(study_id: int, account_id: int) -> str:
    return _SIGNER.sign(f"{study_id}-{account_id}")


def addressee(text: str) -> tuple[Study, Account]:
    """The study and the account of an address that was made here; not of who was erased."""
    try:
        study, _, account = _SIGNER.unsign(text).partition("-")
    except BadSignature:
        raise NotAllowed(UNKNOWN) from None
    found = Account.objects.filter(pk=account, person__erased_at=None).first()
    if found is None:
        raise NotAllowed(UNKNOWN)
    return Study.objects.select_related("version").get(pk=study), found


def channels_reaching(study: Study, person: int) -> list[str]:
    """The marketplaces at which somebody can be written to."""
    return sorted({claim.account.channel for claim in _confirmed(study.pk, person)})


def send(event: PersonEvent) -> None:
    """Write to the accounts with which somebody worked, where a marketplace has confirmed that."""
    opening = OPENINGS[PersonEvent.Kind(event.kind)].format(study=event.study.name)
    assert event.by is not None
    for claim in _confirmed(event.study_id, event.person_id):
        address = address_for(study_id=event.study_id, account_id=claim.account_id)
        workers.notify(
            publication=claim.hit.publication,
            accounts=[claim.account],
            subject=f"About your work: {event.study.name}"[:LONGEST_SUBJECT],
            text=f"{opening}\n\n{event.text}\n\nRead it, and answer, here: {address}",
            by=event.by,
            about=claim,
        )


def _confirmed(study_id: int, person: int) -> QuerySet[Claim]:
    """The last claim of each account: whoever only wrote somebody's id has none."""
    claims = Claim.objects.filter(
        account__person=person, hit__publication__study=study_id, account__channel__in=names()
    ).exclude(theirs="")
    newest = claims.order_by("account", "-pk").distinct("account")
    return newest.select_related("account", "hit__publication")
