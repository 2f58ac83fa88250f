"""What a study was given, and what a release is made of, without a database."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from hits.records import CaptionedImage, CorpusImage, Json, JudgedUnit, Query, ReleasedQuery


@dataclass(frozen=True)
class Given:
    proposed: Sequence[Query] = ()
    among: Sequence[int] = ()
    corpus: Sequence[CorpusImage] = ()
    finished: Sequence[JudgedUnit] = ()
    uploaded: Sequence[Json] = ()
    left_out: list[str] = field(default_factory=list)

    def queries(self) -> Iterator[Query]:
        return iter(self.proposed)

    def targets(self) -> Sequence[int]:
        return self.among

    def images(self) -> Iterator[CorpusImage]:
        return iter(self.corpus)

    def captions_of(self, images: Iterable[int]) -> Mapping[int, Mapping[int, str]]:
        wanted = set(images)
        return {image.id: image.captions for image in self.corpus if image.id in wanted}

    def judged(self) -> Iterator[JudgedUnit]:
        return iter(self.finished)

    def rows(self) -> Iterator[Json]:
        return iter(self.uploaded)

    def leave_out(self, why: str) -> None:
        self.left_out.append(why)


@dataclass(frozen=True)
class Released:
    judged: Sequence[JudgedUnit]
    corpus: str = "coco"
    split: str = "val"
    images: Sequence[CaptionedImage] = ()

    def units(self, by: str = "") -> Iterator[JudgedUnit]:
        return iter(sorted(self.judged, key=lambda unit: unit.payload[by]) if by else self.judged)

    def by_split(self) -> "list[Released]":
        return [self]

    def queries(self, direction: str) -> Iterator[ReleasedQuery]:
        return iter(())

    def captioned(self) -> Iterator[CaptionedImage]:
        return iter(self.images)
