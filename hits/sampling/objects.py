"""The objects of an image that its captions make important (VL detectors, §3.4, §4.2)."""

import json
import re
from collections.abc import Mapping
from pathlib import Path

from hits.records import CorpusImage, Region
from hits.sampling.errors import CannotSample
from hits.sampling.importance import Importance, Object, importance, surveyed
from hits.sampling.regions import box, polygons

_COCO_WORDS = Path(__file__).with_name("coco_words.json")
_WORD = re.compile(r"[a-z0-9]+(?:['’-][a-z0-9]+)*")


def known_words() -> dict[str, str]:
    """The words that stand for COCO's categories."""
    known = json.loads(_COCO_WORDS.read_text(encoding="utf-8"))
    return {word: row["name"] for row in known for word in row["words"]}


def most_important(image: CorpusImage, words: Mapping[str, str], number: int) -> list[Region]:
    """So many regions of highest I_P, the first first. Nothing where there are fewer regions, or
    where no caption names any."""
    if len(image.regions) < number:
        return []
    found = importance_of(image, words)
    if found is None:
        return []
    ids = [each.id for each in image.regions]
    scores = dict(zip(ids, found.spread.tolist(), strict=True))
    regions = {each.id: each for each in image.regions}
    return [regions[each] for each in surveyed({image.id: scores}, number)[image.id]]


def importance_of(image: CorpusImage, words: Mapping[str, str]) -> Importance | None:
    """I_O and I_P of the regions. A category is also known by its own name and its plural. None
    where no caption names any."""
    if not image.captions or not image.regions:
        return None
    names = {each.category.lower(): each.category for each in image.regions}
    plurals = {f"{lower}s": name for lower, name in names.items()}
    said = [_WORD.findall(text.lower()) for text in image.captions.values()]
    objects = [_as_object(each) for each in image.regions]
    try:
        return importance(said, {**plurals, **words, **names}, objects)
    except CannotSample:
        return None


def scores_of(image: CorpusImage, words: Mapping[str, str]) -> dict[str, dict[str, float]]:
    """Each scorer's scores of the regions, by their outside ids: area, and where captions name
    some of them I_O and I_P."""
    ids = [region.external_id or str(region.id) for region in image.regions]
    areas = [_as_object(region).area for region in image.regions]
    found = {"Area": dict(zip(ids, areas, strict=True))}
    if (by_words := importance_of(image, words)) is not None:
        found["I_O"] = dict(zip(ids, by_words.shared.tolist(), strict=True))
        found["I_P"] = dict(zip(ids, by_words.spread.tolist(), strict=True))
    return found


def _as_object(region: Region) -> Object:
    """By its outline if it has one, else by its box."""
    area = region.area or region.width * region.height
    outline = [list(each) for each in region.outline]
    within = polygons(outline) if outline else box(region.x, region.y, region.width, region.height)
    return Object(region.id, region.category, area, within)
