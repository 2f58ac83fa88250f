"""What an export reads, without a database."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from hits.protocol import protocol
from hits.records import (
    CaptionedImage,
    Json,
    JudgedUnit,
    OutsideCaption,
    OutsideImage,
    ReleasedQuery,
)


@dataclass(frozen=True)
class Released:
    judged: Sequence[JudgedUnit]
    corpus: str = "corpus"
    split: str = ""

    def units(self, by: str = "") -> Iterator[JudgedUnit]:
        return iter(self.judged)

    def by_split(self) -> "list[Released]":
        return [self]

    def queries(self, direction: str) -> Iterator[ReleasedQuery]:
        return iter(())

    def captioned(self) -> Iterator[CaptionedImage]:
        return iter(())


def judged(
    slug: str, payload: Json, said: Iterable[tuple[Json | None, Json]], key: str = "unit"
) -> JudgedUnit:
    """A unit with what was decided by chance, and answered, for each person; items are called by
    their ids here with a letter before them."""
    kind = protocol(slug)
    images, captions = kind.items(payload)
    shown, answers = zip(*said, strict=True)
    return JudgedUnit(
        key=key,
        protocol=slug,
        pool="unit",
        payload=payload,
        images=tuple(OutsideImage(f"i{pk}", f"{pk}.jpg") for pk in images),
        captions=tuple(OutsideCaption(f"c{pk}", f"Caption {pk}.") for pk in captions),
        aggregate=kind.aggregate(answers),
        answers=answers,
        shown=shown,
    )
