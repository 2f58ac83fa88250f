"""Report: the tables of a study that go into an appendix. Reads only, and keeps what it computed
until there is something new to read."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from django.utils import timezone

from hits.analysis.errors import AnalysisError
from hits.analysis.workers import worker_table
from hits.models import Study
from hits.pipeline.aggregate import in_batches
from hits.pipeline.report_items import item_tables, time_table
from hits.pipeline.report_machines import machine_tables
from hits.pipeline.rules import rules_of
from hits.pipeline.tally import Results, fresh_results, kept, one_row, rows
from hits.records import Cell, Chart, Column, Said, Table

KEPT_SECONDS = 24 * 60 * 60


@dataclass(frozen=True, slots=True)
class StudyReport:
    """Tables made at one moment of the judgments that were used then."""

    at: datetime
    judgments: int
    units: int
    people: int
    tables: list[Table]


# All that changes what a report says: decisions, and what is counted without one.
_MARK = """
    SELECT (SELECT max(d.id) FROM hits_decision d
            JOIN hits_assignment a ON a.id = d.assignment_id AND a.study_id = %(study)s),
           (SELECT format('%%s of %%s', count(*), count(DISTINCT person_id))
            FROM hits_assignment WHERE study_id = %(study)s AND state = 'submitted'),
           (SELECT format('%%s of %%s', sum(counted), count(*))
            FROM hits_unit WHERE study_id = %(study)s AND NOT excluded)
"""


def report_of(study: Study) -> StudyReport:
    """The study comes with its version."""
    read = "/".join(map(str, one_row(_MARK, {"study": study.pk})))
    mark = f"{study.version_id}/{read}"
    return kept(f"report/drawn/{study.pk}", mark, lambda: _report(study), KEPT_SECONDS)


def _report(study: Study) -> StudyReport:
    # scipy takes a second to import, and only who asks for a report should wait for it.
    from hits.analysis import reported

    assert study.version is not None
    kind, settings = rules_of(study)
    wording = kind.wording_model.model_validate(study.version.wording)
    asked = kind.tallies(settings, wording)
    said = list(_said(study))
    results = fresh_results(study)
    analysed = reported.tables_of(
        kind.reports,
        said,
        asked,
        goes_on=lambda answers: kind.aggregate(answers).positive,
        scores_by=kind.scores_by,
        ordered_ends=kind.ordered_ends,
    )
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


def _said(study: Study) -> Iterator[Said]:
    for batch in in_batches(_USED, {"study": study.pk}):
        for key, about, wanted, person, answer, shown in batch:
            arranged = None if shown is None else json.loads(shown)
            yield Said(key, json.loads(about), wanted, person, json.loads(answer), arranged)


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
