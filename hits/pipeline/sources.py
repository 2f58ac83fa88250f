"""Sources: what a study was given to make its units of, read while units are stored."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any, Self, TypeVar

import orjson
from django.db import connection

from hits.models import Caption, Image, Proposal, Study
from hits.pipeline.aggregate import StudySource
from hits.pipeline.copying import CopyBehind, as_array
from hits.protocol import protocol
from hits.records import Candidate, CorpusImage, Json, JudgedUnit, Query, Region

Tell = Callable[[int], None]
T = TypeVar("T")
Row = tuple[Any, ...]
ROWS = 5_000
IMAGES = 5_000

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
    SELECT id, width, height FROM hits_image
    WHERE corpus_id = %(corpus)s AND (%(split)s = '' OR split = %(split)s) AND id > %(last)s
    AND blob_id IS NOT NULL ORDER BY id LIMIT %(count)s
"""
_CAPTIONS = """
    SELECT image_id, id, text FROM hits_caption WHERE image_id = ANY (%(images)s::bigint[])
    ORDER BY image_id, id
"""
_REGIONS = """
    SELECT image_id, id, category, x, y, width, height, area, external_id, outline
    FROM hits_region
    WHERE image_id = ANY (%(images)s::bigint[]) ORDER BY image_id, id
"""
_UPLOADED = "SELECT content FROM hits_studyrow WHERE study_id = %(study)s ORDER BY number"
_query_of = itemgetter(0)


class GivenSource:
    """A study's proposals, its corpus, the studies that feed it and the rows uploaded to it.

    The connection that all of it is read from stores units meanwhile. Queries and images are read
    ahead of their use where that is asked for; everything else waits for its turn.
    """

    def __init__(
        self,
        study: Study,
        proposals: Sequence[Proposal],
        copies: CopyBehind,
        tell: Tell,
        left_out: Counter[str],
    ) -> None:
        self._study = study
        self._left_out = left_out
        self._proposals = proposals
        self._copies = copies
        self._tell = tell
        self._queries: _Queries | None = None
        self._images: _Images | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._queries is not None:
            self._queries.close()

    def read_ahead(self) -> None:
        for reader in (self._queries, self._images):
            if reader is not None:
                reader.read_ahead()

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
        self._copies.wait()
        self._images = _Images(self._study, self._copies, self._tell)
        yield from self._images

    def captions_of(self, images: Iterable[int]) -> Mapping[int, Mapping[int, str]]:
        self._copies.wait()
        return _captions_of(list(images))

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

    def leave_out(self, why: str, number: int = 1) -> None:
        self._left_out[why] += number

    def _in_turn(self, items: Iterable[T]) -> Iterator[T]:
        waiting = iter(items)
        while True:
            self._copies.wait()
            try:
                item = next(waiting)
            except StopIteration:
                return
            yield item


class _Images:
    """A corpus's images that have files, a batch at a time, each with its captions and regions."""

    def __init__(self, study: Study, copies: CopyBehind, tell: Tell) -> None:
        self._within = {"corpus": study.corpus_id, "split": study.split, "count": IMAGES}
        self._has_regions = study.corpus.regions.exists()
        self._copies = copies
        self._tell = tell
        self._last = self._done = 0
        self._read: list[list[Row]] = []

    def __iter__(self) -> Iterator[CorpusImage]:
        while found := self._take():
            yield from found
            self._done += len(found)
            self._tell(self._done)

    def _take(self) -> list[CorpusImage]:
        if not self._read:
            self._copies.wait()
            self.read_ahead()
        if not self._read:
            return []
        (sizes, captions, regions), self._read = self._read, []
        texts, outlined = _texts(captions), _outlined(regions)
        return [
            CorpusImage(pk, width, height, texts.get(pk, {}), outlined.get(pk, ()))
            for pk, width, height in sizes
        ]

    def read_ahead(self) -> None:
        """Rows alone: what becomes of them is made while others are stored."""
        if self._read:
            return
        if sizes := _rows(_IMAGES, last=self._last, **self._within):
            self._last = sizes[-1][0]
            within = as_array([pk for pk, _, _ in sizes])
            regions = _rows(_REGIONS, images=within) if self._has_regions else []
            self._read = [sizes, _rows(_CAPTIONS, images=within), regions]


def images_of(images: Collection[int]) -> list[CorpusImage]:
    """These images with their captions and regions."""
    ids = sorted(images)
    captions, regions = _captions_of(ids), _outlined(_rows(_REGIONS, images=as_array(ids)))
    return [CorpusImage(pk, 0, 0, captions.get(pk, {}), regions.get(pk, ())) for pk in ids]


def _captions_of(images: Sequence[int]) -> dict[int, Mapping[int, str]]:
    return _texts(_rows(_CAPTIONS, images=as_array(images)))


def _texts(captions: Iterable[Row]) -> dict[int, Mapping[int, str]]:
    found = groupby(captions, key=_query_of)
    return {image: {pk: text for _, pk, text in rows} for image, rows in found}


def _outlined(regions: Iterable[Row]) -> dict[int, tuple[Region, ...]]:
    found = groupby(regions, key=_query_of)
    return {image: tuple([_region(row) for row in rows]) for image, rows in found}


def _region(row: Row) -> Region:
    _, *known, outline = row
    return Region(*known)._replace(outline=orjson.loads(outline))


def _rows(statement: str, **values: Any) -> list[Row]:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return list(cursor.fetchall())


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
