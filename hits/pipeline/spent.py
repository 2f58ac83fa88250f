"""Spent: what a study has cost so far and what an hour earns, channel by channel. Reads only."""

from collections import defaultdict
from dataclasses import dataclass
from decimal import Decimal

from django.db.models import Count, Q, Sum

from hits.channels.in_house import IN_HOUSE
from hits.models import Claim, Intent, Publication, Study
from hits.models.imported import IMPORTED
from hits.pipeline import pay
from hits.pipeline.ledger import SUCCEEDED
from hits.pipeline.tally import kept, one_row, rows
from hits.pipeline.terms import PAGE_SECONDS

PAGES_FOR_THE_PACE = 300


@dataclass(frozen=True, slots=True)
class Pace:
    """The time people took for their last pages, and what the pay is an hour at that pace."""

    pages: int
    median_seconds: float | None
    pay: Decimal

    @property
    def hourly(self) -> Decimal | None:
        if not self.median_seconds or not self.pay:
            return None
        return self.pay * 3600 / Decimal(str(self.median_seconds))


@dataclass(slots=True)
class Spent:
    """At one channel; what is not decided yet is owed, with its fee."""

    channel: str
    pace: Pace | None = None
    rewards: Decimal = Decimal(0)
    fees: Decimal = Decimal(0)
    bonuses: Decimal = Decimal(0)
    compensations: Decimal = Decimal(0)
    owed: Decimal = Decimal(0)

    @property
    def total(self) -> Decimal:
        return self.rewards + self.fees + self.bonuses + self.compensations

    @property
    def name(self) -> str:
        return "in-house" if self.channel == IN_HOUSE else self.channel


def spent_by_channel(study: Study) -> list[Spent]:
    """Raters of the house first, then the marketplaces by name."""
    return kept(f"spent/{study.pk}", "", lambda: _spent(study))


def _spent(study: Study) -> list[Spent]:
    found = {IN_HOUSE: _in_house(study)}
    at: dict[str, Spent] = {}
    bonuses = _bonuses(study)
    for publication in study.publications.annotate(
        approved=Count("hits__claims", filter=Q(hits__claims__theirs=Claim.Theirs.APPROVED)),
        waiting=Count("hits__claims", filter=Q(hits__claims__theirs=Claim.Theirs.SUBMITTED)),
    ):
        there = at.setdefault(publication.channel, Spent(publication.channel))
        _add(there, publication, bonuses[publication.pk])
    found |= dict(sorted(at.items()))
    for channel, pace in _paces(study).items():
        found.setdefault(channel, Spent(channel)).pace = pace
    return [each for each in found.values() if each.channel != IN_HOUSE or each.pace or not at]


def _in_house(study: Study) -> Spent:
    paid, owed = one_row(
        """
        SELECT coalesce(sum(v.pay) FILTER (WHERE a.payment = 'approved'), 0),
               coalesce(sum(v.pay) FILTER (WHERE a.payment = 'pending'), 0)
        FROM hits_assignment a
        JOIN hits_studyversion v ON v.id = a.version_id
        JOIN hits_account w ON w.id = a.account_id AND w.channel <> %(imported)s
        WHERE a.study_id = %(study)s AND a.state = 'submitted'
          AND NOT EXISTS (SELECT FROM hits_claim c WHERE c.assignment_id = a.id)
        """,
        {"study": study.pk, "imported": IMPORTED},
    )
    return Spent(IN_HOUSE, rewards=paid, owed=owed)


def _bonuses(study: Study) -> dict[int, Decimal]:
    paid = Intent.objects.filter(publication__study=study, action="bonus", state__in=SUCCEEDED)
    sums = paid.order_by().values_list("publication").annotate(Sum("amount"))
    return defaultdict(Decimal, dict(sums))


def _add(there: Spent, publication: Publication, bonuses: Decimal) -> None:
    page = pay.page_cost(publication)
    approved: int = publication.approved  # type: ignore[attr-defined]
    waiting: int = publication.waiting  # type: ignore[attr-defined]
    there.bonuses += bonuses
    there.owed += waiting * page.page
    if publication.compensates_id is not None:
        there.compensations += approved * page.page
    else:
        there.rewards += approved * publication.reward
        there.fees += approved * page.fee


def _paces(study: Study) -> dict[str, Pace]:
    """By the last pages of each channel; their rewards may differ, so it is their mean."""
    found = rows(
        f"""
        WITH done AS MATERIALIZED (
            SELECT a.id, coalesce(p.channel, %(in_house)s) AS channel,
                   coalesce(p.reward, v.pay) AS pay,
                   row_number() OVER (PARTITION BY p.channel ORDER BY a.id DESC) AS number
            FROM hits_assignment a
            JOIN hits_studyversion v ON v.id = a.version_id
            LEFT JOIN hits_claim c ON c.assignment_id = a.id
            LEFT JOIN hits_hit h ON h.id = c.hit_id
            LEFT JOIN hits_publication p ON p.id = h.publication_id
            WHERE a.study_id = %(study)s AND a.state = 'submitted' AND NOT a.is_training
              AND (SELECT w.channel FROM hits_account w WHERE w.id = a.account_id) <> %(imported)s),
        page AS MATERIALIZED (
            SELECT r.channel, r.pay, {PAGE_SECONDS} FROM done r WHERE r.number <= %(limit)s)
        SELECT channel, count(*), percentile_cont(0.5) WITHIN GROUP (ORDER BY seconds),
               round(avg(pay), 2)
        FROM page WHERE seconds > 0 GROUP BY channel
        """,
        {
            "study": study.pk,
            "limit": PAGES_FOR_THE_PACE,
            "in_house": IN_HOUSE,
            "imported": IMPORTED,
        },
    )
    return {channel: Pace(pages, median, mean) for channel, pages, median, mean in found}
