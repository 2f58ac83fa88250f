"""Load: the files of a corpus into its tables, again and again without harm."""

import json
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, astuple, dataclass, field
from pathlib import Path
from typing import Any, Protocol, TextIO
from uuid import uuid4

from django.conf import settings
from django.db import connection

from hits.importers import formats
from hits.importers.entries import Entry, Source
from hits.importers.records import Bad, Refusal, shown
from hits.importers.s3 import fetched_once
from hits.importers.sources import (
    UNREADABLE,
    FileSource,
    FolderSource,
    holds_records,
    is_clutter,
    open_source,
    split_in_name,
    with_readable_name,
)
from hits.importers.zips import ZipSource
from hits.models import Corpus
from hits.pipeline import fresh
from hits.pipeline.attaching import attach
from hits.pipeline.copying import analyze
from hits.pipeline.errors import Refused
from hits.pipeline.merging import Count, Merging
from hits.pipeline.staging import BATCH, CAPTIONS, REGIONS, Staging

FIRST_REFUSALS = 20
WAIT_SECONDS = 90

_LOCK = "SELECT pg_try_advisory_lock(hashtext('load'), %s)"
_UNLOCK = "SELECT pg_advisory_unlock(hashtext('load'), %s)"


class Progress(Protocol):
    def __call__(self, done: int, total: int | None = None, message: str = "") -> None: ...


@dataclass
class LoadReport:
    """What came of a load. Each refusal is a line of the file at `refusals`."""

    refusals: str
    images: Count = field(default_factory=Count)
    captions: Count = field(default_factory=Count)
    regions: Count = field(default_factory=Count)
    files: Count = field(default_factory=Count)
    refused: int = 0
    reasons: dict[str, int] = field(default_factory=dict)
    first_refusals: list[dict[str, str]] = field(default_factory=list)
    seconds: float = 0.0

    def counts(self) -> dict[str, Count]:
        """By what a refusal calls its kind. A line that cannot be read is none of these."""
        return {
            "image": self.images,
            "caption": self.captions,
            "region": self.regions,
            "file": self.files,
        }

    @property
    def changed_anything(self) -> bool:
        return any(count.added or count.completed for count in self.counts().values())

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "changed_anything": self.changed_anything}


def refusals(path: str) -> Iterator[dict[str, str]]:
    with Path(path).open(encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)


def load(
    *,
    corpus: str,
    source: str,
    progress: Progress,
    split: str = "",
    format_name: str = "",
    report: str = "",
    called: str = "",
) -> LoadReport:
    """`split` is for images that name none themselves; `report` is where refusals are written;
    `called` is what people know a single file as.

    Everything is done in short transactions, so that progress is seen and a lease is kept; a load
    that was stopped is finished by loading again.
    """
    started = time.monotonic()
    found = Corpus.objects.filter(slug=corpus).first()
    if found is None:
        raise Refused(f"There is no corpus {shown(corpus)}.")
    if format_name and format_name not in formats.FORMATS:
        raise Refused(f"There is no format {shown(format_name)}.")
    path = Path(report) if report else _report_path(found)
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with (
            _alone(found, progress),
            path.open("w", encoding="utf-8") as lines,
            open_source(source, settings.S3_ENDPOINT_URL) as opened,
        ):
            told = LoadReport(refusals=str(path))
            loading = _Loading(found.pk, opened, called, progress, lines, told)
            loading.run(split, format_name)
    except Bad as bad:
        raise Refused(bad.detail) from None
    loading.report.seconds = round(time.monotonic() - started, 3)
    return loading.report


def _report_path(corpus: Corpus) -> Path:
    folder: Path = settings.DATA_DIR / "imports"
    return folder / f"{corpus.slug}-{uuid4().hex}.jsonl"


@contextmanager
def _alone(corpus: Corpus, progress: Progress) -> Iterator[None]:
    """One load into a corpus at a time; a worker that lost its job gives way within seconds."""
    for _ in range(WAIT_SECONDS):
        if _answer(_LOCK, corpus):
            break
        progress(0, message="Waiting for another import into this corpus.")
        time.sleep(1)
    else:
        raise Refused("Another import into this corpus is running.")
    try:
        yield
    finally:
        if not connection.needs_rollback and connection.is_usable():
            _answer(_UNLOCK, corpus)


def _answer(statement: str, corpus: Corpus) -> bool:
    with connection.cursor() as cursor:
        cursor.execute(statement, [corpus.pk])
        (answer,) = cursor.fetchone()
    return bool(answer)


class _Loading:
    def __init__(
        self,
        corpus_id: int,
        source: Source,
        called: str,
        progress: Progress,
        lines: TextIO,
        report: LoadReport,
    ) -> None:
        self.corpus_id = corpus_id
        self.source = source
        self.report = report
        self._called = called if isinstance(source, FileSource) else ""
        self._progress = progress
        self._lines = lines
        self._reasons: Counter[str] = Counter()
        self._kinds: Counter[str] = Counter()
        self._names: list[str] = []
        self._read: set[str] = set()
        self._read_through = 0
        self._images_with_refused_file: set[str] = set()
        self._done = 0
        self._has_image_files = False

    def run(self, split: str, format_name: str) -> None:
        if not self._run_fresh(split, format_name):
            self._run_compared(split, format_name)
        self._finish()

    def _run_fresh(self, split: str, format_name: str) -> bool:
        """A single file without surprises into an empty corpus; else nothing is done here."""
        if not isinstance(self.source, FileSource):
            return False
        entry = next(self._entries(_told_elsewhere), None)
        if entry is None:
            return False
        try:
            name = format_name or formats.detect(entry.name, entry.open)
            if name not in formats.CAPTIONS_BEHIND_IMAGES:
                return False
            stored = fresh.store(
                corpus_id=self.corpus_id,
                stream=formats.read(entry.name, entry.open, name),
                split=split or split_in_name(entry.name),
                tick=self._tick,
            )
        except (fresh.NeedsComparing, Bad, *UNREADABLE):
            self._done = 0
            return False
        for refusal in stored.refusals:
            self._refuse(entry.name, refusal)
        self.report.images.added = stored.images
        self.report.captions.added = stored.captions
        return True

    def _run_compared(self, split: str, format_name: str) -> None:
        with Staging() as staging:
            for entry in self._record_files(format_name):
                self._stage(staging, entry, split, format_name)
            merging = Merging(self.corpus_id, self._refuse_staged)
            self._merge(merging)
            if self._has_image_files:
                self.report.files = attach(
                    corpus_id=self.corpus_id,
                    entries=self._image_files,
                    refuse=self._refuse,
                    tick=self._tick,
                )
            self._refuse_a_source_of_nothing()
            if self._has_image_files or isinstance(self.source, FolderSource | ZipSource):
                told = frozenset(self._images_with_refused_file)
                merging.report_images_without_file(told, lambda: self._tick(0))

    def _refuse_a_source_of_nothing(self) -> None:
        """A job that took nothing in has failed, and its message should say why."""
        files = self.report.files
        if self._read_through or files.added or files.unchanged or not self.report.refused:
            return
        if isinstance(self.source, FileSource) and not self._names:
            kinds = ", ".join(formats.FORMATS)
            raise Refused(
                f"The file is neither a zip nor in one of these formats: {kinds}; "
                "and it is not the file of an image in this corpus."
            )
        first = self.report.first_refusals[0]
        more = f" ({self.report.refused:,} files were refused.)" if self.report.refused > 1 else ""
        raise Refused(f"Nothing could be read. {first['file']}: {first['detail']}{more}")

    def _record_files(self, format_name: str) -> Iterator[Entry]:
        """Files with records, and on the way whether there are others."""
        alone = isinstance(self.source, FileSource)
        for entry in self._entries(self._refuse):
            if (alone and format_name) or holds_records(entry, alone=alone):
                self._names.append(entry.name)
                self._read.add(entry.name)
                yield entry
            else:
                self._has_image_files = True
        if not (self._names or self._has_image_files or self.report.refused):
            raise Refused("There is no file to import.")

    def _image_files(self) -> Iterator[Entry]:
        return (entry for entry in self._entries(_told_elsewhere) if entry.name not in self._read)

    def _entries(self, refuse: Callable[[str, Refusal], None]) -> Iterator[Entry]:
        try:
            for found in self.source.entries():
                if isinstance(found, Entry):
                    found = with_readable_name(found)
                if isinstance(found, Refusal):
                    refuse(found.place, found)
                elif not is_clutter(found):
                    yield found
        except UNREADABLE as fault:
            raise Refused(f"The files cannot be listed: {shown(str(fault))}") from fault

    def _stage(self, staging: Staging, entry: Entry, split: str, format_name: str) -> None:
        file = len(self._names) - 1
        guess = "" if split else split_in_name(entry.name)
        try:
            with fetched_once(entry) as open_file:
                for found in formats.read(entry.name, open_file, format_name):
                    if isinstance(found, Refusal):
                        self._refuse(entry.name, found)
                    elif staging.add(file, found, split or guess, bool(guess)):
                        staging.write(lambda: self._tick(BATCH))
            staging.settle(lambda: self._tick(0))
            self._read_through += 1
        except Bad as bad:
            self._give_up(staging, entry, bad)
        except UNREADABLE as fault:
            detail = f"The file cannot be read: {shown(str(fault))}"
            self._give_up(staging, entry, Bad("unreadable", detail))

    def _give_up(self, staging: Staging, entry: Entry, bad: Bad) -> None:
        self._refuse(entry.name, bad.refusal("file"))
        staging.forget(len(self._names) - 1)

    def _merge(self, merging: Merging) -> None:
        def tick() -> None:
            self._progress(self._done, message="Comparing with what the corpus has.")

        self.report.images = merging.merge_images(tick)
        self.report.captions = merging.merge(CAPTIONS, tick)
        self.report.regions = merging.merge(REGIONS, tick)
        if self.report.changed_anything:
            analyze("hits_image, hits_caption, hits_region")

    def _tick(self, more: int) -> None:
        self._done += more
        self._progress(self._done, message="Reading.")

    def _refuse_staged(self, file: int, refusal: Refusal) -> None:
        self._refuse(self._names[file], refusal)

    def _refuse(self, file: str, refusal: Refusal) -> None:
        line = {
            "file": shown(self._called or file),
            "place": refusal.place if refusal.place != file else "",
            "kind": refusal.kind,
            "id": refusal.external_id,
            "reason": refusal.reason,
            "detail": refusal.detail,
        }
        self._lines.write(json.dumps(line) + "\n")
        self._reasons[refusal.reason] += 1
        self._kinds[refusal.kind] += 1
        if refusal.kind == "file" and refusal.external_id:
            self._images_with_refused_file.add(refusal.external_id)
        self.report.refused += 1
        if len(self.report.first_refusals) < FIRST_REFUSALS:
            self.report.first_refusals.append(line)

    def _finish(self) -> None:
        self.report.reasons = dict(self._reasons.most_common())
        for kind, count in self.report.counts().items():
            count.refused = self._kinds[kind]
        things = sum(sum(astuple(count)) for count in self.report.counts().values())
        self._progress(things, things, "Done.")


def _told_elsewhere(name: str, refusal: Refusal) -> None:
    pass
