"""Overview: how a study stands, for its researchers. Reads only, and never much."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal

from django.db.models import Exists, OuterRef
from django.utils import timezone

from hits.models import Decision, Job, Participation, Study
from hits.models.imported import IMPORTED
from hits.pipeline.rules import judged_pool, rules_of
from hits.pipeline.spent import PAGES_FOR_THE_PACE, Pace, Spent, spent_by_channel
from hits.pipeline.tally import Results, kept, one_row, results_of, rows
from hits.pipeline.terms import PAGE_SECONDS

QUIET_AFTER = timedelta(hours=3)
FIRST_RATE_AFTER = timedelta(minutes=5)
MOST_DAYS = 3650


@dataclass(frozen=True, slots=True)
class Progress:
    """The units that the study is about: golds and fill are counted apart."""

    units: int
    complete: int
    wanted: int
    counted: int
    held: int
    fill_judged: int
    golds: int

    @property
    def open(self) -> int:
        return self.wanted - self.counted - self.held

    @property
    def is_complete(self) -> bool:
        return 0 < self.units == self.complete


NOTHING_YET = Progress(0, 0, 0, 0, 0, 0, 0)


@dataclass(frozen=True, slots=True)
class Pages:
    submitted: int = 0
    out: int = 0
    given_up: int = 0
    used: int = 0
    not_used: int = 0
    to_review: int = 0
    golds_shown: int = 0
    golds_failed: int = 0
    last_drawn: datetime | None = None

    @property
    def golds_passed(self) -> int:
        return self.golds_shown - self.golds_failed

    @property
    def gold_accuracy(self) -> float | None:
        return self.golds_passed / self.golds_shown if self.golds_shown else None


@dataclass(frozen=True, slots=True)
class Rate:
    """How many judgments a day come in, seen on the newest pages, and when all will be there."""

    judgments_a_day: float
    ends_at: datetime

    @property
    def a_day(self) -> int:
        return round(self.judgments_a_day)


@dataclass(frozen=True, slots=True)
class Attention:
    """Something that waits for a person, and where to go for it."""

    text: str
    level: str
    link: str
    action: str


@dataclass(frozen=True, slots=True)
class Overview:
    progress: Progress
    pages: Pages
    pace: Pace
    rate: Rate | None
    people: int
    results: Results
    spent: list[Spent]
    pages_left: int = 0
    attention: list[Attention] = field(default_factory=list)

    @property
    def cost(self) -> Decimal:
        return sum((each.total for each in self.spent), Decimal(0))

    @property
    def to_come(self) -> Decimal:
        """What the pages that are missing cost at the study's own pay, without fees."""
        return self.pages_left * self.pace.pay

    @property
    def owed(self) -> Decimal:
        return sum((each.owed for each in self.spent), Decimal(0))


def overview_of(study: Study) -> Overview:
    """All figures of a study's page; the study comes with its version."""
    progress, pages = progress_of(study), pages_of(study)
    results = results_of(study)
    return Overview(
        progress=progress,
        pages=pages,
        pace=pace_of(study),
        rate=rate_of(study, progress),
        people=Participation.objects.filter(study=study, pages_done__gt=0).count(),
        results=results,
        spent=spent_by_channel(study),
        pages_left=_pages_left(study, progress),
        attention=_attention(study, progress, pages, results),
    )


def _pages_left(study: Study, progress: Progress) -> int:
    kind, settings = rules_of(study)
    return math.ceil(progress.open / kind.composition(settings)[judged_pool(study)])


def progress_of(study: Study) -> Progress:
    return kept(f"progress/{study.pk}", "", lambda: progress_by_study([study])[study.pk])


def pages_of(study: Study) -> Pages:
    return kept(f"pages/{study.pk}", "", lambda: _pages_counted(study))


def progress_by_study(studies: Sequence[Study]) -> dict[int, Progress]:
    """How far each of these studies is, in one statement; they come with their versions."""
    counted = rows(
        """
        SELECT s.id,
               count(*) FILTER (WHERE u.pool = s.pool),
               count(*) FILTER (WHERE u.pool = s.pool AND counted >= wanted),
               coalesce(sum(wanted) FILTER (WHERE u.pool = s.pool), 0),
               coalesce(sum(counted) FILTER (WHERE u.pool = s.pool), 0),
               coalesce(sum(held) FILTER (WHERE u.pool = s.pool), 0),
               count(*) FILTER (WHERE u.pool <> s.pool AND gold IS NULL AND counted > 0),
               count(*) FILTER (WHERE gold IS NOT NULL)
        FROM unnest(%(studies)s::bigint[], %(pools)s::text[]) AS s (id, pool)
        JOIN hits_unit u ON u.study_id = s.id AND NOT u.excluded
        GROUP BY s.id
        """,
        {
            "studies": [study.pk for study in studies],
            "pools": [judged_pool(study) for study in studies],
        },
    )
    found = {pk: Progress(*figures) for pk, *figures in counted}
    return {study.pk: found.get(study.pk, NOTHING_YET) for study in studies}


def _pages_counted(study: Study) -> Pages:
    row = one_row(
        """
        SELECT count(*) FILTER (WHERE a.state = 'submitted'),
               count(*) FILTER (WHERE a.state = 'open'),
               count(*) FILTER (WHERE a.state IN ('returned', 'expired')),
               count(*) FILTER (WHERE a.use = 'used'),
               count(*) FILTER (WHERE a.use = 'not_used'),
               count(*) FILTER (WHERE a.waits),
               coalesce(sum(a.golds_shown), 0),
               coalesce(sum(a.golds_failed), 0),
               max(a.drawn_at)
        FROM hits_assignment a
        WHERE a.study_id = %(study)s AND NOT a.is_training
        """,
        {"study": study.pk},
    )
    return Pages(*row)


def pace_of(study: Study) -> Pace:
    assert study.version is not None
    median, pages = one_row(
        f"""
        WITH recent AS MATERIALIZED (
            SELECT id FROM hits_assignment
            WHERE study_id = %(study)s AND state = 'submitted' AND NOT is_training
            ORDER BY id DESC LIMIT %(limit)s),
        page AS MATERIALIZED (SELECT {PAGE_SECONDS} FROM recent r)
        SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY seconds), count(*)
        FROM page WHERE seconds > 0
        """,
        {"study": study.pk, "limit": PAGES_FOR_THE_PACE},
    )
    return Pace(pages, median, study.version.pay)


def rate_of(study: Study, progress: Progress) -> Rate | None:
    """Of a study that somebody works on: nothing if nobody did since yesterday."""
    now = timezone.now()
    judgments, since = one_row(
        """
        WITH recent AS MATERIALIZED (
            SELECT a.id, a.submitted_at FROM hits_assignment a
            WHERE a.study_id = %(study)s AND a.state = 'submitted' AND NOT a.is_training
              AND a.submitted_at > %(yesterday)s
              AND (SELECT w.channel FROM hits_account w WHERE w.id = a.account_id) <> %(imported)s
            ORDER BY a.id DESC LIMIT %(limit)s),
        page AS MATERIALIZED (
            SELECT r.submitted_at, (
                SELECT count(*) FROM hits_slot s
                WHERE s.assignment_id = r.id AND s.state = 'counted'
                  AND (SELECT u.gold IS NULL FROM hits_unit u WHERE u.id = s.unit_id)) AS judgments
            FROM recent r)
        SELECT sum(judgments)::bigint, min(submitted_at) FROM page WHERE judgments > 0
        """,
        {
            "study": study.pk,
            "imported": IMPORTED,
            "yesterday": now - timedelta(days=1),
            "limit": PAGES_FOR_THE_PACE,
        },
    )
    if study.state != Study.State.OPEN or not judgments or now - since < FIRST_RATE_AFTER:
        return None
    a_day = judgments / ((now - since) / timedelta(days=1))
    left = progress.wanted - progress.counted
    days = left / a_day
    if days > MOST_DAYS:
        return None
    return Rate(a_day, now + timedelta(days=days))


def _attention(study: Study, progress: Progress, pages: Pages, results: Results) -> list[Attention]:
    found = []
    if pages.to_review:
        text = f"{_pages(pages.to_review)} {_wait(pages.to_review)} for review."
        found.append(Attention(text, "warn", "review", "Review"))
    if results.problems:
        have = "question has" if results.problems == 1 else "questions have"
        text = f"{results.problems:,} {have} reported problems."
        found.append(Attention(text, "warn", "problems", "Read them"))
    if study.state == Study.State.OPEN and progress.is_complete:
        found.append(_complete(study))
    elif study.state == Study.State.OPEN:
        found += _why_quiet(study, pages)
    failed = _last_failed(study)
    if failed and not failed.was_mended:  # type: ignore[attr-defined]
        text = f"{failed.title} failed: {failed.message or 'no reason was given'}"
        found.append(Attention(text, "bad", "jobs", "See the job"))
    return found


def _complete(study: Study) -> Attention:
    if study.pilot_of is not None:
        text = f"Every unit has its judgments; “{study.pilot_of.name}” tells the pay they suggest."
        return Attention(text, "good", "pilot_of", "See the pay")
    made = study.releases.filter(withdrawn_at=None).order_by("-pk").defer("manifest").first()
    decided = Decision.objects.filter(assignment__study=study)
    if made is None or decided.filter(pk__gt=made.last_decision_id).exists():
        return Attention("Every unit has its judgments.", "good", "releases", "Release")
    return Attention(f"{made} has the judgments of every unit.", "good", "releases", "See it")


def _last_failed(study: Study) -> Job | None:
    mending = study.jobs.filter(kind=OuterRef("kind"), state=Job.State.DONE, pk__gt=OuterRef("pk"))
    failed = study.jobs.filter(state=Job.State.FAILED).annotate(was_mended=Exists(mending))
    return failed.defer("log").order_by("-pk").first()


def _why_quiet(study: Study, pages: Pages) -> list[Attention]:
    published = study.publications.filter(state="open")
    raters = study.memberships.filter(role="rater")
    if not Study.objects.filter(Exists(published) | Exists(raters), pk=study.pk).exists():
        return [Attention("No rater has joined yet.", "warn", "people", "Invite raters")]
    since = pages.last_drawn or study.opened_at
    if since is None or timezone.now() - since < QUIET_AFTER:
        return []
    hours = int((timezone.now() - since).total_seconds() // 3600)
    text = f"Nobody has started a page for {hours} hours."
    return [Attention(text, "warn", "people", "Invite raters")]


def _pages(count: int) -> str:
    return "1 page" if count == 1 else f"{count:,} pages"


def _wait(count: int) -> str:
    return "waits" if count == 1 else "wait"


def waiting_by_study(studies: Sequence[Study]) -> dict[int, int]:
    """How many pages wait for review in each of these studies, in one statement."""
    counted = rows(
        """
        SELECT study_id, count(*) FROM hits_assignment
        WHERE study_id = ANY (%(studies)s) AND waits
        GROUP BY study_id
        """,
        {"studies": [study.pk for study in studies]},
    )
    return dict(counted)
