"""What must be true of the places of all units at any moment between transactions."""

from typing import Any

from django.db import connection

_WRONG_COUNTS = """
    SELECT u.id, u.held, u.counted, u.wanted,
           count(s.id) FILTER (WHERE s.state = 'held') AS slots_held,
           count(s.id) FILTER (WHERE s.state = 'counted') AS slots_counted
    FROM hits_unit u LEFT JOIN hits_slot s ON s.unit_id = u.id
    GROUP BY u.id
    HAVING u.held + u.counted > u.wanted
        OR u.held <> CASE WHEN u.gold IS NULL
                          THEN count(s.id) FILTER (WHERE s.state = 'held') ELSE 0 END
        OR u.counted <> CASE WHEN u.gold IS NULL
                             THEN count(s.id) FILTER (WHERE s.state = 'counted') ELSE 0 END
"""
# An assignment always names the person its account belongs to now.
_TWICE_BY_ONE_PERSON = """
    SELECT s.unit_id, a.person_id, array_agg(s.id), array_agg(s.state)
    FROM hits_slot s JOIN hits_assignment a ON a.id = s.assignment_id
    JOIN hits_unit u ON u.id = s.unit_id
    WHERE s.state IN ('held', 'counted') AND u.gold IS NULL
    GROUP BY s.unit_id, a.person_id HAVING count(*) > 1
"""
_PERSON_LEFT_BEHIND = """
    SELECT a.id, a.person_id, c.person_id FROM hits_assignment a
    JOIN hits_account c ON c.id = a.account_id JOIN hits_person p ON p.id = c.person_id
    WHERE a.person_id <> c.person_id OR p.same_as_id IS NOT NULL
"""
_IMPOSSIBLE_SLOTS = """
    SELECT s.id, s.state, a.state, a.use, j.slot_id IS NOT NULL
    FROM hits_slot s JOIN hits_assignment a ON a.id = s.assignment_id
    LEFT JOIN hits_judgment j ON j.slot_id = s.id
    WHERE (s.state = 'held') > (a.state = 'open')
       OR (a.state = 'open') > (s.state IN ('held', 'same_person'))
       OR (a.state IN ('expired', 'returned')) > (s.state IN ('freed', 'same_person'))
       OR (s.state IN ('counted', 'not_used', 'surplus', 'broken')) > (j.slot_id IS NOT NULL)
       OR (a.state = 'submitted') <> (j.slot_id IS NOT NULL)
       OR (s.state = 'counted') > (a.use <> 'not_used')
       OR (s.state = 'not_used') > (a.use = 'not_used')
"""


def assert_places_reconcile() -> None:
    """Counts equal slots, nobody counts twice for a unit, and no slot contradicts its page."""
    assert rows(_WRONG_COUNTS) == []
    assert rows(_TWICE_BY_ONE_PERSON) == []
    assert rows(_PERSON_LEFT_BEHIND) == []
    assert rows(_IMPOSSIBLE_SLOTS) == []


def rows(statement: str, values: dict[str, Any] | None = None) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return list(cursor.fetchall())
