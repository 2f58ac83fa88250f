"""Aggregate: what the people said of each unit together, streamed out of one snapshot."""

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property, lru_cache
from itertools import chain, groupby, starmap
from operator import attrgetter, itemgetter
from typing import Any, Self

import orjson
from django.db import connection
from django.db.models import Q

from hits.models import Caption, Image, Proposal, Study
from hits.pipeline.copying import as_array
from hits.pipeline.remove import Removed, removed_in
from hits.protocol import Protocol
from hits.records import (
    Aggregate,
    CaptionedImage,
    Json,
    JudgedUnit,
    OutsideCaption,
    OutsideImage,
    ReleasedQuery,
)

Outside = tuple[tuple[str, ...], tuple[str, ...]]

BATCH = 1_000
DIFFERENT_ANSWERS = 4096

_USED = """
    WITH said AS (
        SELECT s.unit_id, count(*) AS n, json_agg(j.answer ORDER BY s.id)::text AS answers,
               json_agg(s.shown ORDER BY s.id)::text AS shown
        FROM hits_slot s
        JOIN hits_assignment a ON a.id = s.assignment_id AND a.use = 'used'
        JOIN hits_judgment j ON j.slot_id = s.id
        WHERE s.state = 'counted' AND a.study_id = ANY (%(studies)s)
        GROUP BY s.unit_id)
    SELECT u.key, u.payload::text, u.pool, said.answers, said.shown, u.study_id,
           u.wanted
    FROM hits_unit u JOIN said ON said.unit_id = u.id
    WHERE u.study_id = ANY (%(studies)s) AND u.gold IS NULL AND NOT u.excluded
      AND said.n >= CASE WHEN %(only_complete)s THEN u.wanted ELSE 0 END
    ORDER BY (u.payload ->> %(by)s)::bigint, u.id
"""
_IMAGES = "SELECT id, external_id FROM hits_image WHERE id = ANY (%s::bigint[])"
_CAPTIONS = "SELECT id, external_id FROM hits_caption WHERE id = ANY (%s::bigint[])"
_NAMED_IMAGES = _IMAGES.replace("external_id", "external_id, file_name")
_NAMED_CAPTIONS = _CAPTIONS.replace("external_id", "external_id, text")
_ASKED = """
    SELECT payload::text FROM hits_unit
    WHERE study_id = ANY (%(studies)s) AND gold IS NULL AND NOT excluded
"""
_IMAGE_SPLITS = "SELECT DISTINCT split FROM hits_image WHERE id = ANY (%s::bigint[])"
_CAPTION_SPLITS = """
    SELECT DISTINCT i.split FROM hits_caption c JOIN hits_image i ON i.id = c.image_id
    WHERE c.id = ANY (%s::bigint[])
"""
_QUERIES = """
    SELECT DISTINCT c.query_id
    FROM hits_candidate c JOIN hits_study_proposals p ON p.proposal_id = c.proposal_id
    JOIN hits_proposal r ON r.id = c.proposal_id AND r.direction = %(direction)s
    WHERE p.study_id = ANY (%(studies)s) AND c.rank = 1
    UNION
    SELECT (u.payload ->> %(end)s)::bigint FROM hits_unit u
    WHERE u.study_id = ANY (%(unproposed)s) AND u.gold IS NULL AND NOT u.excluded
    ORDER BY 1
"""
_CAPTIONED = """
    SELECT i.id, i.external_id, i.file_name, c.id, c.external_id, c.text
    FROM hits_image i JOIN hits_caption c ON c.image_id = i.id
    WHERE i.corpus_id = %(corpus)s AND (i.split = ANY (%(splits)s) OR %(splits)s = '{}')
    ORDER BY i.id, c.id
"""


class StudySource:
    """Units and queries of studies of one protocol on one corpus. What is removed in one of them,
    or of those that are released with them, is gone from all."""

    def __init__(
        self,
        studies: Sequence[Study],
        kind: Protocol[Any, Any],
        *,
        only_complete: bool = False,
        released_with: Sequence[Study] = (),
    ) -> None:
        self.studies = studies
        self.released_with = released_with or studies
        self.slugs = {study.pk: study.slug for study in studies}
        self.ids = list(self.slugs)
        self.kind = kind
        self.corpus = studies[0].corpus.slug
        self.corpus_id = studies[0].corpus_id
        self.only_complete = only_complete
        # People say few different things: most units were answered like one before.
        self._said = lru_cache(DIFFERENT_ANSWERS)(self._read)
        self._shown = lru_cache(DIFFERENT_ANSWERS)(orjson.loads)

    @cached_property
    def splits(self) -> list[str]:
        """The splits that the studies, or those that feed them, are about; none if they are about
        the whole corpus."""
        studies = Study.objects.filter(Q(pk__in=self.ids) | Q(feeds__in=self.ids))
        proposed = Proposal.objects.filter(studies__in=studies).values_list("split", flat=True)
        chosen = studies.values_list("split", flat=True)
        return sorted({split for split in [*proposed, *chosen] if split})

    @cached_property
    def removed(self) -> Removed:
        return removed_in(self.released_with)

    @cached_property
    def split(self) -> str:
        return "+".join(self.splits or self._splits_shown())

    def _splits_shown(self) -> list[str]:
        """The splits of what people were asked about, if all of it is in some."""
        splits = Image.objects.filter(corpus=self.corpus_id).values_list("split", flat=True)
        found = set(splits.distinct())
        if len(found) > 1:
            found.clear()
            for batch in in_batches(_ASKED, {"studies": self.ids}):
                shown = [self.kind.items(orjson.loads(payload)) for (payload,) in batch]
                found |= _splits_of(_IMAGE_SPLITS, {pk for images, _ in shown for pk in images})
                found |= _splits_of(_CAPTION_SPLITS, {pk for _, own in shown for pk in own})
        return [] if "" in found else sorted(found)

    def by_split(self) -> list[Self]:
        by_study = sorted(map(self._of, ([study] for study in self.studies)), key=_split_of)
        return [
            self._of([study for source in own for study in source.studies])
            for _, own in groupby(by_study, key=_split_of)
        ]

    def _of(self, studies: Sequence[Study]) -> Self:
        return type(self)(
            studies,
            self.kind,
            only_complete=self.only_complete,
            released_with=self.released_with,
        )

    def units(self, by: str = "") -> Iterator[JudgedUnit]:
        values = {"studies": self.ids, "by": by, "only_complete": self.only_complete}
        for batch in in_batches(_USED, values):
            payloads = [orjson.loads(row[1]) for row in batch]
            named = self._named(payloads)
            for payload, items, row in zip(payloads, named, batch, strict=True):
                if self._is_gone(payload):
                    continue
                key, _, pool, answers, shown, study, wanted = row
                aggregate, said = self._said(answers)
                yield JudgedUnit(
                    key,
                    self.kind.slug,
                    pool,
                    payload,
                    *items,
                    aggregate,
                    said,
                    self._shown(shown),
                    self.slugs[study],
                    wanted,
                )

    def _is_gone(self, payload: Json) -> bool:
        """Removed in any of the studies, of which each excludes units of its own."""
        gone = self.removed
        return bool(gone.reasons) and gone.why(*self.kind.items(payload)) is not None

    def _read(self, answers: str) -> tuple[Aggregate, list[Json]]:
        said = orjson.loads(answers)
        return self.kind.aggregate(said), said

    def _named(
        self, payloads: Sequence[Json]
    ) -> Iterator[tuple[tuple[OutsideImage, ...], tuple[OutsideCaption, ...]]]:
        shown = [self.kind.items(payload) for payload in payloads]
        images = {
            pk: OutsideImage(name, file_name)
            for pk, name, file_name in _of_ids(_NAMED_IMAGES, {i for own, _ in shown for i in own})
        }
        captions = {
            pk: OutsideCaption(name, text)
            for pk, name, text in _of_ids(_NAMED_CAPTIONS, {c for _, own in shown for c in own})
        }
        for own_images, own_captions in shown:
            yield (
                tuple([images[pk] for pk in own_images]),
                tuple([captions[pk] for pk in own_captions]),
            )

    def queries(self, direction: str) -> Iterator[ReleasedQuery]:
        """What machines were asked; where there were none, what people were asked about."""
        unproposed = Study.objects.filter(pk__in=self.ids, proposals__isnull=True)
        values = {
            "studies": self.ids,
            "direction": direction,
            "unproposed": list(unproposed.values_list("pk", flat=True)),
            "end": "image" if direction == "i2t" else "caption",
        }
        gone = self.removed
        unasked = gone.images if direction == "i2t" else gone.unasked_captions
        for batch in in_batches(_QUERIES, values):
            asked = [query_id for (query_id,) in batch if query_id not in unasked]
            yield from _queries(direction, asked, gone)

    def captioned(self) -> Iterator[CaptionedImage]:
        values = {"corpus": self.corpus_id, "splits": self.splits}
        found = chain.from_iterable(in_batches(_CAPTIONED, values))
        for (pk, name, file_name), rows in groupby(found, key=itemgetter(0, 1, 2)):
            captions = {
                own: OutsideCaption(called, text)
                for *_, own, called, text in rows
                if self.removed.why([pk], [own]) is None
            }
            if captions:
                yield CaptionedImage(pk, OutsideImage(name, file_name), captions)


_split_of = attrgetter("split")


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


def outside_captions(ids: set[int]) -> dict[int, str]:
    return _external_ids(_CAPTIONS, ids)


def _external_ids(statement: str, ids: set[int]) -> dict[int, str]:
    return dict(_of_ids(statement, ids))


def _of_ids(statement: str, ids: set[int]) -> list[tuple[Any, ...]]:
    if not ids:
        return []
    with connection.cursor() as cursor:
        cursor.execute(statement, [as_array(ids)])
        return list(cursor.fetchall())


def _splits_of(statement: str, ids: set[int]) -> set[str]:
    return {split for (split,) in _of_ids(statement, ids)}


def _queries(direction: str, ids: list[int], removed: Removed) -> Iterator[ReleasedQuery]:
    captions = Caption.objects.order_by("pk")
    if direction == "i2t":
        names = _external_ids(_IMAGES, set(ids))
        pairs = captions.filter(image_id__in=ids).values_list("image_id", "pk", "external_id")
    else:
        names = _external_ids(_CAPTIONS, set(ids))
        pairs = captions.filter(pk__in=ids).values_list("pk", "image_id", "image__external_id")
    originals: dict[int, dict[int, str]] = {}
    for query_id, target_id, external_id in pairs:
        image, caption = (query_id, target_id) if direction == "i2t" else (target_id, query_id)
        if removed.why([image], [caption]) is not None:
            continue
        originals.setdefault(query_id, {})[target_id] = external_id
    for query_id in ids:
        yield ReleasedQuery(query_id, names[query_id], originals.get(query_id, {}))
