"""Image files to the images of a corpus, by their names."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice

from django.conf import settings
from django.db import connection, transaction

from hits.importers import images
from hits.importers.entries import Entry
from hits.importers.images import ImageFile
from hits.importers.records import Bad, Refusal, shown
from hits.importers.sources import UNREADABLE
from hits.models import Blob
from hits.pipeline import blobs
from hits.pipeline.merging import Count

# Decoding and S3 let other threads run; more threads would hold more images in memory.
THREADS = 4
BATCH = 100

# Karpathy's folders are not kept with the images, so that they help only in the load they come in.
_NAMES = """
    CREATE TEMPORARY TABLE load_name AS
    SELECT id AS image_id, regexp_replace(file_name, '^.*/', '') AS base, file_name AS path
    FROM hits_image WHERE corpus_id = %(corpus)s AND file_name <> ''
      AND (external_id) NOT IN (
          SELECT external_id FROM load_image WHERE folder <> '' AND NOT refused)
    UNION
    SELECT i.id, regexp_replace(s.file_name, '^.*/', ''), s.folder || '/' || s.file_name
    FROM load_image s JOIN hits_image i
      ON i.corpus_id = %(corpus)s AND i.external_id = s.external_id
    WHERE s.folder <> '' AND s.file_name <> '' AND NOT s.refused
"""
_TARGETS = """
    SELECT n.base, n.path, i.id, i.external_id,
           coalesce(b.sha256, ''), coalesce(b.size, 0),
           coalesce(b.bucket, ''), coalesce(b.object_key, '')
    FROM load_name n JOIN hits_image i ON i.id = n.image_id
    LEFT JOIN hits_blob b ON b.sha256 = i.blob_id
    WHERE n.base = ANY (%s)
"""
_ATTACH = """
    UPDATE hits_image i
    SET blob_id = b.sha256,
        width = coalesce(i.width, b.width), height = coalesce(i.height, b.height)
    FROM unnest(%s::bigint[], %s::text[]) AS found (image_id, sha256)
    JOIN hits_blob b ON b.sha256 = found.sha256
    WHERE i.id = found.image_id AND i.blob_id IS NULL
"""


@dataclass(frozen=True, slots=True)
class Target:
    """An image that a file may belong to, with the bytes it has already."""

    path: str
    image_id: int
    external_id: str
    sha256: str
    size: int
    bucket: str
    object_key: str

    def is_named_by(self, entry: Entry) -> bool:
        return f"/{entry.name}".endswith(f"/{self.path}")

    def is_kept_in_s3_as(self, entry: Entry) -> bool:
        return bool(entry.bucket) and (entry.bucket, entry.object_key, entry.size) == (
            self.bucket,
            self.object_key,
            self.size,
        )


Choose = Callable[[Entry, list[Target]], Target | None]


@dataclass(frozen=True, slots=True)
class Found:
    """What reading a file came to: new bytes for an image, the bytes it has, or a refusal."""

    entry: Entry
    target: Target
    image: ImageFile | None = None
    bad: Bad | None = None


def attach(
    *,
    corpus_id: int,
    entries: Callable[[], Iterable[Entry]],
    refuse: Callable[[str, Refusal], None],
    tick: Callable[[int], None],
) -> Count:
    """Whole paths first; what is left may match by base name alone."""
    with _names_of(corpus_id), ThreadPoolExecutor(THREADS) as pool:
        attaching = _Attaching(pool, refuse, tick)
        attaching.run(entries(), _by_path)
        if attaching.deferred:
            attaching.run(entries(), _by_base_name)
    return attaching.count


@contextmanager
def _names_of(corpus_id: int) -> Iterator[None]:
    with connection.cursor() as cursor:
        cursor.execute("DROP TABLE IF EXISTS pg_temp.load_name")
        cursor.execute(_NAMES, {"corpus": corpus_id})
        cursor.execute("CREATE INDEX ON load_name (base)")
        cursor.execute("ANALYZE load_name")
    yield
    with connection.cursor() as cursor:
        cursor.execute("DROP TABLE pg_temp.load_name")


class _Attaching:
    def __init__(
        self,
        pool: ThreadPoolExecutor,
        refuse: Callable[[str, Refusal], None],
        tick: Callable[[int], None],
    ) -> None:
        self.pool = pool
        self.tick = tick
        self.count = Count()
        self.deferred = 0
        self._report = refuse

    def run(self, entries: Iterable[Entry], choose: Choose) -> None:
        iterator = iter(entries)
        while batch := list(islice(iterator, BATCH)):
            self._attach(list(self._matched(batch, choose)))
            self.tick(len(batch))

    def _matched(self, batch: list[Entry], choose: Choose) -> Iterator[tuple[Entry, Target]]:
        targets = _targets([entry.base for entry in batch])
        for entry in batch:
            try:
                target = choose(entry, targets[entry.base])
            except _Deferred:
                self.deferred += 1
            except Bad as bad:
                self._refuse(entry, bad)
            else:
                if target:
                    yield entry, target

    def _attach(self, matched: list[tuple[Entry, Target]]) -> None:
        new: dict[int, Found] = {}
        for found in self.pool.map(_examine, matched):
            first = new.get(found.target.image_id)
            if found.bad:
                self._refuse(found.entry, found.bad, found.target.external_id)
            elif found.image is None or (first and first.image == found.image):
                self.count.unchanged += 1
            elif first:
                self._refuse(found.entry, _other_bytes(), found.target.external_id)
            else:
                new[found.target.image_id] = found
        self.count.added += _store(new)

    def _refuse(self, entry: Entry, bad: Bad, external_id: str = "") -> None:
        self._report(entry.name, bad.refusal("file", external_id=external_id))


class _Deferred(Exception):
    """Only the base name fits: other files may have a better claim."""


def _by_path(entry: Entry, targets: list[Target]) -> Target | None:
    if not targets:
        raise Bad("no-record", "No image of the corpus has this file name.")
    named = [target for target in targets if target.is_named_by(entry)]
    if not named:
        raise _Deferred
    longest = max(len(target.path) for target in named)
    return _only(target for target in named if len(target.path) == longest)


def _by_base_name(entry: Entry, targets: list[Target]) -> Target | None:
    """None for what the pass by path has dealt with."""
    if not targets or any(target.is_named_by(entry) for target in targets):
        return None
    return _only(targets)


def _only(targets: Iterable[Target]) -> Target:
    by_id = {target.image_id: target for target in targets}
    if len(by_id) > 1:
        raise Bad("ambiguous", f"{len(by_id)} images of the corpus have this file name.")
    return next(iter(by_id.values()))


def _targets(names: list[str]) -> dict[str, list[Target]]:
    found: dict[str, list[Target]] = defaultdict(list)
    with connection.cursor() as cursor:
        cursor.execute(_TARGETS, [names])
        for base, *values in cursor.fetchall():
            found[base].append(Target(*values))
    return found


def _examine(pair: tuple[Entry, Target]) -> Found:
    """Runs in a thread: no database here."""
    entry, target = pair
    if target.is_kept_in_s3_as(entry):
        return Found(entry, target)
    try:
        data = _read(entry)
        if target.sha256:
            return _compare(entry, target, data)
        image = images.check(data, settings.MAX_IMAGE_PIXELS)
    except Bad as bad:
        return Found(entry, target, bad=bad)
    if not entry.bucket:
        blobs.store(image.sha256, data)
    return Found(entry, target, image)


def _read(entry: Entry) -> bytes:
    try:
        return images.read_bytes(entry, settings.MAX_IMAGE_BYTES)
    except UNREADABLE as fault:
        raise Bad("unreadable", f"The file cannot be read: {shown(str(fault))}") from None


def _compare(entry: Entry, target: Target, data: bytes) -> Found:
    if images.sha256_of(data) != target.sha256:
        raise _other_bytes()
    if not target.bucket:
        blobs.store(target.sha256, data)
    return Found(entry, target)


def _other_bytes() -> Bad:
    return Bad("conflict", "The image has another file already.")


def _store(new: dict[int, Found]) -> int:
    if not new:
        return 0
    files = {image_id: found.image.sha256 for image_id, found in new.items() if found.image}
    with transaction.atomic(), connection.cursor() as cursor:
        Blob.objects.bulk_create(map(_blob, new.values()), ignore_conflicts=True)
        cursor.execute(_ATTACH, [list(files), list(files.values())])
        return int(cursor.rowcount)


def _blob(found: Found) -> Blob:
    assert found.image is not None
    return Blob(
        sha256=found.image.sha256,
        content_type=found.image.content_type,
        size=found.image.size,
        width=found.image.width,
        height=found.image.height,
        bucket=found.entry.bucket,
        object_key=found.entry.object_key,
    )
