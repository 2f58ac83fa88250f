"""A file straight into the tables of an empty corpus, where there is nothing to compare it with."""

from collections.abc import Callable
from dataclasses import dataclass, field

from django.db import transaction
from psycopg2.errors import UniqueViolation

from hits.importers.records import CaptionRecord, ImageRecord, Refusal, Stream
from hits.models import Image
from hits.pipeline.copying import NULL, CopyBehind, analyze, cells, new_ids
from hits.pipeline.cycles import seldom_looking_for_cycles

BATCH = 8_000
MOST_REFUSALS = 1_000

_IMAGE = ["id", "corpus_id", "external_id", "file_name", "split", "width", "height"]
_CAPTION = ["corpus_id", "image_id", "external_id", "text"]


class NeedsComparing(Exception):
    """The file has to go the long way, and nothing of it was stored."""


@dataclass
class Stored:
    images: int = 0
    captions: int = 0
    refusals: list[Refusal] = field(default_factory=list)


def store(*, corpus_id: int, stream: Stream, split: str, tick: Callable[[int], None]) -> Stored:
    """All of the file or nothing. Each caption must come behind its own image, each id once."""
    try:
        with seldom_looking_for_cycles(), transaction.atomic(), CopyBehind() as copies:
            if Image.objects.filter(corpus=corpus_id).exists():
                raise NeedsComparing
            storing = _Storing(corpus_id, split, copies)
            for found in stream:
                if storing.add(found):
                    copies.wait()
                    tick(BATCH)
                    storing.write()
            storing.write()
    except UniqueViolation:
        raise NeedsComparing from None
    analyze("hits_image, hits_caption")
    return storing.stored


class _Storing:
    def __init__(self, corpus_id: int, split: str, copies: CopyBehind) -> None:
        self.stored = Stored()
        self._corpus_id = corpus_id
        self._split = split
        self._copies = copies
        self._images: list[str] = []
        self._captions: list[str] = []
        self._image_ids = new_ids("hits_image", BATCH)
        self._last: tuple[str | int | None, ...] = ("",)
        self._last_id = 0

    def add(self, found: ImageRecord | CaptionRecord | object) -> bool:
        """True when a batch is complete, and wants to be written."""
        if isinstance(found, ImageRecord):
            self._add_image(found)
            return len(self._images) >= BATCH
        if isinstance(found, CaptionRecord):
            self._add_caption(found)
            return len(self._captions) >= BATCH
        if not isinstance(found, Refusal) or len(self.stored.refusals) >= MOST_REFUSALS:
            raise NeedsComparing
        self.stored.refusals.append(found)
        return False

    def _add_image(self, record: ImageRecord) -> None:
        """Rows with captions of one image repeat it."""
        said = record[1:]
        _, external_id, file_name, _, split, width, height = record
        if external_id == self._last[0]:
            if said != self._last:
                raise NeedsComparing
            return
        self._last = said
        self._last_id = self._image_ids.pop()
        self._images.append(
            f"{self._last_id}\t{self._corpus_id}\t"
            f"{cells(external_id, file_name, split or self._split)}\t"
            f"{NULL if width is None else width}\t{NULL if height is None else height}\n"
        )

    def _add_caption(self, record: CaptionRecord) -> None:
        _, external_id, image_id, text = record
        if image_id != self._last[0]:
            raise NeedsComparing
        self._captions.append(f"{self._corpus_id}\t{self._last_id}\t{cells(external_id, text)}\n")

    def write(self) -> None:
        self._copies.wait()
        self.stored.images += len(self._images)
        self.stored.captions += len(self._captions)
        self._image_ids = new_ids("hits_image", len(self._images)) + self._image_ids
        self._copies.start("hits_image", _IMAGE, self._images)
        self._copies.start("hits_caption", _CAPTION, self._captions)
        self._images.clear()
        self._captions.clear()
