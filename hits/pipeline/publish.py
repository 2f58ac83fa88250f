"""Publish: a study offered at a marketplace, as one ticket a page."""

from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from uuid import UUID

from django.conf import settings
from django.core.signing import BadSignature, Signer
from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet, Sum
from django.utils import timezone

from hits.channels.configured import NoSuchChannel
from hits.channels.configured import channel as channel_named
from hits.channels.contract import (
    Channel,
    Delete,
    End,
    NoAnswer,
    Publish,
    Qualify,
    Terms,
    Ticket,
)
from hits.models import Claim, Hit, Intent, Job, Publication, Study, Unit, User
from hits.pipeline import jobs, ledger
from hits.pipeline.errors import Closed, Refused, Stale
from hits.protocol import protocol

QUEUE = "marketplace"
# A launch that broke off is taken up again after this time.
RELAUNCH_AFTER = timedelta(seconds=60)
# Of its calls; a worker who cannot be let in cannot be compensated.
STOPS_A_LAUNCH = ledger.OF_A_LAUNCH | {Qualify.action}

_SIGNER = Signer(salt="hit")


class Silent(Refused):
    """The marketplace does not answer, so nothing is asked of it now."""


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
    seen: int | None = None,
) -> Publication:
    """Offer pages of an open study; the tickets are made by a job.

    With `seen`, the last publication known, a newer one stops it: a button that is pressed twice
    must not spend twice."""
    _refuse_unless_open(study)
    asked = marketplace(channel)
    refuse_impossible(channel, terms)
    wanted = _refuse_too_many(study, pages)
    refuse_what_is_not_covered(asked, wanted, terms)
    with transaction.atomic():
        locked = _locked(study)
        _refuse_unless_open(locked)
        if seen is not None and seen != last_publication(study):
            raise Stale("The study was published a moment ago. Look at that first.")
        _refuse_too_many(locked, wanted)
        publication = Publication.objects.create(
            study=study,
            channel=channel,
            terms=terms.as_json(),
            reward=terms.reward,
            least_wage=least_wage,
            pages=wanted,
            created_by=by,
        )
        add_tickets(publication, wanted, by)
    return publication


def refuse_impossible(channel: str, terms: Terms) -> None:
    """Terms that the marketplace cannot offer."""
    ledger.drafted(channel=channel, order=Publish(terms), token="")


def last_publication(study: Study) -> int:
    """The newest publication of a study: what a researcher saw when they published."""
    return study.publications.order_by("-pk").values_list("pk", flat=True).first() or 0


def marketplace(name: str) -> Channel:
    try:
        found = channel_named(name)
    except NoSuchChannel as unknown:
        raise Refused(str(unknown)) from None
    if not found.capabilities.tickets:
        raise Refused("Raters of the house need no tickets: invite them to the study.")
    return found


def _locked(study: Study) -> Study:
    """So that two people do not sell the same pages."""
    return Study.objects.select_for_update(no_key=True, of=("self",)).get(pk=study.pk)


def locked_publication(publication: Publication) -> Publication:
    """After its study, as everybody locks them who locks both."""
    study = _locked(publication.study)
    locked = Publication.objects.select_for_update().get(pk=publication.pk)
    locked.study = study
    return locked


def _refuse_unless_open(study: Study) -> None:
    if study.state != Study.State.OPEN:
        raise Closed("Only an open study has pages for a marketplace. Open the study first.")


def _refuse_too_many(study: Study, pages: int | None) -> int:
    short = pages_short(study)
    if pages is None:
        pages = short
    if pages < 1:
        raise Refused("Nothing is left to be judged, or tickets for all of it are out.")
    if pages > short:
        raise Refused(f"There is work for {short:,} more pages, not for {pages:,}.")
    return pages


def refuse_what_is_not_covered(asked: Channel, pages: int, terms: Terms) -> None:
    cost = asked.cost(pages=pages, reward=terms.reward, requirements=terms.requirements)
    try:
        balance = asked.balance()
    except NoAnswer as silence:
        raise Silent(f"The marketplace {asked.name} does not answer: {silence}") from None
    if balance is not None and balance < cost.total:
        raise Refused(
            f"The account at {asked.name} has ${balance:,.2f}; "
            f"{'1 page costs' if pages == 1 else f'{pages:,} pages cost'} "
            f"${cost.total:,.2f} with the fee. ${cost.total - balance:,.2f} are missing."
        )


def add_tickets(publication: Publication, pages: int, by: User | None) -> None:
    Hit.objects.bulk_create([Hit(publication=publication) for _ in range(pages)], batch_size=1000)
    ask_to_launch(publication, by)


def ask_to_launch(
    publication: Publication, by: User | None, ask: Callable[..., Job] = jobs.ask
) -> Job:
    return ask(
        kind="publish",
        arguments={"publication": publication.pk},
        by=by,
        study=publication.study,
        queue=QUEUE,
    )


def pages_missing(study: Study) -> int:
    """Open places by judged units a page, rounded up."""
    if study.version is None:
        return 0
    kind = protocol(study.protocol)
    composition = kind.composition(kind.settings_model.model_validate(study.version.settings))
    pool, units_a_page = next(iter(composition.items()))
    judged = Unit.objects.filter(study=study, pool=pool, gold__isnull=True, excluded=False)
    places = judged.aggregate(open=Sum(F("wanted") - F("held") - F("counted")))["open"] or 0
    return -(-places // units_a_page)


def pages_short(study: Study) -> int:
    """Pages missing, less the tickets that are out or about to be and hold no units yet."""
    holding = Claim.objects.filter(hit=OuterRef("pk"), reserves=True, assignment__isnull=False)
    waiting = Hit.objects.offered().filter(
        ~Exists(holding),
        publication__study=study,
        publication__compensates__isnull=True,
    )
    return max(0, pages_missing(study) - waiting.count())


def top_up(*, publication: Publication, pages: int, by: User, seen: int | None = None) -> int:
    """More tickets when units fall short; somebody agrees to pay for them.

    With `seen`, the number of tickets known, it is done once however often it is asked for."""
    _refuse_closed(publication)
    _refuse_added_meanwhile(publication, seen)
    wanted = _refuse_too_many(publication.study, pages)
    terms = Terms.from_json(publication.terms)
    refuse_what_is_not_covered(marketplace(publication.channel), wanted, terms)
    with transaction.atomic():
        locked = locked_publication(publication)
        _refuse_closed(locked)
        _refuse_added_meanwhile(locked, seen)
        _refuse_too_many(locked.study, wanted)
        agreed = max(locked.pages, tickets_that_cost(locked).count() + wanted)
        Publication.objects.filter(pk=locked.pk).update(pages=agreed)
        add_tickets(locked, wanted, by)
    return wanted


def _refuse_added_meanwhile(publication: Publication, seen: int | None) -> None:
    if seen is not None and seen != publication.hits.count():
        raise Stale("HITs were added a moment ago, so nothing more is published. Look first.")


def _refuse_closed(publication: Publication) -> None:
    if publication.state != Publication.State.OPEN:
        raise Closed(f"This publication is {publication.get_state_display()}.")
    _refuse_unless_open(publication.study)
    if publication.compensates_id is not None:
        raise Refused("A compensation is one page for one worker.")


def tickets_that_cost(publication: Publication) -> QuerySet[Hit]:
    """All but those whose page was rejected, and those taken back that nobody can hand over."""
    rejected = Claim.objects.filter(hit=OuterRef("pk"), theirs=Claim.Theirs.REJECTED)
    confirmed = Claim.objects.filter(hit=OuterRef("pk")).exclude(theirs="")
    ending = Intent.objects.filter(hit=OuterRef("pk"), action=End.action)
    in_work = publication.hits.in_work().values("pk")
    is_free = Q(Exists(ending), ~Exists(confirmed), state__in=[Hit.State.ENDED, Hit.State.DELETED])
    return publication.hits.filter(~Exists(rejected)).filter(~is_free | Q(pk__in=in_work))


def replace_lost(publication: Publication) -> int:
    """New tickets for those that cost nothing, never more pages than somebody agreed to."""
    if publication.compensates_id is not None:
        return 0
    with transaction.atomic():
        locked = locked_publication(publication)
        if locked.state != Publication.State.OPEN or locked.study.state != Study.State.OPEN:
            return 0
        agreed = locked.pages - tickets_that_cost(locked).count()
        wanted = min(agreed, pages_short(locked.study))
        if wanted < 1:
            return 0
        add_tickets(locked, wanted, by=None)
    return wanted


def set_state(*, publication: Publication, state: str, by: User) -> None:
    """Pause or close: nothing is offered any more, and who has accepted may finish. Open again:
    tickets anew for those taken back."""
    if state not in Publication.State.values:
        raise Refused("A publication is open, paused or closed.")
    with transaction.atomic():
        locked = locked_publication(publication)
        if locked.state == Publication.State.CLOSED and state != locked.state:
            raise Closed("A closed publication stays closed. Publish the study anew.")
        if state == Publication.State.OPEN and locked.compensates_id is None:
            _refuse_unless_open(locked.study)
        change_state(locked, Publication.State(state), by)
    publication.refresh_from_db()


def on_offer(study: Study) -> QuerySet[Publication]:
    """What a study has at marketplaces that is not closed. Compensations are owed to somebody
    whatever becomes of the study, and are left alone."""
    return study.publications.filter(compensates__isnull=True).exclude(
        state=Publication.State.CLOSED
    )


def follow_study(study: Study, by: User | None) -> int:
    """A study that is paused or closed takes its publications with it; its row is locked."""
    theirs = on_offer(study).order_by("pk").select_for_update(of=("self",))
    if study.state == Study.State.PAUSED:
        theirs = theirs.filter(state=Publication.State.OPEN)
    for publication in theirs:
        change_state(publication, Publication.State(study.state), by)
    return len(theirs)


def change_state(locked: Publication, state: Publication.State, by: User | None) -> None:
    locked.state = state
    locked.save(update_fields=["state"])
    if state != Publication.State.OPEN:
        take_back_tickets(locked, by)
    elif not replace_lost(locked):
        ask_to_launch(locked, by)
    if state == Publication.State.CLOSED:
        _give_up_the_launch(locked)


def _give_up_the_launch(closed: Publication) -> None:
    """Tickets that are to be made are made no longer; those that may have been made are found
    by the job, and ended."""
    tickets = closed.intents.filter(action=Ticket.action)
    ledger.withdraw(tickets)
    if tickets.filter(settled_at__isnull=True).exists():
        jobs.ask_once(kind="reconcile", arguments={"publication": closed.pk}, queue=QUEUE)


def take_back_tickets(publication: Publication, by: User | None = None) -> int:
    """End the live tickets of a publication that is not open."""
    ending = Intent.objects.filter(hit=OuterRef("pk"), action=End.action)
    live = publication.hits.filter(~Exists(ending), state=Hit.State.LIVE)
    return _intend_for(publication, live, End, by)


def delete_hits(*, publication: Publication, by: User) -> int:
    """Let the marketplace forget the tickets of a closed publication that are over and settled."""
    if publication.state != Publication.State.CLOSED:
        raise Closed("Only HITs of a closed publication can be deleted.")
    return _intend_for(publication, hits_to_delete(publication), Delete, by)


def hits_to_delete(publication: Publication) -> QuerySet[Hit]:
    """Nobody can hand them over, or somebody has: a HIT is sold once. What was handed over is
    decided there, and no call about it is on its way. A refusal can be taken back only while the
    marketplace knows the HIT."""
    open_to_appeal = timezone.now() - _time_to_turn_a_refusal(publication)
    unpaid = Q(theirs=Claim.Theirs.SUBMITTED) | Q(
        theirs=Claim.Theirs.REJECTED, submitted_there_at__gt=open_to_appeal
    )
    claims = Claim.objects.filter(hit=OuterRef("pk"))
    asked = Intent.objects.filter(hit=OuterRef("pk"))
    calls = asked.filter(Q(action=Delete.action) | Q(settled_at__isnull=True))
    over = publication.hits.over(timezone.now())
    done = publication.hits.filter(Exists(claims.exclude(theirs="")), state=Hit.State.ENDED)
    return publication.hits.filter(
        Q(pk__in=over.values("pk")) | Q(pk__in=done.values("pk")),
        ~Exists(claims.filter(unpaid)),
        ~Exists(calls),
    ).exclude(pk__in=publication.hits.in_work().values("pk"))


def _time_to_turn_a_refusal(publication: Publication) -> timedelta:
    try:
        capabilities = channel_named(publication.channel).capabilities
    except NoSuchChannel:
        return timedelta(0)
    return capabilities.unreject or timedelta(0)


@transaction.atomic
def _intend_for(
    publication: Publication, hits: QuerySet[Hit], order: type[End] | type[Delete], by: User | None
) -> int:
    intents = [
        ledger.drafted(
            channel=publication.channel,
            order=order(hit.hit_id),
            token=f"{order.action}-{hit.key.hex}",
            publication=publication,
            hit=hit,
            by=by,
        )
        for hit in hits
    ]
    Intent.objects.bulk_create(intents, ignore_conflicts=True, batch_size=1000)
    if intents:
        jobs.ask_once(kind="settle", arguments={}, queue=QUEUE)
    return len(intents)


def resume(*, publication: Publication, by: User) -> None:
    """Go on with a launch that was stopped or refused."""
    if publication.state != Publication.State.OPEN:
        raise Closed(f"This publication is {publication.get_state_display()}.")
    with transaction.atomic():
        ledger.try_again(publication.intents.filter(action__in=STOPS_A_LAUNCH))
        ask_to_launch(publication, by, ask=jobs.ask_for_one)


def launches_left() -> list[Publication]:
    """Launches that broke off; not those that a person stopped or that were refused."""
    meant = Hit.objects.filter(publication=OuterRef("pk"), state=Hit.State.MEANT)
    refused = Intent.objects.filter(publication=OuterRef("pk"), action__in=STOPS_A_LAUNCH)
    open_ones = Publication.objects.filter(
        Exists(meant), ~Exists(refused.in_vain()), state=Publication.State.OPEN
    )
    return [publication for publication in open_ones if _has_broken_off(publication)]


def _has_broken_off(publication: Publication) -> bool:
    asked = Job.objects.filter(kind="publish", study=publication.study_id)
    last = asked.filter(arguments__publication=publication.pk).order_by("-pk").first()
    if last is None:
        return True
    if not last.is_finished or last.state == Job.State.CANCELLED:
        return False
    return last.finished_at is None or last.finished_at < timezone.now() - RELAUNCH_AFTER
