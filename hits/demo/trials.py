"""A small study of every protocol, so that each form can be tried: what its rows are made of."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, pairwise
from typing import Any

Row = dict[str, Any]
Box = tuple[float, float, float, float]
FIVE = 5


@dataclass(frozen=True)
class Picture:
    """An image under its outside id, with its captions and the boxes of what is in it."""

    id: str
    captions: Mapping[str, str]
    objects: Sequence[tuple[str, Box]] = ()

    @property
    def first(self) -> str:
        return next(iter(self.captions))


Pictures = Sequence[Picture]


@dataclass(frozen=True)
class Trial:
    """A study to be set up: of which protocol, on which corpus, and of what."""

    protocol: str
    name: str
    corpus: str
    rows: Callable[[Pictures], Iterator[Row]] | None = None
    direction: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def slug(self) -> str:
        return f"try-{self.protocol.replace('_', '-')}"


def _texts(pictures: Pictures) -> Iterator[Row]:
    """Two captions of one picture, and of two; what two strangers say must not be rated alike."""
    for picture in pictures:
        first, second, *_ = picture.captions
        yield {"caption1": first, "caption2": second, "sampling_method": "c2c_cocaption"}
    for one, other in pairwise(pictures):
        yield {"caption1": one.first, "caption2": other.first, "gold": {"low": 0, "high": 2.5}}


def _images(pictures: Pictures) -> Iterator[Row]:
    for one, other in combinations(pictures, 2):
        yield {"image1": one.id, "image2": other.id}


def _images_with_texts(pictures: Pictures) -> Iterator[Row]:
    for one, other in pairwise(pictures):
        yield {"caption": one.first, "image": one.id, "sampling_method": "c2i_original"}
        yield {"caption": one.first, "image": other.id, "gold": {"low": 0, "high": 2}}


def _neighbours(pictures: Pictures) -> Iterator[Row]:
    for one, other in pairwise(pictures):
        yield {"positive": one.id, "negative": other.id}


def _captioned_neighbours(pictures: Pictures) -> Iterator[Row]:
    for one, other in pairwise(pictures):
        yield {"caption": one.first, "positive": other.id, "negative": one.id, "gold": "negative"}
        yield {"caption": one.first, "positive": one.id, "negative": other.id}


def _wrong_captions(pictures: Pictures) -> Iterator[Row]:
    for one, other in pairwise(pictures):
        yield {"image": one.id, "caption": other.first, "gold": 1}


def _poor_captions(pictures: Pictures) -> Iterator[Row]:
    for text in ("A thing.", "Something is there.", "An image."):
        yield {"text": text, "gold": 1}


_DETAILS = ("on a sunny day", "beside two people", "in the early morning", "seen from above")


def _renovated(pictures: Pictures) -> Iterator[Row]:
    for number, picture in enumerate(pictures):
        for caption, text in list(picture.captions.items())[:2]:
            detail = _DETAILS[number % len(_DETAILS)]
            yield {"image": picture.id, "caption": caption,
                   "proposed": f"{text.rstrip('.')} {detail}."}  # fmt: skip


def _wrong_and_right(pictures: Pictures) -> Iterator[Row]:
    for picture in pictures:
        text = picture.captions[picture.first].rstrip(".")
        yield {"image": picture.id, "right": f"{text}.", "wrong": f"{text} beside two horses."}


def _rankings(pictures: Pictures) -> Iterator[Row]:
    """The right image first, in the middle, and nowhere."""
    ids = [picture.id for picture in pictures]
    for picture in pictures:
        others = [other for other in ids if other != picture.id]
        outputs = {
            "first": [picture.id, *others[: FIVE - 1]],
            "third": [*others[:2], picture.id, *others[2 : FIVE - 1]],
            "nowhere": others[:FIVE],
        }
        yield {"caption": picture.first, "outputs": outputs}


def _detections(pictures: Pictures) -> Iterator[Row]:
    """One detector finds what is there, the other takes it for something else."""
    for picture in pictures:
        found = picture.objects[:FIVE]
        if len(found) < 2:
            continue
        labels = [label for label, _ in found]
        mistaken = [*labels[1:], "cloud"]
        yield {
            "image": picture.id,
            "systems": {
                "careful": _predicted(labels, found),
                "mistaken": _predicted(mistaken, found),
            },
        }


def _predicted(labels: Sequence[str], found: Sequence[tuple[str, Box]]) -> list[Row]:
    return [
        {"label": label, "box": list(box), "score": 1 - place / 10}
        for place, (label, (_, box)) in enumerate(zip(labels, found, strict=True))
    ]


_PAGE = {"units_a_page": 5, "golds_a_page": 1}
_ALL_PAGE = {"units_a_page": 5, "golds_a_page": 0}
PHOTOGRAPHS, SCENES = "photographs", "scenes"

TRIALS = (
    Trial("preference", "which ranking looks better?", PHOTOGRAPHS, _rankings, settings=_ALL_PAGE),
    Trial("bison_captions", "BISON: choose a caption", PHOTOGRAPHS, _neighbours,
          settings=_ALL_PAGE),
    Trial("bison_images", "BISON: choose an image", PHOTOGRAPHS, _captioned_neighbours,
          settings=_PAGE),
    Trial("correctness", "is the caption correct?", PHOTOGRAPHS, _wrong_captions,
          settings={**_PAGE, "own_pairs": True}),
    Trial("detailedness", "how detailed is the caption?", PHOTOGRAPHS, _poor_captions,
          settings={**_PAGE, "own_pairs": True}),
    Trial("retrieval_audit", "what a machine took for a match", SCENES, direction="i2t",
          settings=_ALL_PAGE),
    Trial("sts", "how alike are two texts?", PHOTOGRAPHS, _texts, settings=_PAGE),
    Trial("sis", "how alike are two images?", PHOTOGRAPHS, _images, settings=_ALL_PAGE),
    Trial("sits", "how alike are an image and a text?", PHOTOGRAPHS, _images_with_texts,
          settings=_PAGE),
    Trial("renovation", "correct a machine’s text", PHOTOGRAPHS, _renovated, settings=_ALL_PAGE),
    Trial("right_text", "which text is right?", PHOTOGRAPHS, _wrong_and_right,
          settings=_ALL_PAGE),
    Trial("prominence", "how prominent are five objects?", SCENES, settings=_ALL_PAGE),
    Trial("relevance", "describe, then rate five objects", SCENES, settings=_ALL_PAGE),
    Trial("detectors", "which detector sees better?", SCENES, _detections, settings=_ALL_PAGE),
)  # fmt: skip
