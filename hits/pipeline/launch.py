"""Launch: what a publication needs at its marketplace, made call by call through the ledger.

It can be stopped after any call and taken up again: what is done is known by its row.
"""

import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta

from django.db.models import Exists, OuterRef, Q
from django.utils import timezone

from hits.channels.configured import channel as channel_named
from hits.channels.contract import (
    MakeQualification,
    Publish,
    Qualify,
    Requirement,
    Subscribe,
    Terms,
    Ticket,
)
from hits.models import Account, Claim, Exclusion, Hit, Intent, Publication, Qualification, Study
from hits.models.ledger import IntentQuerySet
from hits.pipeline import jobs, ledger
from hits.pipeline.errors import Closed, Refused
from hits.pipeline.jobs import Progress
from hits.pipeline.publish import QUEUE, address_of
from hits.records import Json

# A marketplace that does nothing for so long is left alone; the sweeper comes back to it.
PATIENCE = timedelta(minutes=5)
BATCH = 50
TOOK_PART = "Given by the requester to who works in the study."
COMPENSATED = (
    "You did a page for us that did not reach the marketplace. We have your answers. Look for "
    "“{title}” in the list of HITs: it is for you alone, and pays you the same."
)


class NotOpen(Closed):
    """The publication was paused or closed meanwhile."""


def launch(publication: Publication, progress: Progress) -> Json:
    """Settle every call that makes the publication and its tickets."""
    if publication.state != Publication.State.OPEN:
        return counts(publication)
    runner = _Runner(publication, progress)
    with suppress(NotOpen):
        terms = runner.with_qualifications(Terms.from_json(publication.terms))
        runner.make_publication(terms)
        runner.make_tickets(terms)
    return counts(publication)


def counts(publication: Publication) -> Json:
    tickets = publication.hits.all()
    meant = tickets.filter(state=Hit.State.MEANT).count()
    return {"tickets": tickets.count(), "made": tickets.count() - meant}


class _Runner:
    def __init__(self, publication: Publication, progress: Progress) -> None:
        self.publication = publication
        self.progress = progress
        self.channel = channel_named(publication.channel)

    def with_qualifications(self, terms: Terms) -> Terms:
        """The terms, with what keeps people of other studies out or lets one worker in."""
        if self.publication.compensates is not None:
            return self._for_one_worker(terms, self.publication.compensates)
        if self.publication.hit_type_id:
            return terms
        self.qualification_of(self.publication.study)
        room = self.channel.capabilities.most_requirements - len(terms.requirements)
        kept_out = [
            Requirement(self.qualification_of(study), "DoesNotExist")
            for study in ruled_out_by(self.publication.study)[:room]
        ]
        return replace(terms, requirements=(*terms.requirements, *kept_out))

    def _for_one_worker(self, terms: Terms, claim: Claim) -> Terms:
        """Who gets the qualification is told of it, and reads in it what to look for."""
        name = f"Compensation for work that was not handed over ({self.publication.hits.get().key})"
        new = Qualification(channel=self.publication.channel, name=name)
        qualification = self._made(new, COMPENSATED.format(title=terms.title))
        self._settle(
            qualify(qualification, claim.account, tells=True, publication=self.publication)
        )
        return replace(terms, requirements=(Requirement(qualification.type_id, "Exists"),))

    def qualification_of(self, study: Study) -> str:
        """The qualification of whoever took part in a study; made when first needed, and then
        given to those who are known."""
        known = Qualification.objects.filter(channel=self.publication.channel, study=study).first()
        new = Qualification(
            channel=self.publication.channel,
            name=f"Took part in {study.slug} ({study.created_at:%Y%m%d%H%M%S%f})",
            study=study,
        )
        made = self._made(known or new)
        grant(study, self.publication.channel)
        return made.type_id

    def _made(self, qualification: Qualification, description: str = TOOK_PART) -> Qualification:
        found, _ = Qualification.objects.get_or_create(
            channel=qualification.channel,
            name=qualification.name,
            defaults={"study": qualification.study},
        )
        if found.type_id:
            return found
        intent = self._intend(
            MakeQualification(found.name, description), f"qualification-{found.pk}"
        )
        if intent.publication_id != self.publication.pk:
            ledger.try_again(Intent.objects.filter(pk=intent.pk))
        self._settle(intent)
        assert intent.answer is not None
        found.type_id = intent.answer["id"]
        found.save(update_fields=["type_id"])
        return found

    def make_publication(self, terms: Terms) -> None:
        if not self.publication.hit_type_id:
            self._settle(self._intend(Publish(terms), f"publication-{self.publication.pk}"))
            self.publication.refresh_from_db()
        if self.channel.sends_events:
            # Hints are welcome, but no launch waits for them.
            self._intend(
                Subscribe(self.publication.hit_type_id), f"subscribe-{self.publication.pk}"
            )
            jobs.ask_once(kind="settle", arguments={}, queue=QUEUE)

    def _intend(self, order: Publish | Subscribe | MakeQualification, token: str) -> Intent:
        return ledger.intend(
            channel=self.publication.channel,
            order=order,
            token=token,
            publication=self.publication,
        )

    def make_tickets(self, terms: Terms) -> None:
        self._write_tickets(terms)
        tickets = self.publication.intents.filter(action=Ticket.action)
        self._drive(tickets)

    def _write_tickets(self, terms: Terms) -> None:
        written = Intent.objects.filter(hit=OuterRef("pk"), action=Ticket.action)
        unwritten = self.publication.hits.filter(~Exists(written), state=Hit.State.MEANT)
        first = self.publication.intents.filter(action=Ticket.action).count() + 1
        intents = [
            ledger.drafted(
                channel=self.publication.channel,
                order=Ticket(
                    publication_ref=self.publication.hit_type_id,
                    key=hit.key.hex,
                    url=address_of(hit),
                    number=number,
                    terms=terms,
                ),
                token=f"ticket-{hit.key.hex}",
                publication=self.publication,
                hit=hit,
            )
            for number, hit in enumerate(unwritten.order_by("pk"), start=first)
        ]
        Intent.objects.bulk_create(intents, ignore_conflicts=True, batch_size=500)

    def _settle(self, intent: Intent) -> None:
        self._drive(Intent.objects.filter(pk=intent.pk))
        intent.refresh_from_db()

    def _drive(self, intents: IntentQuerySet) -> None:
        """Until all of them are settled, one is refused, or somebody stops it."""
        total = intents.count()
        last_success = timezone.now()
        while left := intents.filter(settled_at__isnull=True).count():
            self._refuse_paused()
            made = sum(1 for _ in self._settle_some(intents, total - left, total))
            if made:
                last_success = timezone.now()
            elif timezone.now() - last_success > PATIENCE:
                raise Closed(f"{self.publication.channel} does not do {left:,} of the calls yet.")
            else:
                time.sleep(0.1)
        self.progress(total, total, f"{total:,} of {total:,} calls")
        self._refuse_paused()
        refused = intents.in_vain().first()
        if refused is not None:
            raise Refused(f"{self.publication.channel} refuses: {refused.message}")

    def _settle_some(self, intents: IntentQuerySet, done: int, total: int) -> Iterator[Intent]:
        now = timezone.now()
        due = intents.filter(settled_at__isnull=True, next_try_at__lte=now).order_by("pk")
        for intent in due[:BATCH]:
            self.progress(done, total, f"Calls made at {self.publication.channel}")
            settled = ledger.settle(intent)
            if settled.state == Intent.State.REFUSED:
                self._refuse_paused()
                raise Refused(f"{self.publication.channel} refuses: {settled.message}")
            if settled.settled_at is not None:
                done += 1
                yield settled

    def _refuse_paused(self) -> None:
        self.publication.refresh_from_db(fields=["state"])
        if self.publication.state != Publication.State.OPEN:
            raise NotOpen("The publication is not open any more.")


def ruled_out_by(study: Study) -> list[Study]:
    """The studies whose people may not work in this one, the newest first."""
    pairs = Exclusion.objects.filter(Q(study=study) | Q(other=study)).order_by("-pk")
    found = [each.other if each.study_id == study.pk else each.study for each in pairs]
    return list(dict.fromkeys(found))


def grant(study: Study, channel: str) -> int:
    """Whoever's page is confirmed gets the study's qualification, which rules out others; each
    worker once, and not for training."""
    known = Qualification.objects.filter(channel=channel, study=study).exclude(type_id="").first()
    if known is None:
        return 0
    claims = Claim.objects.filter(account=OuterRef("pk"), hit__publication__study=study)
    confirmed = claims.exclude(theirs="").exclude(assignment__is_training=True)
    given = Intent.objects.filter(token__startswith=_token(known, ""))
    tokens = set(given.values_list("token", flat=True))
    workers = Account.objects.filter(Exists(confirmed), channel=channel)
    new = [account for account in workers if _token(known, account.pk) not in tokens]
    for account in new:
        qualify(known, account)
    return len(new)


def qualify(
    qualification: Qualification,
    account: Account,
    *,
    tells: bool = False,
    publication: Publication | None = None,
) -> Intent:
    return ledger.intend(
        channel=qualification.channel,
        order=Qualify(qualification.type_id, account.external_id, tells),
        token=_token(qualification, account.pk),
        publication=publication,
    )


def _token(qualification: Qualification, account: int | str) -> str:
    return f"qualify-{qualification.pk}-{account}"
