"""Of a report, what needs the corpus or the clock beside the judgments."""

from collections.abc import Iterator, Sequence
from typing import Any

from hits.models import Study
from hits.pipeline.aggregate import StudySource
from hits.pipeline.sources import images_of
from hits.pipeline.tally import rows
from hits.protocol import Protocol, Report
from hits.records import Column, Said, Table
from hits.sampling.objects import known_words, scores_of

_TIMES = """
    WITH used AS (
        SELECT s.assignment_id, j.seconds, u.gold IS NULL AS is_asked
        FROM hits_assignment a
        JOIN hits_slot s ON s.assignment_id = a.id
        JOIN hits_unit u ON u.id = s.unit_id
        JOIN hits_judgment j ON j.slot_id = s.id
        WHERE a.study_id = %(study)s AND a.use = 'used' AND NOT a.is_training AND j.seconds > 0),
    timed AS (
        SELECT 1 AS place, 'A question' AS name, seconds FROM used WHERE is_asked
        UNION ALL
        SELECT 2, 'A page, golds and all', sum(seconds) FROM used GROUP BY assignment_id)
    SELECT name, count(*), avg(seconds),
           percentile_cont(ARRAY[0.1, 0.5, 0.9]) WITHIN GROUP (ORDER BY seconds)
    FROM timed GROUP BY place, name ORDER BY place
"""


def time_table(study: Study) -> Table:
    title = "Seconds"
    found = [[name, n, mean, *parts] for name, n, mean, parts in rows(_TIMES, {"study": study.pk})]
    columns = [
        Column("Of"),
        Column("n", "count"),
        Column("Mean", "number"),
        Column("10% below", "number"),
        Column("Median", "number"),
        Column("90% below", "number"),
    ]
    note = "In sight and in focus, on pages that are used; where times were taken."
    why = "" if found else "No page that is used has times."
    return Table("seconds", title, note, columns, found, why)


def item_tables(
    study: Study, kind: Protocol[Any, Any], settings: Any, said: Sequence[Said]
) -> Iterator[Table]:
    # As in the report: scipy is imported by who asks for one.
    from hits.analysis.tables.rated import scorer_table
    from hits.analysis.tables.texts import longest_table, renovation_tables

    if Report.LONGEST in kind.reports:
        yield longest_table(said)
    if Report.RENOVATION in kind.reports:
        judged = StudySource([study], kind, only_complete=True).units()
        yield from renovation_tables([kind.renovated(unit) for unit in judged])
    if Report.IMPORTANCE in kind.reports:
        words = known_words() | {each.word.lower(): each.category for each in settings.words}
        images = images_of({each.about["image"] for each in said})
        yield scorer_table(said, {image.id: scores_of(image, words) for image in images})
