"""Sources: what a study was given to make its units of, read while units are stored."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any, Self, TypeVar

import orjson
from django.db import connection

from hits.models import Caption, Image, Proposal, Study
from hits.pipeline.aggregate import StudySource
from hits.pipeline.copying import CopyBehind
from hits.protocol import protocol
from hits.records import Candidate, CorpusImage, Json, JudgedUnit, Query, Region

Tell = Callable[[int], None]
T = TypeVar("T")
Row = tuple[Any, ...]
ROWS = 5000
IMAGES = 2500

# A query's original targets come first, without a proposal.
_ORIGINALS = {
    "i2t": "SELECT image_id, NULL::bigint, id, NULL::smallint, NULL::float8 FROM hits_caption"
    " WHERE image_id IN (SELECT query_id FROM hits_candidate WHERE proposal_id = ANY (%(ids)s))",
    "t2i": "SELECT id, NULL::bigint, image_id, NULL::smallint, NULL::float8 FROM hits_caption"
    " WHERE id IN (SELECT query_id FROM hits_candidate WHERE proposal_id = ANY (%(ids)s))",
}
_CANDIDATES = """
    SELECT query_id, proposal_id, target_id, rank, score FROM hits_candidate
    WHERE proposal_id = ANY (%(ids)s)
"""
_IN_ORDER = "ORDER BY query_id, proposal_id NULLS FIRST, rank, target_id"
_IMAGES = """
    SELECT i.id, b.width, b.height FROM hits_image i JOIN hits_blob b ON b.sha256 = i.blob_id
    WHERE i.corpus_id = %(corpus)s AND (%(split)s = '' OR i.split = %(split)s) AND i.id > %(last)s
    ORDER BY i.id LIMIT %(count)s
"""
_CAPTIONS = """
    SELECT image_id, id, text FROM hits_caption WHERE image_id = ANY (%(images)s::bigint[])
    ORDER BY image_id, id
"""
_REGIONS = """
    SELECT image_id, id, category, x, y, width, height, area, external_id FROM hits_region
    WHERE image_id = ANY (%(images)s::bigint[]) ORDER BY image_id, id
"""
_UPLOADED = "SELECT content FROM hits_studyrow WHERE study_id = %(study)s ORDER BY number"
_query_of = itemgetter(0)


class GivenSource:
    """A study's proposals, its corpus, the studies that feed it and the rows uploaded to it.

    The connection that all of it is read from stores units meanwhile. Queries are read ahead of
    their use where that is asked for; everything else waits for its turn.
    """

    def __init__(
        self, study: Study, proposals: Sequence[Proposal], copies: CopyBehind, tell: Tell
    ) -> None:
        self._study = study
        self._proposals = proposals
        self._copies = copies
        self._tell = tell
        self._queries: _Queries | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._queries is not None:
            self._queries.close()

    def read_ahead(self) -> None:
        if self._queries is not None:
            self._queries.read_ahead()

    def queries(self) -> Iterator[Query]:
        if self._proposals:
            self._copies.wait()
            self._queries = _Queries(self._proposals, self._copies, self._tell)
            yield from self._queries

    def targets(self) -> Sequence[int]:
        if not self._proposals:
            return []
        self._copies.wait()
        first = self._proposals[0]
        if first.direction.endswith("t"):
            items: Any = Caption.objects.filter(image__split=first.split)
        else:
            items = Image.objects.filter(split=first.split)
        return list(items.filter(corpus=first.corpus).order_by("pk").values_list("pk", flat=True))

    def images(self) -> Iterator[CorpusImage]:
        done = last = 0
        while found := self._rows(_IMAGES, last=last, count=IMAGES):
            last = found[-1][0]
            ids = [pk for pk, _, _ in found]
            captions = self.captions_of(ids)
            regions = {
                pk: tuple([Region(*row[1:]) for row in rows])
                for pk, rows in groupby(self._rows(_REGIONS, images=ids), key=_query_of)
            }
            for pk, width, height in found:
                yield CorpusImage(pk, width, height, captions.get(pk, {}), regions.get(pk, ()))
            done += len(found)
            self._tell(done)

    def captions_of(self, images: Iterable[int]) -> Mapping[int, Mapping[int, str]]:
        found = self._rows(_CAPTIONS, images=list(images))
        return {
            image: {pk: text for _, pk, text in rows}
            for image, rows in groupby(found, key=_query_of)
        }

    def judged(self) -> Iterator[JudgedUnit]:
        for study in self._study.fed_by.order_by("pk"):
            source = StudySource([study], protocol(study.protocol), only_complete=True)
            yield from self._in_turn(source.units())

    def rows(self) -> Iterator[Json]:
        with connection.chunked_cursor() as cursor:
            self._copies.wait()
            cursor.execute(_UPLOADED, {"study": self._study.pk})
            for (content,) in self._in_turn(cursor):
                yield orjson.loads(content)

    def _rows(self, statement: str, **values: Any) -> list[Row]:
        self._copies.wait()
        with connection.cursor() as cursor:
            cursor.execute(
                statement,
                {"corpus": self._study.corpus_id, "split": self._study.split, **values},
            )
            return list(cursor.fetchall())

    def _in_turn(self, items: Iterable[T]) -> Iterator[T]:
        waiting = iter(items)
        while True:
            self._copies.wait()
            try:
                item = next(waiting)
            except StopIteration:
                return
            yield item


class _Queries:
    """The queries one by one, each with its candidates by all machines. Rows come in batches."""

    def __init__(self, proposals: Sequence[Proposal], copies: CopyBehind, tell: Tell) -> None:
        self._direction = proposals[0].direction
        self._copies = copies
        self._tell = tell
        self._rows: list[Row] = []
        self._started: list[Row] = []
        self._done = 0
        self._cursor = connection.chunked_cursor()
        parts = [_CANDIDATES]
        if self._direction in _ORIGINALS:
            parts.append(_ORIGINALS[self._direction])
        statement = " UNION ALL ".join(parts) + _IN_ORDER
        self._cursor.execute(statement, {"ids": [proposal.pk for proposal in proposals]})

    def close(self) -> None:
        self._cursor.close()

    def __iter__(self) -> Iterator[Query]:
        while rows := self._take():
            for query_id, group in groupby(rows, key=_query_of):
                yield _query(query_id, self._direction, group)
                self._done += 1
            self._tell(self._done)

    def _take(self) -> list[Row]:
        if not self._rows:
            self._copies.wait()
            self.read_ahead()
        rows, self._rows = self._rows, []
        return rows

    def read_ahead(self) -> None:
        """The rows of some whole queries: of the last one, more may be to come."""
        while not self._rows and (more := self._cursor.fetchmany(ROWS)):
            rows = self._started + more
            last = rows[-1][0]
            end = len(rows)
            while end and rows[end - 1][0] == last:
                end -= 1
            self._rows, self._started = rows[:end], rows[end:]
        if not self._rows:
            self._rows, self._started = self._started, []


def _query(query_id: int, direction: str, rows: Iterable[Row]) -> Query:
    originals, candidates = [], []
    for _, proposal_id, target_id, rank, score in rows:
        if proposal_id is None:
            originals.append(target_id)
        else:
            candidates.append(Candidate(proposal_id, target_id, rank, score))
    return Query(query_id, direction, tuple(candidates), tuple(originals))
