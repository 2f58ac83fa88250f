"""Remove: items and pairs that do not belong into a study's data, each with its reason; and back.

An item is gone as query and as target. Of a pair only that pair is gone: its caption is no query,
but stays a target elsewhere. Judgments of what was removed stay on record."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from django.db import transaction

from hits.models import Caption, Curation, Image, Study, Unit, User
from hits.pipeline.errors import Refused
from hits.protocol import protocol
from hits.records import Json

LONGEST_REASON = 2000
MOST_AT_ONCE = 5_000


class Thing(NamedTuple):
    """An image, a caption, or both as a pair, by their ids here."""

    image: int | None = None
    caption: int | None = None


@dataclass(frozen=True, slots=True)
class Removed:
    """What is gone now, with why."""

    reasons: dict[Thing, str] = field(default_factory=dict)

    @property
    def images(self) -> set[int]:
        return {image for image, caption in self.reasons if image and caption is None}

    @property
    def captions(self) -> set[int]:
        return {caption for image, caption in self.reasons if caption and image is None}

    @property
    def pairs(self) -> set[Thing]:
        return {thing for thing in self.reasons if thing.image and thing.caption}

    @property
    def unasked_captions(self) -> set[int]:
        """Captions that are no queries."""
        return self.captions | {thing.caption for thing in self.pairs if thing.caption}

    def why(self, images: Iterable[int], captions: Iterable[int]) -> str | None:
        """The reason why something that shows these is gone, of several the first."""
        found = things_shown(images, captions)
        return next((self.reasons[thing] for thing in found if thing in self.reasons), None)


def things_shown(images: Iterable[int], captions: Iterable[int]) -> Iterator[Thing]:
    """All that a removal of one of these could name."""
    texts = list(captions)
    for caption in texts:
        yield Thing(caption=caption)
    for image in images:
        yield Thing(image=image)
        for caption in texts:
            yield Thing(image, caption)


def removed_in(studies: Iterable[Study | int]) -> Removed:
    """All that is gone from any of these studies: in a release of several it is gone from all."""
    events = Curation.objects.filter(study__in=list(studies), kind__in=["remove", "restore"])
    last: dict[tuple[int, Thing], tuple[str, str]] = {}
    for study, image, caption, kind, reason in events.order_by("pk").values_list(
        "study_id", "image_id", "caption_id", "kind", "reason"
    ):
        last[study, Thing(image, caption)] = (kind, reason)
    return Removed(
        {thing: reason for (_, thing), (kind, reason) in last.items() if kind == "remove"}
    )


def remove(
    *, study: Study, things: Sequence[Thing], reason: str, by: User | None
) -> list[Curation]:
    """Take items and pairs out; what is gone already stays as it is."""
    return _curate(study, things, "remove", reason, by)


def restore(
    *, study: Study, things: Sequence[Thing], reason: str, by: User | None
) -> list[Curation]:
    """Take them in again, by a further event."""
    return _curate(study, things, "restore", reason, by)


def named(study: Study, *, image: str = "", caption: str = "") -> Thing:
    """An item or a pair by the outside ids in the study's corpus."""
    if not image and not caption:
        raise Refused("Name an image, a caption, or both for a pair.")
    images = Image.objects.filter(corpus=study.corpus_id, external_id=image)
    captions = Caption.objects.filter(corpus=study.corpus_id, external_id=caption)
    found = Thing(
        images.values_list("pk", flat=True).first() if image else None,
        captions.values_list("pk", flat=True).first() if caption else None,
    )
    if image and found.image is None:
        raise Refused(f"The corpus has no image {image[:100]!r}.")
    if caption and found.caption is None:
        raise Refused(f"The corpus has no caption {caption[:100]!r}.")
    return found


def originals(study: Study, captions: Iterable[int]) -> list[Thing]:
    """Those of the captions that the study's corpus has, each with the image it came with."""
    found = Caption.objects.filter(corpus=study.corpus_id, pk__in=captions).order_by("pk")
    return [Thing(image, caption) for image, caption in found.values_list("image_id", "pk")]


def with_reason(reason: str) -> str:
    reason = reason.strip()
    if not reason:
        raise Refused("Write down why: it stays on record and goes into releases.")
    if len(reason) > LONGEST_REASON:
        raise Refused(f"A reason has at most {LONGEST_REASON:,} characters.")
    return reason


@transaction.atomic
def _curate(
    study: Study, things: Sequence[Thing], kind: str, reason: str, by: User | None
) -> list[Curation]:
    reason = with_reason(reason)
    if len(things) > MOST_AT_ONCE:
        raise Refused(f"At most {MOST_AT_ONCE:,} at once.")
    # One after the other: what is gone is read from the events of the study.
    Study.objects.select_for_update(no_key=True).get(pk=study.pk)
    gone = removed_in([study]).reasons
    changed = [thing for thing in dict.fromkeys(things) if (thing in gone) == (kind == "restore")]
    if not changed:
        return []
    units, counts = _units_showing(study, set(changed))
    made = Curation.objects.bulk_create(
        Curation(
            study=study,
            kind=kind,
            image_id=thing.image,
            caption_id=thing.caption,
            units=counts[thing],
            reason=reason,
            by=by,
        )
        for thing in changed
    )
    _mark(study, units)
    return made


def _units_showing(study: Study, things: set[Thing]) -> tuple[dict[int, Json], Counter[Thing]]:
    """The units that show one of these things, and how many show each."""
    kind = protocol(study.protocol)
    units = Unit.objects.filter(study=study).values_list("pk", "payload")
    found, counts = {}, Counter[Thing]()
    for pk, payload in units.iterator(chunk_size=5000):
        shown = things.intersection(things_shown(*kind.items(payload)))
        if shown:
            found[pk] = payload
            counts.update(shown)
    return found, counts


def _mark(study: Study, showing: dict[int, Json]) -> None:
    """Units that show something that is gone are excluded, and locked first in the order in which
    they are locked elsewhere; a gold that was retired stays so."""
    removed, kind = removed_in([study]), protocol(study.protocol)
    gone = {pk for pk, payload in showing.items() if removed.why(*kind.items(payload)) is not None}
    units = Unit.objects.filter(pk__in=showing).order_by("order_key")
    list(units.select_for_update(no_key=True).values_list("pk", flat=True))
    Unit.objects.filter(pk__in=gone).update(excluded=True)
    back = showing.keys() - gone - retired_golds(study)
    Unit.objects.filter(pk__in=back).update(excluded=False)


def retired_golds(study: Study) -> set[int | None]:
    retired = Curation.objects.filter(study=study, kind="retire")
    return set(retired.values_list("unit_id", flat=True))


RETIRED = "A gold that was retired."


def excluded_by_reason(study: Study) -> dict[str, int]:
    """How many units are left out of a study's data, by why."""
    removed, kind = removed_in([study]), protocol(study.protocol)
    excluded = Unit.objects.filter(study=study, excluded=True).values_list("payload", flat=True)
    reasons = Counter(
        removed.why(*kind.items(payload)) or RETIRED for payload in excluded.iterator()
    )
    return dict(sorted(reasons.items()))
