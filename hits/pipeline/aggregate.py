"""Aggregate: what the people said of each unit together, streamed out of one snapshot."""

import json
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import starmap
from typing import Any

from django.db import connection

from hits.models import Caption, Study
from hits.protocol import Protocol
from hits.records import Json, ReleasedQuery, ReleasedUnit

Outside = tuple[tuple[str, ...], tuple[str, ...]]

BATCH = 2_000
DIFFERENT_ANSWERS = 4096

_USED = """
    WITH said AS (
        SELECT s.unit_id, json_agg(j.answer ORDER BY s.id)::text AS answers
        FROM hits_slot s
        JOIN hits_assignment a ON a.id = s.assignment_id AND a.use = 'used'
        JOIN hits_judgment j ON j.slot_id = s.id
        WHERE s.state = 'counted' AND a.study_id = ANY (%(studies)s)
        GROUP BY s.unit_id)
    SELECT u.payload::text, u.pool, said.answers
    FROM hits_unit u JOIN said ON said.unit_id = u.id
    WHERE u.study_id = ANY (%(studies)s) AND u.gold IS NULL AND NOT u.excluded
    ORDER BY (u.payload ->> %(by)s)::bigint, u.id
"""
_IMAGES = "SELECT id, external_id FROM hits_image WHERE id = ANY (%s::bigint[])"
_CAPTIONS = "SELECT id, external_id FROM hits_caption WHERE id = ANY (%s::bigint[])"
_QUERIES = """
    SELECT DISTINCT c.query_id
    FROM hits_candidate c JOIN hits_study_proposals p ON p.proposal_id = c.proposal_id
    JOIN hits_proposal r ON r.id = c.proposal_id AND r.direction = %(direction)s
    WHERE p.study_id = ANY (%(studies)s) AND c.rank = 1
    ORDER BY c.query_id
"""


class StudySource:
    """Units and queries of studies of one protocol."""

    def __init__(self, studies: Sequence[Study], kind: Protocol[Any, Any]) -> None:
        self.ids = [study.pk for study in studies]
        self.kind = kind
        # People say few different things: most units were answered like one before.
        self._aggregate = lru_cache(DIFFERENT_ANSWERS)(
            lambda answers: kind.aggregate(json.loads(answers))
        )

    def units(self, by: str) -> Iterator[ReleasedUnit]:
        for batch in in_batches(_USED, {"studies": self.ids, "by": by}):
            payloads = [json.loads(payload) for payload, _, _ in batch]
            outside = OutsideIds(self.kind, payloads)
            for payload, items, (_, pool, answers) in zip(payloads, outside, batch, strict=True):
                yield ReleasedUnit(payload, pool, *items, self._aggregate(answers))

    def queries(self, direction: str) -> Iterator[ReleasedQuery]:
        for batch in in_batches(_QUERIES, {"studies": self.ids, "direction": direction}):
            yield from _queries(direction, [query_id for (query_id,) in batch])


class OutsideIds:
    """The outside ids of the items that some payloads speak of, in turn or of one."""

    def __init__(self, kind: Protocol[Any, Any], payloads: Iterable[Json]) -> None:
        self.kind = kind
        self.items = [kind.items(payload) for payload in payloads]
        self.images = _external_ids(_IMAGES, {pk for images, _ in self.items for pk in images})
        self.captions = _external_ids(_CAPTIONS, {pk for _, found in self.items for pk in found})

    def __iter__(self) -> Iterator[Outside]:
        return starmap(self._names, self.items)

    def of(self, payload: Json) -> Outside:
        return self._names(*self.kind.items(payload))

    def _names(self, images: Sequence[int], captions: Sequence[int]) -> Outside:
        return (
            tuple([self.images[pk] for pk in images]),
            tuple([self.captions[pk] for pk in captions]),
        )


def in_batches(statement: str, values: dict[str, Any]) -> Iterator[list[tuple[Any, ...]]]:
    with connection.chunked_cursor() as cursor:
        cursor.execute(statement, values)
        while batch := cursor.fetchmany(BATCH):
            yield batch


def _external_ids(statement: str, ids: set[int]) -> dict[int, str]:
    with connection.cursor() as cursor:
        # One literal: PostgreSQL takes much longer to read an ARRAY of thousands of constants.
        cursor.execute(statement, [f"{{{','.join(map(str, ids))}}}"])
        return dict(cursor.fetchall())


def _queries(direction: str, ids: list[int]) -> Iterator[ReleasedQuery]:
    captions = Caption.objects.order_by("pk")
    if direction == "i2t":
        names = _external_ids(_IMAGES, set(ids))
        pairs = captions.filter(image_id__in=ids).values_list("image_id", "pk", "external_id")
    else:
        names = _external_ids(_CAPTIONS, set(ids))
        pairs = captions.filter(pk__in=ids).values_list("pk", "image_id", "image__external_id")
    originals: dict[int, dict[int, str]] = {}
    for query_id, target_id, external_id in pairs:
        originals.setdefault(query_id, {})[target_id] = external_id
    for query_id in ids:
        yield ReleasedQuery(query_id, names[query_id], originals.get(query_id, {}))
