"""Storing: judgments that were read from a file become pages, slots and judgments.

They are copied into a table beside the others, and go from there into their places by a few
statements in one transaction, whatever their number. People come first, then units in the order
of their keys, as wherever places change.
"""

from collections.abc import Sequence
from types import TracebackType
from typing import Any, Self

from django.db import connection

from hits.importers.records import Bad
from hits.models import JudgmentImport, Study, User
from hits.models.imported import IMPORTED
from hits.pipeline.aggregate import in_batches
from hits.pipeline.copying import copy_lines
from hits.pipeline.rules import rules_of
from hits.pipeline.uploaded import Tell, Uploaded

# Of a page that the file names; what it does not name is put on pages of the study's own size.
LONGEST_PAGE = 1000
SETTLED = "What was owed for it was settled where it was done"

_COLUMNS = (
    "line", "unit_id", "is_gold", "worker", "page", "rejected", "answer", "shown", "seconds",
    "page_seconds", "submitted_at",
)  # fmt: skip
_TABLES = ("brought", "worker", "heard", "placed", "new_page")
_ALONE = "SELECT pg_advisory_xact_lock(hashtext('judgments'), %(corpus)s::int)"
_BESIDE = """
    CREATE TEMPORARY TABLE brought (
        line int, unit_id bigint, is_gold boolean, worker text, page text, rejected text,
        answer jsonb, shown jsonb, seconds float8, page_seconds float8, submitted_at timestamptz)
    ON COMMIT DROP;
    SET LOCAL work_mem = '64MB';
    SET CONSTRAINTS ALL IMMEDIATE
"""
# A worker is known by name within a corpus: the same name in another study on it is the same
# person, and elsewhere another.
_PEOPLE = """
    WITH name AS (
        SELECT DISTINCT worker, %(corpus)s || '/' || worker AS external_id FROM brought),
    fresh AS (
        SELECT external_id, nextval('hits_person_id_seq') AS person_id FROM name
        WHERE NOT EXISTS (
            SELECT FROM hits_account a
            WHERE a.channel = %(channel)s AND a.external_id = name.external_id)
        ORDER BY external_id),
    people AS (INSERT INTO hits_person (id, created_at) SELECT person_id, now() FROM fresh)
    INSERT INTO hits_account (person_id, channel, external_id, created_at)
    SELECT person_id, %(channel)s, external_id, now() FROM fresh
"""
_LOCK_PEOPLE = """
    SELECT p.id FROM hits_person p
    WHERE p.id IN (
        SELECT a.person_id FROM hits_account a
        WHERE a.channel = %(channel)s AND a.external_id IN (
            SELECT DISTINCT %(corpus)s || '/' || worker FROM brought))
    ORDER BY p.id FOR NO KEY UPDATE
"""
_WORKERS = """
    CREATE TEMPORARY TABLE worker ON COMMIT DROP AS
    SELECT n.worker, a.id AS account_id, a.person_id, EXISTS (
               SELECT FROM hits_exclusion e
               JOIN hits_participation p
                 ON p.person_id = a.person_id AND p.started_at IS NOT NULL
               WHERE (e.study_id = %(study)s AND e.other_id = p.study_id)
                  OR (e.other_id = %(study)s AND e.study_id = p.study_id)) AS is_kept_out
    FROM (SELECT DISTINCT worker FROM brought) n
    JOIN hits_account a
      ON a.channel = %(channel)s AND a.external_id = %(corpus)s || '/' || n.worker
"""
# Of a person's lines on a unit the first is taken, unless the person has judged it already.
_HEARD = """
    CREATE TEMPORARY TABLE heard ON COMMIT DROP AS
    SELECT b.line, b.unit_id, w.account_id, w.person_id,
           CASE WHEN b.line > min(b.line) OVER (PARTITION BY b.unit_id, w.person_id)
                    THEN 'repeated'
                WHEN s.id IS NOT NULL AND j.answer = b.answer THEN 'there'
                WHEN s.id IS NOT NULL THEN 'judged'
                WHEN w.is_kept_out THEN 'kept-out'
                ELSE 'new' END AS outcome
    FROM brought b JOIN worker w USING (worker)
    LEFT JOIN hits_slot s ON s.unit_id = b.unit_id AND s.person_id = w.person_id
    LEFT JOIN hits_judgment j ON j.slot_id = s.id
"""
_REFUSED = """
    SELECT line, outcome FROM heard WHERE outcome NOT IN ('new', 'there') ORDER BY line
"""
_WHY = {
    "repeated": "The same worker judges the same unit on an earlier line.",
    "judged": "This worker has judged this unit already, and otherwise.",
    "kept-out": "This worker has worked in a study that rules this one out.",
}
_PLACED = """
    CREATE TEMPORARY TABLE placed ON COMMIT DROP AS
    SELECT nextval('hits_slot_id_seq') AS slot_id, n.*
    FROM (
        SELECT b.*, h.account_id, h.person_id, b.rejected <> '' AS is_rejected,
               (row_number() OVER page - 1)
                   / CASE WHEN b.page = '' THEN %(size)s ELSE %(longest)s END AS part,
               (row_number() OVER page - 1)
                   %% CASE WHEN b.page = '' THEN %(size)s ELSE %(longest)s END + 1 AS position,
               row_number() OVER (PARTITION BY b.unit_id, b.rejected <> '' ORDER BY b.line)
                   AS nth
        FROM brought b JOIN heard h USING (line) WHERE h.outcome = 'new'
        WINDOW page AS (
            PARTITION BY h.account_id, b.page, b.rejected <> '' ORDER BY b.line)
        ORDER BY b.line) n
"""
_PAGES = """
    CREATE TEMPORARY TABLE new_page ON COMMIT DROP AS
    SELECT nextval('hits_assignment_id_seq') AS id, g.*
    FROM (
        SELECT account_id, person_id, page, is_rejected, part, count(*) AS judgments,
               count(*) FILTER (WHERE is_gold) AS golds, min(rejected) AS rejected,
               coalesce(max(submitted_at), now()) AS submitted_at,
               coalesce(sum(seconds), max(page_seconds), 0) AS seconds
        FROM placed GROUP BY account_id, person_id, page, is_rejected, part
        ORDER BY min(line)) g
"""
_LOCK_UNITS = """
    WITH units AS (
        SELECT u.id FROM hits_unit u
        WHERE u.id IN (SELECT unit_id FROM placed WHERE NOT is_gold)
        ORDER BY u.order_key FOR NO KEY UPDATE)
    SELECT count(*) FROM units
"""
_MORE = """
    (SELECT unit_id, count(*) AS n FROM placed WHERE NOT is_gold AND NOT is_rejected
     GROUP BY unit_id)
"""
_RAISE = f"""
    UPDATE hits_unit u SET wanted = least(held + counted + n, 32767)
    FROM {_MORE} more WHERE u.id = more.unit_id AND held + counted + n > wanted
"""
_ASSIGNMENTS = """
    INSERT INTO hits_assignment (id, key, study_id, version_id, account_id, person_id, state,
        seed, drawn_at, lease_until, submitted_at, checked_at, golds_shown, golds_failed, use,
        payment)
    SELECT id, gen_random_uuid(), %(study)s, %(version)s, account_id, person_id, 'submitted', 0,
           submitted_at - make_interval(secs => least(seconds, 86400)), submitted_at, submitted_at,
           CASE WHEN golds = 0 THEN now() END, CASE WHEN golds = 0 THEN 0 END,
           CASE WHEN golds = 0 THEN 0 END,
           CASE WHEN is_rejected THEN 'not_used' WHEN golds = 0 THEN 'used' ELSE 'pending' END,
           CASE WHEN is_rejected THEN 'refused' ELSE 'approved' END
    FROM new_page ORDER BY id
"""
_FREE = "CASE WHEN u.excluded THEN 0 ELSE u.wanted - u.held - u.counted END"
_SLOTS = f"""
    WITH stored AS (
        INSERT INTO hits_slot (id, assignment_id, unit_id, person_id, position, shown, state)
        SELECT p.slot_id, g.id, p.unit_id, p.person_id, p.position, p.shown,
               CASE WHEN p.is_rejected THEN 'not_used'
                    WHEN p.is_gold OR p.nth <= {_FREE} THEN 'counted'
                    ELSE 'surplus' END
        FROM placed p
        JOIN new_page g USING (account_id, page, is_rejected, part)
        JOIN hits_unit u ON u.id = p.unit_id
        ORDER BY p.slot_id
        RETURNING state)
    SELECT state, count(*) FROM stored GROUP BY state
"""
_JUDGMENTS = """
    INSERT INTO hits_judgment (slot_id, answer, problem, seconds, created_at)
    SELECT p.slot_id, p.answer, '', coalesce(p.seconds, p.page_seconds / g.judgments),
           coalesce(p.submitted_at, now())
    FROM placed p JOIN new_page g USING (account_id, page, is_rejected, part)
    ORDER BY p.slot_id
"""
_COUNTS = f"""
    UPDATE hits_unit u SET counted = counted + least(n, {_FREE})
    FROM {_MORE} more WHERE u.id = more.unit_id AND {_FREE} > 0
"""
_DECISIONS = """
    INSERT INTO hits_decision (assignment_id, kind, value, reason)
    SELECT g.id, d.kind, d.value, d.reason
    FROM new_page g CROSS JOIN LATERAL (VALUES
        ('payment', CASE WHEN g.is_rejected THEN 'refused' ELSE 'approved' END,
         %(settled)s || ': ' || %(imported)s || '.'),
        ('use', CASE WHEN g.is_rejected THEN 'not_used' WHEN g.golds = 0 THEN 'used' END,
         CASE WHEN g.is_rejected THEN g.rejected ELSE 'No golds: ' || %(imported)s || '.' END)
    ) d (kind, value, reason)
    WHERE d.value IS NOT NULL
    ORDER BY g.id
"""
_PARTICIPATIONS = """
    INSERT INTO hits_participation (study_id, person_id, cursors, started_at, excluded_reason,
        pages_done, judgments_done, judgments_that_day)
    SELECT %(study)s, person_id, '{}', min(submitted_at), '', count(*), sum(judgments), 0
    FROM new_page GROUP BY person_id ORDER BY person_id
    ON CONFLICT (study_id, person_id) DO UPDATE SET
        started_at = coalesce(hits_participation.started_at, excluded.started_at),
        pages_done = hits_participation.pages_done + excluded.pages_done,
        judgments_done = hits_participation.judgments_done + excluded.judgments_done
"""


class Storing:
    """One file's judgments, inside the transaction that is open."""

    def __init__(self, study: Study, *, raise_wanted: bool) -> None:
        kind, settings = rules_of(study)
        self.brought = 0
        self._raise_wanted = raise_wanted
        self._values: dict[str, Any] = {
            "study": study.pk,
            "version": study.version_id,
            "corpus": study.corpus_id,
            "channel": IMPORTED,
            "size": sum(kind.composition(settings).values()),
            "longest": LONGEST_PAGE,
            "settled": SETTLED,
        }

    def __enter__(self) -> Self:
        self._run(_ALONE)
        self._run(_BESIDE)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if kind is None:
            self._run(f"DROP TABLE IF EXISTS {', '.join(_TABLES)}")

    def bring(self, lines: Sequence[str]) -> None:
        copy_lines("brought", _COLUMNS, lines)
        self.brought += len(lines)

    def keep(self, file: Uploaded, by: User | None, tell: Tell) -> dict[str, int]:
        """Everything that is new into its place, and what came of it."""
        read = self.brought + file.refused
        counts = {"lines": read, "there": 0, "counted": 0, "surplus": 0, "not_used": 0}

        def at(message: str) -> None:
            tell(read, message=message)

        at("Comparing with what the study has.")
        self._tell_apart()
        for refused in in_batches(_REFUSED, {}):
            for line, outcome in refused:
                file.refuse(line, Bad(outcome, _WHY[outcome]))
        counts["there"] = self._number("SELECT count(*) FROM heard WHERE outcome = 'there'")
        at("Putting judgments on pages.")
        self._put_on_pages()
        pages = self._number("SELECT count(*) FROM new_page")
        if pages:
            people = self._number("SELECT count(DISTINCT person_id) FROM new_page")
            counts |= self._store(at)
            added = counts["counted"] + counts["surplus"] + counts["not_used"]
            counts |= {"added": added, "pages": pages, "people": people}
            self._record(file, by, counts)
        return {"added": 0, "pages": 0, "people": 0, **counts}

    def _tell_apart(self) -> None:
        self._run("ANALYZE brought")
        self._run(_PEOPLE)
        self._lock_people()
        self._run(_WORKERS)
        self._run(_HEARD)
        self._run("ANALYZE heard")

    def _lock_people(self) -> None:
        """Again, where accounts went over to other people while this waited."""
        before = None
        while (locked := self._rows(_LOCK_PEOPLE)) != before:
            before = locked

    def _put_on_pages(self) -> None:
        self._run(_PLACED)
        self._run(_PAGES)
        self._run("ANALYZE placed, new_page")

    def _store(self, at: Any) -> dict[str, int]:
        at("Storing judgments.")
        self._number(_LOCK_UNITS)
        if self._raise_wanted:
            self._run(_RAISE)
        self._run(_ASSIGNMENTS)
        stored = dict(self._rows(_SLOTS))
        at("Storing answers.")
        self._run(_JUDGMENTS)
        at("Counting places.")
        self._run(_COUNTS)
        self._run(_PARTICIPATIONS)
        return stored

    def _record(self, file: Uploaded, by: User | None, counts: dict[str, int]) -> None:
        made = JudgmentImport.objects.create(
            study_id=self._values["study"],
            by=by,
            file_name=file.name,
            sha256=file.sha256,
            counts=counts | {"refused": file.refused},
        )
        self._run(_DECISIONS, imported=f"import {made.pk} of {file.name}")

    def _run(self, statement: str, **values: Any) -> None:
        with connection.cursor() as cursor:
            cursor.execute(statement, self._values | values)

    def _rows(self, statement: str) -> list[tuple[Any, ...]]:
        with connection.cursor() as cursor:
            cursor.execute(statement, self._values)
            return list(cursor.fetchall())

    def _number(self, statement: str) -> int:
        return int(self._rows(statement)[0][0])
