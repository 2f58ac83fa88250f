"""Limits: how many units of a study one person judges at most, in all and in a day.

Counted are units, golds not, of pages that were submitted or are open. Whoever counts them has the
person locked, so that no two requests of one person pass the same count.
"""

import sys
from datetime import timedelta

from django.utils import timezone

from hits.models import Participation, StudyVersion
from hits.pipeline.errors import NothingLeft
from hits.pipeline.statements import row, run

# No number is told: it would say how many of somebody's questions were golds.
ENOUGH = (
    "You have done as much of this study as it asks of one person. Thank you: "
    "there are no more pages for you here."
)
ENOUGH_TODAY = (
    "You have done as much of this study as it asks of one person in a day. "
    "You can go on from 00:00 UTC on {day:%A} {day.day} {day:%B}."
)
OPEN_ELSEWHERE = (
    "Submit the page that you have open first: with it you have as much of this study as it asks "
    "of one person for now."
)

_COUNTS = """
    SELECT p.units_done,
           CASE WHEN p.day = %(today)s THEN p.units_that_day ELSE 0 END,
           (SELECT count(*) FROM hits_assignment a
            JOIN hits_slot s ON s.assignment_id = a.id AND s.state = 'held'
            JOIN hits_unit u ON u.id = s.unit_id AND u.gold IS NULL
            WHERE a.study_id = p.study_id AND a.person_id = p.person_id AND a.state = 'open')
    FROM hits_participation p
    WHERE p.study_id = %(study)s AND p.person_id = %(person)s
"""


# What somebody is said to have done who may not have done it.
_UNCOUNT = """
    UPDATE hits_participation p
    SET pages_done = greatest(0, pages_done + %(sign)s * done.pages),
        judgments_done = greatest(0, judgments_done + %(sign)s * done.judgments),
        units_done = greatest(0, units_done + %(sign)s * done.units),
        judgments_that_day = greatest(0, judgments_that_day
            + CASE WHEN p.day = done.day THEN %(sign)s * done.judgments ELSE 0 END),
        units_that_day = greatest(0, units_that_day
            + CASE WHEN p.day = done.day THEN %(sign)s * done.units ELSE 0 END)
    FROM (SELECT a.study_id, a.person_id, a.submitted_at::date AS day, 1 AS pages,
                 count(j.answer) AS judgments, count(*) FILTER (WHERE u.gold IS NULL) AS units
          FROM hits_assignment a JOIN hits_slot s ON s.assignment_id = a.id
          JOIN hits_unit u ON u.id = s.unit_id LEFT JOIN hits_judgment j ON j.slot_id = s.id
          WHERE a.id = %(assignment)s AND NOT a.is_training GROUP BY a.id) done
    WHERE p.study_id = done.study_id AND p.person_id = done.person_id
"""


def forget(assignment_id: int) -> None:
    """A submitted page no longer counts against its person: they may not have done it."""
    run(_UNCOUNT, {"assignment": assignment_id, "sign": -1})


def remember(assignment_id: int) -> None:
    """It was theirs after all."""
    run(_UNCOUNT, {"assignment": assignment_id, "sign": 1})


class LimitReached(NothingLeft):
    """This person has as many units as one may have."""


def units_left(*, version: StudyVersion, person_id: int) -> int:
    """How many more units the person may be given; as good as endless without a limit."""
    if not version.most_units_a_person and not version.most_units_a_day:
        return sys.maxsize
    values = {"study": version.study_id, "person": person_id, "today": timezone.localdate()}
    counted = row(_COUNTS, values)
    assert counted is not None
    done, today, held = counted
    return max(0, _left(version, done + held, today + held))


def refuse_over(*, version: StudyVersion, person_id: int) -> int:
    """How many more units the person may be given, at least one."""
    left = units_left(version=version, person_id=person_id)
    if not left:
        theirs = Participation.objects.get(study=version.study_id, person_id=person_id)
        raise LimitReached(why_over(version, theirs) or OPEN_ELSEWHERE)
    return left


def why_over(version: StudyVersion, theirs: Participation) -> str:
    """What somebody is told who has submitted all that they may; empty where they may go on."""
    is_today = theirs.day == timezone.localdate()
    today = theirs.units_that_day if is_today else 0
    if _left(version, theirs.units_done, today) > 0:
        return ""
    if version.most_units_a_person and theirs.units_done >= version.most_units_a_person:
        return ENOUGH
    return ENOUGH_TODAY.format(day=timezone.localdate() + timedelta(days=1))


def _left(version: StudyVersion, in_all: int, today: int) -> int:
    most, most_a_day = version.most_units_a_person, version.most_units_a_day
    return min(
        most - in_all if most else sys.maxsize, most_a_day - today if most_a_day else sys.maxsize
    )
