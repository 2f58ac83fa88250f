"""The places of units: each change of a slot's state with the counts on its unit, in one order."""

from collections.abc import Sequence

from hits.models import Assignment, Slot, Study
from hits.pipeline.rules import judged_pool
from hits.pipeline.statements import Values, rows, run

# Every statement locks the units it counts in the order of their keys, as drawing does, and
# leaves golds alone: those are asked of everybody and have no places.
_UNITS_IN_ORDER = """
    units AS (
        SELECT u.id, u.is_open FROM hits_unit u
        WHERE u.gold IS NULL AND u.id IN (
            SELECT unit_id FROM hits_slot WHERE assignment_id = %(assignment)s
              AND state = ANY (%(states)s) AND (NOT %(some)s OR position = ANY (%(positions)s)))
        ORDER BY u.order_key FOR NO KEY UPDATE)
"""
_MOVE = f"""
    WITH {_UNITS_IN_ORDER},
    moved AS (
        UPDATE hits_slot SET state = %(state)s
        WHERE assignment_id = %(assignment)s AND state = ANY (%(states)s)
          AND (NOT %(some)s OR position = ANY (%(positions)s)))
    UPDATE hits_unit u SET held = held + %(held)s, counted = counted + %(counted)s
    FROM units WHERE u.id = units.id
"""
_LOCK = f"WITH {_UNITS_IN_ORDER} SELECT count(*) FROM units"
_RETAKE = f"""
    WITH {_UNITS_IN_ORDER},
    moved AS (
        UPDATE hits_slot s
        SET state = CASE WHEN units.id IS NULL OR units.is_open THEN 'counted' ELSE 'surplus' END
        FROM hits_slot t LEFT JOIN units ON units.id = t.unit_id
        WHERE s.id = t.id AND t.assignment_id = %(assignment)s AND t.state = ANY (%(states)s))
    UPDATE hits_unit u SET counted = counted + 1 FROM units WHERE u.id = units.id AND units.is_open
"""
_WITH_PLACES = """
    SELECT asked.study FROM unnest(%(studies)s::bigint[], %(pools)s::text[]) AS asked (study, pool)
    WHERE EXISTS (
        SELECT 1 FROM hits_unit u
        WHERE u.study_id = asked.study AND u.pool = asked.pool AND u.is_open)
"""


def with_places(studies: Sequence[Study]) -> set[int]:
    """Those of the studies in which a unit has a place left, whoever may take it."""
    pools = [judged_pool(study) for study in studies]
    found = rows(_WITH_PLACES, {"studies": [study.pk for study in studies], "pools": pools})
    return {study_id for (study_id,) in found}


def count(assignment: Assignment) -> None:
    """Held places become judgments that count."""
    _move(assignment, ["held"], "counted", held=-1, counted=1)


def mark_broken(assignment: Assignment, positions: list[int]) -> None:
    """What could not be judged goes out again, to others."""
    _move(assignment, ["counted"], "broken", counted=-1, positions=positions)


def free(assignment: Assignment) -> None:
    """Held places are given up, because the page was returned or its lease ran out."""
    _move(assignment, ["held"], "freed", held=-1)


def keep_as_surplus(assignment: Assignment) -> None:
    """Judgments that came late, and from somebody who has all the units that one may have."""
    _move(assignment, ["freed"], "surplus")


def drop(assignment: Assignment, positions: list[int] | None = None) -> None:
    """Judgments count no more; their places go out again."""
    _move(assignment, ["counted"], "not_used", counted=-1, positions=positions)


def mark_same_person(slot: Slot) -> None:
    """The person behind this slot has judged the unit under another account already."""
    for states, held, counted in [
        (["held"], -1, 0),
        (["counted"], 0, -1),
        (["freed", "not_used"], 0, 0),
    ]:
        _move(
            slot.assignment,
            states,
            "same_person",
            held=held,
            counted=counted,
            positions=[slot.position],
        )


def retake(assignment: Assignment, states: list[str]) -> None:
    """Judgments that lost their places count where the unit still has one, else are kept."""
    # Locked by a statement before: one that waits for its locks tries the row it first saw
    # against the constraint, and that row may have been full.
    _run(_LOCK, assignment, {"states": states})
    _run(_RETAKE, assignment, {"states": states})


def _move(
    assignment: Assignment,
    states: list[str],
    state: str,
    *,
    held: int = 0,
    counted: int = 0,
    positions: list[int] | None = None,
) -> None:
    values = {"states": states, "state": state, "held": held, "counted": counted}
    _run(_MOVE, assignment, values, positions)


def _run(
    statement: str, assignment: Assignment, values: Values, positions: list[int] | None = None
) -> None:
    chosen = {"some": positions is not None, "positions": positions or []}
    run(statement, values | chosen | {"assignment": assignment.pk})
