"""Known: what is true of the pairs of a corpus that the project has drawn itself."""

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from hits.demo import captions, file_name, is_true, scene
from hits.demo.corpus import IDS_AN_IMAGE, SEED
from hits.demo.scenes import Scene
from hits.models import Caption, Image
from hits.protocol import Protocol
from hits.records import Json

GRADES = {"yes": 1.0, "partial_yes": 2 / 3, "mostly_no": 1 / 3, "no": 0.0}

_scene = lru_cache(20_000)(scene)
_captions = lru_cache(20_000)(captions)


class Known:
    """How well the captions of some units fit their images, where both are of drawn scenes."""

    def __init__(self, kind: Protocol[Any, Any], payloads: Iterable[Json]) -> None:
        items = [kind.items(payload) for payload in payloads]
        images = Image.objects.filter(pk__in={pk for own, _ in items for pk in own})
        texts = Caption.objects.filter(pk__in={pk for _, own in items for pk in own})
        self._scenes = {
            pk: _scene(SEED, number)
            for pk, name, called in images.values_list("pk", "external_id", "file_name")
            if (number := _number(name)) is not None and file_name(number) == called
        }
        self._captions = {
            pk: found
            for pk, name, text in texts.values_list("pk", "external_id", "text")
            if (found := _written(name, text)) is not None
        }

    def __call__(self, image: int, caption: int) -> float | None:
        if image not in self._scenes or caption not in self._captions:
            return None
        writer, place = self._captions[caption]
        claim = _captions(writer)[place].claim
        return GRADES[is_true(self._scenes[image], claim).choice]


def _number(name: str) -> int | None:
    return int(name) - 1 if name.isdecimal() and int(name) > 0 else None


def _written(name: str, text: str) -> tuple[Scene, int] | None:
    """The scene that a caption was written for and its place there, if it says what is said."""
    if not name.isdecimal():
        return None
    number, place = int(name) // IDS_AN_IMAGE - 1, int(name) % IDS_AN_IMAGE - 1
    if number < 0 or place < 0:
        return None
    writer = _scene(SEED, number)
    written = _captions(writer)
    return (writer, place) if place < len(written) and written[place].text == text else None
