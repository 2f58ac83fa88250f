"""A judged unit as an export reads it, without a database."""

from collections.abc import Iterable

from hits.protocol import protocol
from hits.records import Json, JudgedUnit, OutsideCaption, OutsideImage


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
