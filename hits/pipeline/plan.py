"""Plan: what a draft would ask, of how many pages and at what cost, before anything is made."""

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from random import Random

from hits.channels.costs import fee
from hits.models import Study
from hits.pipeline.drafts import drafts_to_come, of_first_pages
from hits.pipeline.rules import judged_pool, rules_of
from hits.pipeline.terms import terms_of
from hits.records import Json, UnitDraft

MOST_COUNTED = 20_000


@dataclass(frozen=True, slots=True)
class Plan:
    """Units by pool as far as they were counted, and what judging them takes."""

    units: dict[str, int]
    judged: int
    is_more: bool
    wanted: int
    units_a_page: int
    pay: Decimal
    seconds: float | None
    first_page: list[Json]

    @property
    def pages(self) -> int:
        return math.ceil(self.judged * self.wanted / self.units_a_page)

    @property
    def cost(self) -> Decimal:
        return self.pages * self.pay

    @property
    def cost_with_fee(self) -> Decimal:
        """At a marketplace that takes MTurk's fee."""
        return self.pages * (self.pay + fee(self.pay)) if self.pay else self.cost

    @property
    def hours(self) -> float | None:
        return self.pages * self.seconds / 3600 if self.seconds else None


def plan_of(study: Study) -> Plan:
    """The study comes with its version. Large studies are counted up to a limit."""
    assert study.version is not None
    kind, settings = rules_of(study)
    drafts = drafts_to_come(study, MOST_COUNTED + 1)
    is_more = len(drafts) > MOST_COUNTED and not study.pilot_pages
    drafts = drafts[:MOST_COUNTED]
    if study.pilot_pages:
        drafts = list(of_first_pages(study, iter(drafts), study.pilot_pages))
    units = Counter(draft.pool for draft in drafts)
    return Plan(
        units=dict(sorted(units.items())),
        judged=units[judged_pool(study)],
        is_more=is_more,
        wanted=study.version.judgments_wanted,
        units_a_page=kind.composition(settings)[judged_pool(study)],
        pay=study.version.pay,
        seconds=terms_of(study, study.version).seconds,
        first_page=_shuffled(of_first_pages(study, iter(drafts), 1), study.seed),
    )


def _shuffled(drafts: Iterator[UnitDraft], seed: int) -> list[Json]:
    """Golds stand anywhere on a page."""
    payloads = [draft.payload for draft in drafts]
    Random(seed).shuffle(payloads)
    return payloads
