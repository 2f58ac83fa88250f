"""Aggregate: what the people said of each unit together, streamed out of one snapshot."""

import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, islice
from operator import itemgetter
from typing import Any, TypeVar

from django.db import connection

from hits.models import Caption, Image, Study
from hits.protocol import Protocol
from hits.records import Json, ReleasedQuery, ReleasedUnit

T = TypeVar("T")
BATCH = 2000

_USED = """
    SELECT u.id, u.payload, u.pool, j.answer
    FROM hits_unit u
    JOIN hits_slot s ON s.unit_id = u.id AND s.state = 'counted'
    JOIN hits_assignment a ON a.id = s.assignment_id AND a.use = 'used'
    JOIN hits_judgment j ON j.slot_id = s.id
    WHERE u.study_id = ANY (%(studies)s) AND u.gold IS NULL AND NOT u.excluded
    ORDER BY (u.payload ->> %(by)s)::bigint, u.id, s.id
"""
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

    def units(self, by: str) -> Iterator[ReleasedUnit]:
        rows = stream(_USED, {"studies": self.ids, "by": by})
        judged = (
            (json.loads(payload), pool, [json.loads(row[3]) for row in group])
            for (_, payload, pool), group in groupby(rows, key=itemgetter(0, 1, 2))
        )
        for batch in batches(judged):
            outside = OutsideIds(self.kind, [payload for payload, _, _ in batch])
            for payload, pool, answers in batch:
                images, captions = outside.of(payload)
                yield ReleasedUnit(payload, pool, images, captions, self.kind.aggregate(answers))

    def queries(self, direction: str) -> Iterator[ReleasedQuery]:
        rows = stream(_QUERIES, {"studies": self.ids, "direction": direction})
        for batch in batches(row[0] for row in rows):
            yield from _queries(direction, batch)


class OutsideIds:
    """The outside ids of the items that some payloads speak of."""

    def __init__(self, kind: Protocol[Any, Any], payloads: Iterable[Json]) -> None:
        self.kind = kind
        items = [kind.items(payload) for payload in payloads]
        self.images = _external_ids(Image, {pk for images, _ in items for pk in images})
        self.captions = _external_ids(Caption, {pk for _, captions in items for pk in captions})

    def of(self, payload: Json) -> tuple[tuple[str, ...], tuple[str, ...]]:
        images, captions = self.kind.items(payload)
        return (
            tuple(self.images[pk] for pk in images),
            tuple(self.captions[pk] for pk in captions),
        )


def stream(statement: str, values: dict[str, Any]) -> Iterator[tuple[Any, ...]]:
    with connection.chunked_cursor() as cursor:
        cursor.execute(statement, values)
        yield from cursor


def batches(items: Iterator[T], size: int = BATCH) -> Iterator[list[T]]:
    while batch := list(islice(items, size)):
        yield batch


def _external_ids(model: type[Image] | type[Caption], ids: set[int]) -> dict[int, str]:
    return dict(model.objects.filter(pk__in=ids).values_list("pk", "external_id"))


def _queries(direction: str, ids: list[int]) -> Iterator[ReleasedQuery]:
    captions = Caption.objects.order_by("pk")
    if direction == "i2t":
        names = _external_ids(Image, set(ids))
        pairs = captions.filter(image_id__in=ids).values_list("image_id", "pk", "external_id")
    else:
        names = _external_ids(Caption, set(ids))
        pairs = captions.filter(pk__in=ids).values_list("pk", "image_id", "image__external_id")
    originals: dict[int, dict[int, str]] = {}
    for query_id, target_id, external_id in pairs:
        originals.setdefault(query_id, {})[target_id] = external_id
    for query_id in ids:
        yield ReleasedQuery(query_id, names[query_id], originals.get(query_id, {}))
