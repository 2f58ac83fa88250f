"""Rows: an uploaded file becomes what a study's units can be made of."""

from collections.abc import Sequence
from typing import Any

from django.db import connection, transaction

from hits.importers.lines import Line
from hits.importers.records import Bad
from hits.models import Study
from hits.pipeline.copying import analyze, cells, copy_lines
from hits.pipeline.errors import Closed, Refused
from hits.pipeline.uploaded import (
    Tell,
    Uploaded,
    as_json,
    batches,
    ids_of,
    items_named,
    opened,
    row_of,
    silent,
    with_ids,
)
from hits.protocol import Frozen, Source, protocol

_ALONE = "SELECT pg_advisory_xact_lock(hashtext('rows'), %(study)s::int)"
_BESIDE = "CREATE TEMPORARY TABLE new_row (line int, content jsonb) ON COMMIT DROP"
# Equal rows, here or in the file, are one; the others keep their order behind those there are.
_KEEP_NEW = """
    INSERT INTO hits_studyrow (study_id, number, content)
    SELECT %(study)s, coalesce((SELECT max(number) FROM hits_studyrow WHERE study_id = %(study)s), 0)
        + row_number() OVER (ORDER BY line), content
    FROM (SELECT DISTINCT ON (md5(content::text)) line, content FROM new_row
          ORDER BY md5(content::text), line) n
    WHERE NOT EXISTS (
        SELECT FROM hits_studyrow r
        WHERE r.study_id = %(study)s AND md5(r.content::text) = md5(n.content::text))
    ORDER BY line
"""  # noqa: E501


def import_rows(
    *, study: Study, source: str, called: str = "", report: str = "", tell: Tell = silent
) -> dict[str, Any]:
    """Take in the lines of a CSV or JSONL file that are rows of the study's protocol. The same
    lines again add nothing."""
    row_model_of(study)
    with opened(study=study, source=source, called=called, report=report) as file:
        taken, added = _store(study, file, tell)
    analyze("hits_studyrow (study_id, number)")
    read = taken + file.refused
    tell(read, read, "1 row added." if added == 1 else f"{added:,} rows added.")
    return {"added": added, "there": taken - added, **file.outcome()}


@transaction.atomic
def remove_rows(*, study: Study) -> int:
    """All rows of a draft, whose units are not made yet, so that others can take their place."""
    locked = Study.objects.select_for_update().get(pk=study.pk)
    if locked.state != Study.State.DRAFT:
        raise Closed("Units have been made of the rows already.")
    with connection.cursor() as cursor:
        cursor.execute(_ALONE, {"study": study.pk})
    removed, _ = locked.rows.all().delete()
    return removed


def row_model_of(study: Study) -> type[Frozen]:
    kind = protocol(study.protocol)
    if Source.ROWS not in kind.sources or kind.row_model is None:
        raise Refused(f"Units of {kind.name} are not made of rows.")
    if study.state == Study.State.CLOSED:
        raise Closed("This study is closed.")
    return kind.row_model


@transaction.atomic
def _store(study: Study, file: Uploaded, tell: Tell) -> tuple[int, int]:
    taken = 0
    with connection.cursor() as cursor:
        cursor.execute(_ALONE, {"study": study.pk})
        cursor.execute(_BESIDE)
        for batch in batches(file.lines()):
            lines = _lines(study, file, batch)
            copy_lines("new_row", ["line", "content"], lines)
            taken += len(lines)
            tell(taken + file.refused, message="Reading.")
        cursor.execute(_KEEP_NEW, {"study": study.pk})
        added = cursor.rowcount
        cursor.execute("DROP TABLE new_row")
    return taken, added


def _lines(study: Study, file: Uploaded, batch: Sequence[Line]) -> list[str]:
    kind, model = protocol(study.protocol), row_model_of(study)
    rows = []
    for line in batch:
        try:
            rows.append((line.number, row_of(line.fields, model)))
        except Bad as bad:
            file.refuse(line.number, bad)
    ids = ids_of(study, (row for _, row in rows))
    named = items_named(ids)
    lines = []
    for number, row in rows:
        try:
            found = with_ids(row, ids)
            if why := kind.unfit(found, named):
                raise Bad("does-not-fit", why)
            lines.append(f"{number}\t{cells(as_json(found))}\n")
        except Bad as bad:
            file.refuse(number, bad)
    return lines
