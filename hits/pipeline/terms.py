"""Terms: what a page pays and how long it takes, always both, as its person reads them."""

import math
from collections.abc import Collection
from dataclasses import dataclass, replace
from decimal import Decimal

from hits.models import Study, StudyVersion
from hits.models.imported import IMPORTED
from hits.pipeline.statements import rows, run

PAGES_FOR_THE_MEDIAN = 50
FEWEST_PAGES = 5
HALF_MINUTE, LONG = 30, 600

# How long the page r took. Without a join: while PostgreSQL believes its tables to be empty it may
# look for the few pages anew at every slot that there is.
PAGE_SECONDS = """
    (SELECT sum((SELECT j.seconds FROM hits_judgment j WHERE j.slot_id = s.id))
     FROM hits_slot s WHERE s.assignment_id = r.id) AS seconds
"""
# The newest pages of the version in force, by an index, without those done elsewhere; a figure
# that hardly moves stays.
_MEDIAN = f"""
    WITH recent AS MATERIALIZED (
        SELECT id, account_id FROM hits_assignment
        WHERE version_id = (SELECT version_id FROM hits_study WHERE id = %(study)s)
          AND state = 'submitted' AND NOT is_training
        ORDER BY id DESC LIMIT %(pages)s),
    page AS MATERIALIZED (
        SELECT {PAGE_SECONDS} FROM recent r
        JOIN hits_account w ON w.id = r.account_id AND w.channel <> %(imported)s)
    SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY seconds) FROM page WHERE seconds > 0
    HAVING count(*) >= %(fewest)s
"""
_KEEP = """
    UPDATE hits_study SET page_seconds = %(seconds)s
    WHERE id = %(study)s
      AND (page_seconds IS NULL OR abs(page_seconds - %(seconds)s) > 0.02 * page_seconds)
"""


@dataclass(frozen=True, slots=True)
class Terms:
    """Pay and time of a page. The time is rounded up and the wage counted from what is shown, so
    that neither promises more than it holds."""

    pay: Decimal
    seconds: float | None
    is_measured: bool

    @property
    def minutes(self) -> float | None:
        if not self.seconds:
            return None
        step = HALF_MINUTE if self.seconds < LONG else 2 * HALF_MINUTE
        return math.ceil(self.seconds / step) * step / 60

    @property
    def hourly(self) -> Decimal | None:
        if self.minutes is None or not self.pay:
            return None
        return (self.pay * 60 / Decimal(str(self.minutes))).quantize(Decimal("0.01"))

    @property
    def time(self) -> str:
        if self.minutes is None:
            return "time not known yet"
        whole, rest = divmod(self.minutes, 1)
        number = f"{whole:.0f}{'½' if rest else ''}" if whole else "½"
        plural = "" if self.minutes <= 1 else "s"
        return f"about {number} minute{plural}{'' if self.is_measured else ' (estimated)'}"

    def __str__(self) -> str:
        parts = [f"${self.pay:.2f}" if self.pay else "", self.time]
        parts.append(f"${self.hourly} an hour" if self.hourly else "")
        return ", ".join(part for part in parts if part)


def terms_of(study: Study, version: StudyVersion) -> Terms:
    """As the study stands: the time is measured once enough pages were submitted, else what the
    researcher expects, else not known."""
    if study.page_seconds and study.version_id == version.pk:
        return Terms(version.pay, study.page_seconds, is_measured=True)
    return Terms(version.pay, version.expected_minutes * 60 or None, is_measured=False)


def terms_at(study: Study, reward: Decimal) -> Terms:
    """What a worker reads of a page that a marketplace pays."""
    assert study.version is not None
    return replace(terms_of(study, study.version), pay=reward)


def measure(study_ids: Collection[int]) -> None:
    """Keep the median time of the newest pages with each study, where everybody reads it free."""
    for study in study_ids:
        values = {
            "study": study,
            "pages": PAGES_FOR_THE_MEDIAN,
            "fewest": FEWEST_PAGES,
            "imported": IMPORTED,
        }
        for (median,) in rows(_MEDIAN, values):
            run(_KEEP, {"study": study, "seconds": median})
