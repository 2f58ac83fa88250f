"""Report: the tables of a study that go into an appendix. Reads only, and keeps what it computed
until there is something new to read."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache, partial

from django.core.cache import cache
from django.utils import timezone

from hits.analysis.errors import AnalysisError
from hits.analysis.workers import worker_table
from hits.models import Job, Study, User
from hits.pipeline import jobs
from hits.pipeline.aggregate import in_batches
from hits.pipeline.errors import NotComputed
from hits.pipeline.report_items import item_tables, time_table
from hits.pipeline.report_machines import machine_tables
from hits.pipeline.rules import rules_of
from hits.pipeline.tally import Kept, Results, fresh_results, keep, one_row, rows
from hits.pipeline.uploaded import Tell, silent
from hits.records import Cell, Chart, Column, Said, Table

KIND = "report"
KEPT_SECONDS = 24 * 60 * 60
# Judgments whose report somebody can wait for: a second or two.
MOST_AT_ONCE = 20_000
MOST_ANSWERS_SHARED = 10_000


@dataclass(frozen=True, slots=True)
class StudyReport:
    """Tables made at one moment of the judgments that were used then."""

    at: datetime
    judgments: int
    units: int
    people: int
    tables: list[Table]


@dataclass(frozen=True, slots=True)
class ReportNow:
    """The newest report there is. A long one is computed by a job: that which goes on, or which
    failed after the report was made."""

    report: StudyReport | None
    is_current: bool
    judgments: int
    job: Job | None = None


# How much there is to read, and all that changes what a report says: decisions, and what is
# counted without one.
_MARK = """
    SELECT (SELECT coalesce(sum(counted) FILTER (WHERE gold IS NULL), 0)
            FROM hits_unit WHERE study_id = %(study)s AND NOT excluded),
           (SELECT max(d.id) FROM hits_decision d
            JOIN hits_assignment a ON a.id = d.assignment_id AND a.study_id = %(study)s),
           (SELECT format('%%s of %%s', count(*), count(DISTINCT person_id))
            FROM hits_assignment WHERE study_id = %(study)s AND state = 'submitted'),
           (SELECT format('%%s of %%s', sum(counted), count(*))
            FROM hits_unit WHERE study_id = %(study)s AND NOT excluded)
"""


def report_now(study: Study) -> ReportNow:
    """The study comes with its version. What takes a moment is computed where it is missing."""
    judgments, mark = _mark(study)
    is_long = judgments > MOST_AT_ONCE
    # Looked up before the report: a job that ends in between is still shown as going on.
    job = study.jobs.filter(kind=KIND).order_by("-pk").first() if is_long else None
    found: Kept[StudyReport] | None = cache.get(_key(study))
    is_current = found is not None and found.is_good(mark, KEPT_SECONDS)
    if not is_current and not is_long:
        found, is_current = _keep_report(study, mark, judgments), True
    report = found.value if found else None
    return ReportNow(report, is_current, judgments, _worth_showing(job, report))


def report_of(study: Study) -> StudyReport:
    now = report_now(study)
    if now.report is None:
        raise NotComputed(
            f"The report of {now.judgments:,} judgments takes a while: ask for it first."
        )
    return now.report


def ask_for_report(*, study: Study, by: User) -> Job:
    return jobs.ask_for_one(kind=KIND, arguments={"study": study.pk}, by=by, study=study)


def compute_report(study: Study, tell: Tell = silent) -> StudyReport:
    judgments, mark = _mark(study)
    return _keep_report(study, mark, judgments, tell).value


def _mark(study: Study) -> tuple[int, str]:
    judgments, *read = one_row(_MARK, {"study": study.pk})
    return int(judgments), "/".join(map(str, [study.version_id, *read]))


def _key(study: Study) -> str:
    return f"report/drawn/{study.pk}"


def _keep_report(study: Study, mark: str, judgments: int, tell: Tell = silent) -> Kept[StudyReport]:
    return keep(_key(study), mark, lambda: _report(study, judgments, tell), KEPT_SECONDS)


def _worth_showing(job: Job | None, report: StudyReport | None) -> Job | None:
    if job is None or not job.is_finished:
        return job
    failed = job.state == Job.State.FAILED
    return job if failed and (report is None or job.asked_at > report.at) else None


def _report(study: Study, judgments: int, tell: Tell) -> StudyReport:
    # scipy takes a second to import, and only who asks for a report should wait for it.
    from hits.analysis import reported

    assert study.version is not None
    kind, settings = rules_of(study)
    wording = kind.wording_model.model_validate(study.version.wording)
    asked = kind.tallies(settings, wording)
    said = list(_said(study, partial(tell, total=judgments, message="Reading judgments.")))
    heed = partial(tell, len(said), len(said), "Computing.")
    heed()
    results = fresh_results(study)
    analysed = reported.tables_of(
        kind.reports,
        said,
        asked,
        goes_on=lambda answers: kind.aggregate(answers).positive,
        scores_by=kind.scores_by,
        ordered_ends=kind.ordered_ends,
        heed=heed,
    )
    heed()
    return StudyReport(
        at=timezone.now(),
        judgments=len(said),
        units=len({each.unit for each in said}),
        people=len({each.person for each in said}),
        tables=[
            _answers(results),
            *analysed,
            *item_tables(study, kind, settings, said),
            *machine_tables(
                study=study,
                kind=kind,
                results=results,
                asked=asked,
                said=said,
                depth=getattr(settings, "judged_depth", 5),
            ),
            _golds(results),
            _people(study),
            time_table(study),
        ],
    )


_USED = """
    SELECT u.key, (u.payload - 'outputs')::text, u.wanted, s.person_id, j.answer::text,
           s.shown::text
    FROM hits_unit u
    JOIN hits_slot s ON s.unit_id = u.id AND s.state = 'counted'
    JOIN hits_assignment a ON a.id = s.assignment_id AND a.use = 'used'
    JOIN hits_judgment j ON j.slot_id = s.id
    WHERE u.study_id = %(study)s AND u.gold IS NULL AND NOT u.excluded AND j.answer IS NOT NULL
    ORDER BY u.id, s.id
"""


def _said(study: Study, tell: Callable[[int], None]) -> Iterator[Said]:
    """Those of a unit stand together and share what it is about; equal answers are one."""
    read = lru_cache(maxsize=MOST_ANSWERS_SHARED)(json.loads)
    done, unit, about = 0, "", None
    for batch in in_batches(_USED, {"study": study.pk}):
        tell(done)
        done += len(batch)
        for key, its_payload, wanted, person, answer, shown in batch:
            if about is None or key != unit:
                unit, about = key, json.loads(its_payload)
            arranged = None if shown is None else read(shown)
            yield Said(unit, about, wanted, person, read(answer), arranged)


def _answers(results: Results) -> Table:
    columns = [
        Column("Question"),
        Column("Answer"),
        Column("n", "count"),
        Column("Share", "share"),
        Column("Of", "count"),
    ]
    found: list[list[Cell]] = [
        [tally.title, each.label, each.count, each.part, each.of]
        for tally in results.tallies
        for each in (tally.numbers.shares if tally.numbers else tally.shares)
    ]
    note = "Judgments that are used. Where several answers can apply to one, shares sum to more."
    title = "Answers"
    if not results.n:
        return Table("answers", title, why="No judgment is used yet.")
    of = f"{results.n:,} judgments; shares of those that answer each question"
    chart = Chart("stacked", (1,), (3,), "Answer", "Share", of)
    return Table("answers", title, note, columns, found, chart=chart)


def _golds(results: Results) -> Table:
    columns = [
        Column("Gold"),
        Column("Expected"),
        Column("Answered", "count"),
        Column("Passed", "count"),
        Column("Share", "share"),
    ]
    found: list[list[Cell]] = [
        [each.kind, each.expected, each.answered, each.passed, each.part] for each in results.golds
    ]
    note = "All golds that were answered, on pages that are used or not."
    why = "" if found else "No gold has been answered yet."
    return Table("golds", "Golds", note, columns, found, why)


_PAGES = """
    SELECT person_id, payment = 'approved', use = 'used', count(*)
    FROM hits_assignment
    WHERE study_id = %(study)s AND state = 'submitted' AND NOT is_training
    GROUP BY 1, 2, 3
"""


def _people(study: Study) -> Table:
    """By pages done: ECCV Caption's Table B.1, with what is used beside what is approved."""
    pages = rows(_PAGES, {"study": study.pk})
    title = "People by pages done"
    try:
        approved = worker_table((who, paid) for who, paid, _, n in pages for _ in range(n))
        used = worker_table((who, use) for who, _, use, n in pages for _ in range(n))
    except AnalysisError as error:
        return Table("people", title, why=str(error))
    columns = [
        Column("Pages done"),
        Column("People", "count"),
        Column("Submitted", "count"),
        Column("Approved", "count"),
        Column("Share approved", "share"),
        Column("Used", "count"),
        Column("Share used", "share"),
    ]
    found: list[list[Cell]] = [
        [
            one.label,
            one.workers,
            one.submitted,
            one.approved,
            one.approved / one.submitted if one.submitted else None,
            two.approved,
            two.approved / two.submitted if two.submitted else None,
        ]
        for one, two in zip(approved, used, strict=True)
    ]
    note = "Approved is what was decided to be paid, used what counts."
    of = f"{sum(band.workers for band in approved):,} people"
    chart = Chart("bars", (0,), (1,), "Pages done", "People", of)
    return Table("people", title, note, columns, found, chart=chart)
