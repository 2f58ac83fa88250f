"""How long the newest pages took is read by as many rows as they have, also while PostgreSQL
believes its tables to be empty, as they were when it last looked."""

import json
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from hits.models import Account, Assignment, Judgment, Person, Slot, Study
from hits.pipeline import follow, terms
from hits.pipeline.overview import pace_of, progress_of, rate_of
from hits.pipeline.spent import spent_by_channel
from tests import making

pytestmark = pytest.mark.django_db

PAGES, QUESTIONS = 200, 5
# Accounts are so few here that they are read through for each page.
ROWS_A_JUDGMENT = 100
_BELIEVE_EMPTY = """
    SELECT pg_restore_relation_stats('schemaname', 'public', 'relname', t.relname::text,
                                     'relpages', 9, 'reltuples', 0::real),
           count(pg_clear_attribute_stats('public', t.relname::text, c.attname::text, false))
    FROM pg_class t JOIN pg_attribute c ON c.attrelid = t.oid AND c.attnum > 0
    WHERE t.relnamespace = 'public'::regnamespace AND t.relkind = 'r' AND NOT c.attisdropped
    GROUP BY t.relname
"""


def test_the_pace_of_a_study_takes_as_many_rows_as_its_newest_pages_have() -> None:
    study = making.study()
    publication = making.publication(study, hits=1)
    _submit_pages(study)
    with connection.cursor() as cursor:
        cursor.execute(_BELIEVE_EMPTY)
    with CaptureQueriesContext(connection) as queries:
        pace = pace_of(study)
        rate = rate_of(study, progress_of(study))
        spent = spent_by_channel(study)
        follow.pace_of(publication)
        terms.measure([study.pk])
    assert pace == spent[0].pace
    assert (pace.pages, pace.median_seconds) == (PAGES, 2 * QUESTIONS)
    assert rate is not None
    assert rate.judgments_a_day == pytest.approx(24 * PAGES * QUESTIONS, rel=0.1)
    asked = [each["sql"] for each in queries if _is_about_pages(each["sql"])]
    assert len(asked) == 6
    most = ROWS_A_JUDGMENT * PAGES * QUESTIONS
    assert [sql for sql in asked if _rows_visited(sql) > most] == []


def _is_about_pages(sql: str) -> bool:
    return sql.lstrip().startswith(("WITH", "EXECUTE"))


def _rows_visited(sql: str) -> float:
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) {sql}")
        ((answer,),) = cursor.fetchall()
    (explained,) = json.loads(answer) if isinstance(answer, str) else answer
    return sum(_rows_of(node) for node in _nodes(explained["Plan"]))


def _nodes(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield node
    for below in node.get("Plans", ()):
        yield from _nodes(below)


def _rows_of(node: dict[str, Any]) -> float:
    removed = ("Rows Removed by Filter", "Rows Removed by Join Filter")
    seen = node["Actual Rows"] + sum(node.get(name, 0) for name in removed)
    return float(seen * node["Actual Loops"])


def _submit_pages(study: Study) -> None:
    now = timezone.now()
    people = Person.objects.bulk_create(Person() for _ in range(PAGES))
    accounts = Account.objects.bulk_create(
        Account(person=person, channel="in_house", external_id=f"{person.pk}") for person in people
    )
    pages = Assignment.objects.bulk_create(
        Assignment(
            study=study,
            version=study.version,
            account=account,
            person=account.person,
            state="submitted",
            submitted_at=now - timedelta(hours=1),
            lease_until=now,
            seed=1,
        )
        for account in accounts
    )
    units = list(study.units.filter(gold__isnull=True)[:QUESTIONS])
    slots = Slot.objects.bulk_create(
        Slot(assignment=page, person=page.person, unit=unit, position=place, state="counted")
        for page in pages
        for place, unit in enumerate(units, 1)
    )
    Judgment.objects.bulk_create(Judgment(slot=slot, answer={}, seconds=2) for slot in slots)
