"""Naming: units as people write them down, by their keys or by what they show."""

from collections.abc import Sequence

from hits.models import Caption, Image, Study, Unit
from hits.pipeline.errors import Refused
from hits.protocol import protocol

MOST_LINES = 20_000


def keys_of(study: Study, lines: Sequence[str]) -> list[str]:
    """One unit a line: its key, or the outside ids of all that it shows, images first, with
    spaces, commas or tabs between them, as a release has them."""
    written = [line.strip() for line in lines if line.strip()]
    if len(written) > MOST_LINES:
        raise Refused(f"At most {MOST_LINES:,} units at once.")
    units = Unit.objects.filter(study=study, gold__isnull=True)
    known = set(units.filter(key__in=written).values_list("key", flat=True))
    rest = {tuple(line.replace(",", " ").split()): line for line in written if line not in known}
    shown = _by_what_they_show(study, set(rest)) if rest else {}
    missing = [line for ids, line in rest.items() if ids not in shown]
    if missing:
        raise Refused(f"The study asks about no unit {'; '.join(missing[:3])[:200]}.")
    found = [
        line if line in known else shown[tuple(line.replace(",", " ").split())] for line in written
    ]
    return list(dict.fromkeys(found))


def _by_what_they_show(study: Study, wanted: set[tuple[str, ...]]) -> dict[tuple[str, ...], str]:
    kind = protocol(study.protocol)
    ids = {each for ids in wanted for each in ids}
    images, captions = (
        dict(
            model.objects.filter(corpus=study.corpus_id, external_id__in=ids).values_list(
                "pk", "external_id"
            )
        )
        for model in (Image, Caption)
    )
    found = {}
    units = Unit.objects.filter(study=study, gold__isnull=True).values_list("key", "payload")
    for key, payload in units.iterator(chunk_size=5000):
        own_images, own_captions = kind.items(payload)
        names = *map(images.get, own_images), *map(captions.get, own_captions)
        if names in wanted:
            found[names] = key
    return found  # type: ignore[return-value]
