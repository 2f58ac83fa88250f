"""Follow: how a study does at a marketplace, for its researchers. Reads only."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from hits.channels.contract import Approve
from hits.models import Account, Assignment, Claim, ClaimState, Hit, Intent, Publication, Study
from hits.models.publication import SOON, ClaimQuerySet
from hits.pipeline import pay
from hits.pipeline.ledger import WITHDRAWN
from hits.pipeline.overview import Attention
from hits.pipeline.pay import Spending
from hits.pipeline.spent import PAGES_FOR_THE_PACE, Pace
from hits.pipeline.tally import one_row
from hits.pipeline.terms import PAGE_SECONDS

TROUBLED = [Intent.State.REFUSED, Intent.State.UNKNOWN]
MEANINGS = {
    ClaimState.ACCEPTED: "has opened the page and works on it, or has left it",
    ClaimState.LEFT: "gave the page back, or let its time or the HIT run out",
    ClaimState.SAVED: "answers are here; the worker’s browser has not handed the page over yet",
    ClaimState.HANDED_OVER: "the browser handed the page over; the marketplace has not listed it",
    ClaimState.NOT_HANDED_OVER: "answers are here, but the time to hand the page over "
    "has passed: a compensation HIT pays for the work",
    ClaimState.CONFIRMED: "answers are here and the marketplace lists it: to be paid or refused",
    ClaimState.NO_ANSWERS: "the marketplace lists it, but no answers came here: pay it",
    ClaimState.PAID: "approved at the marketplace",
    ClaimState.REFUSED: "rejected at the marketplace",
}


@dataclass(frozen=True, slots=True)
class Following:
    """A publication as it runs."""

    hits: dict[str, int]
    claims: dict[str, int]
    money: Spending
    fees: Decimal
    pace: Pace
    refused: int
    unknown: int
    undelivered: int
    near: int
    warning: str

    @property
    def all_hits(self) -> int:
        return sum(self.hits.values())

    @property
    def made(self) -> int:
        return self.all_hits - self.hits[Hit.State.MEANT]

    @property
    def ended(self) -> int:
        return self.hits[Hit.State.ENDED] + self.hits[Hit.State.DELETED]


@dataclass(frozen=True, slots=True)
class Stranded:
    """Work that somebody did and is not paid for unless a person does something."""

    no_answers: list[Claim]
    not_handed_over: list[Claim]
    more_no_answers: bool
    more_not_handed_over: bool


def following(publication: Publication) -> Following:
    hits = _hits(publication)
    claims = Claim.objects.filter(hit__publication=publication).count_by_state()
    intents = publication.intents.exclude(message=WITHDRAWN).aggregate(
        refused=Count("pk", filter=Q(state=Intent.State.REFUSED)),
        unknown=Count("pk", filter=Q(state=Intent.State.UNKNOWN)),
    )
    pace = pace_of(publication)
    return Following(
        hits=hits,
        claims=claims,
        money=pay.spending(publication),
        fees=claims[ClaimState.PAID] * pay.page_cost(publication).fee,
        pace=pace,
        refused=intents["refused"],
        unknown=intents["unknown"],
        undelivered=Intent.objects.filter(publication=publication).undelivered().count(),
        near=deadlines(publication.study).filter(hit__publication=publication).count(),
        warning=wage_warning(pace.hourly, publication.least_wage),
    )


def _hits(publication: Publication) -> dict[str, int]:
    counted = dict(publication.hits.values_list("state").annotate(Count("pk")))
    return {state: counted.get(state, 0) for state in Hit.State.values}


def pace_of(publication: Publication) -> Pace:
    """The time that workers of this publication took for their last pages."""
    median, pages = one_row(
        f"""
        WITH recent AS MATERIALIZED (
            SELECT a.id FROM hits_claim c
            JOIN hits_hit h ON h.id = c.hit_id
            JOIN hits_assignment a ON a.id = c.assignment_id
            WHERE h.publication_id = %(publication)s AND a.state = 'submitted'
              AND NOT a.is_training AND NOT (c.theirs = '' AND a.use = 'not_used')
            ORDER BY a.id DESC LIMIT %(limit)s),
        page AS MATERIALIZED (SELECT {PAGE_SECONDS} FROM recent r)
        SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY seconds), count(*)
        FROM page WHERE seconds > 0
        """,
        {"publication": publication.pk, "limit": PAGES_FOR_THE_PACE},
    )
    return Pace(pages, median, publication.reward)


def wage_warning(hourly: Decimal | None, least: Decimal | None) -> str:
    if hourly is None or least is None or hourly >= least:
        return ""
    return f"At the pace seen an hour earns ${hourly:,.2f}, less than the ${least:,.2f} you set."


def claims_of(publication: Publication, state: str = "") -> ClaimQuerySet:
    claims = Claim.objects.filter(hit__publication=publication)
    return claims.in_state(state) if state else claims.with_state()


def workers_of(publication: Publication, state: str = "") -> QuerySet[Account]:
    """Those who worked, or whose work is in one state."""
    claims = claims_of(publication, state).order_by()
    return Account.objects.filter(pk__in=claims.values("account"))


def deadlines(study: Study) -> QuerySet[Claim]:
    return deadlines_in([study])


def deadlines_in(studies: Sequence[Study]) -> QuerySet[Claim]:
    """Work that the marketplace approves by itself soon, and nobody has decided on."""
    return pay.due_within(studies, SOON).filter(assignment__payment=Assignment.Payment.PENDING)


def to_pay(claims: ClaimQuerySet) -> ClaimQuerySet:
    """Confirmed there without answers here, and nobody has paid for it yet."""
    asked = Intent.objects.filter(claim=OuterRef("pk"), action=Approve.action)
    waiting = claims.in_state(ClaimState.NO_ANSWERS)
    return waiting.exclude(Exists(asked.exclude(state__in=["refused", "dismissed"])))


def to_compensate(claims: ClaimQuerySet) -> ClaimQuerySet:
    """Answered here, never arrived there, and no compensation HIT made."""
    return claims.in_state(ClaimState.NOT_HANDED_OVER).filter(compensation__isnull=True)


def with_rival(claims: ClaimQuerySet) -> ClaimQuerySet:
    """Whether another claim of the HIT was confirmed: then this one may be an invented one; and
    whether that was the same worker's."""
    others = Claim.objects.filter(hit=OuterRef("hit")).exclude(pk=OuterRef("pk"))
    confirmed = others.exclude(theirs="")
    return claims.annotate(
        has_rival=Exists(confirmed),
        is_rival_of_self=Exists(confirmed.filter(account=OuterRef("account"))),
    )


def stranded(publication: Publication, limit: int) -> Stranded:
    claims = with_rival(claims_of(publication)).select_related("account", "assignment")
    there = list(to_pay(claims).order_by("pk")[: limit + 1])
    here = list(to_compensate(claims).order_by("pk")[: limit + 1])
    return Stranded(
        no_answers=there[:limit],
        not_handed_over=here[:limit],
        more_no_answers=len(there) > limit,
        more_not_handed_over=len(here) > limit,
    )


def attention_of(found: Following, name: str) -> list[Attention]:
    """What a person should know of, but for stranded work, which has buttons of its own."""
    items = []
    if found.near:
        items.append(Attention(_near(found.near), "warn", "review", "Review"))
    if found.refused:
        text = f"{name.capitalize()} refused {_count(found.refused, 'call')}."
        items.append(Attention(text, "bad", "refused", "Read why"))
    if found.unknown:
        text = f"{_count(found.unknown, 'call')} may or may not have been done; it is looked up."
        items.append(Attention(text, "warn", "unknown", "See them"))
    if found.undelivered:
        text = f"{name.capitalize()} did not deliver {_count(found.undelivered, 'message')}."
        items.append(Attention(text, "warn", "undelivered", "See to it"))
    if found.warning:
        items.append(Attention(found.warning, "warn", "", ""))
    return items


def needs_attention() -> Q:
    """Of publications: whether work is stranded there, or a call was refused or ended unknown."""
    claims = Claim.objects.filter(hit__publication=OuterRef("pk"))
    calls = Intent.objects.filter(publication=OuterRef("pk"))
    in_trouble = Exists(troubled(calls)) | Exists(calls.undelivered())
    return Q(Exists(to_pay(claims)) | Exists(to_compensate(claims)) | in_trouble)


def troubled(calls: QuerySet[Intent]) -> QuerySet[Intent]:
    return calls.filter(state__in=TROUBLED).exclude(message=WITHDRAWN)


def attention_in(study: Study) -> list[Attention]:
    """The same for all publications of a study together, for its own page."""
    claims = Claim.objects.filter(hit__publication__study=study).with_state()
    items = []
    waiting = to_pay(claims).count() + to_compensate(claims).count()
    if waiting:
        text = f"{_count(waiting, 'worker')} did work at a marketplace that is stranded."
        items.append(Attention(text, "warn", "channels", "See to it"))
    near = deadlines(study).count()
    if near:
        items.append(Attention(_near(near), "warn", "review", "Review"))
    calls = troubled(Intent.objects.filter(publication__study=study)).count()
    if calls:
        text = f"A marketplace refused, or may not have heard, {_count(calls, 'call')}."
        items.append(Attention(text, "bad", "channels", "See them"))
    undelivered = Intent.objects.filter(publication__study=study).undelivered().count()
    if undelivered:
        text = f"A marketplace did not deliver {_count(undelivered, 'message')}."
        items.append(Attention(text, "warn", "channels", "See to it"))
    return items


def _near(number: int) -> str:
    verb = "approves itself" if number == 1 else "approve themselves"
    return f"{_count(number, 'undecided page')} {verb} at the marketplace within 48 hours."


def _count(number: int, what: str) -> str:
    return f"1 {what}" if number == 1 else f"{number:,} {what}s"
