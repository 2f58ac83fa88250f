"""Crisscrossed Captions' similarity of an image and a text."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from random import Random

from pydantic import Field

from hits.exporters.streams import as_json_object, numbers_first
from hits.protocol import CaptionRef, Fits, ImageRef, PageSettings, Source, register
from hits.protocols.similarity import (
    CAPTION_NAMES,
    EXAMPLE_IMAGE,
    IMAGE_NAMES,
    Example,
    PairRow,
    Similarity,
    Wording,
    anchor_help_field,
    anchors_field,
    caption_name,
    details_field,
    examples_field,
    image_name,
    intro_field,
    question_field,
)
from hits.protocols.sis import ImageSimilarity
from hits.protocols.sts import TextSimilarity
from hits.records import Items, Json, JudgedUnit, ReleaseSource, UnitDraft, UnitSource
from hits.sampling.crossed import Rated, c2i_intrasim, c2i_original

C2I_INTRASIM, C2I_ORIGINAL = "c2i_intrasim", "c2i_original"


class ImageTextRow(PairRow):
    caption: CaptionRef
    image: ImageRef


class ImageTextSettings(PageSettings):
    chosen_pairs: int = Field(
        20_000,
        ge=0,
        le=1_000_000,
        title="Pairs chosen by ratings",
        description="Half by the ratings of texts, half by those of images, best first, from the "
        "studies that feed this one.",
    )
    originals: bool = Field(
        False,
        title="Ask about the corpus’s own pairs",
        description="Every caption with its own image, as in the paper.",
    )
    caption_names: str = CAPTION_NAMES
    image_names: str = IMAGE_NAMES


class ImageTextWording(Wording):
    intro: str = intro_field(
        "You see an image and a text. Say how well they match by putting the slider where you "
        "think they belong."
    )
    details: str = details_field(
        "Ask yourself whether the text speaks of the people, things, actions and places that the "
        "image shows. Small words can matter much. Slips of spelling and clumsy wording do not."
    )
    question: str = question_field("How well do the image and the text match?")
    anchors: dict[str, str] = anchors_field(
        "Completely unmatched",
        "Loosely related in theme",
        "Some details shared",
        "Roughly matched",
        "Mostly matched",
        "Perfectly matched",
    )
    anchor_help: dict[str, str] = anchor_help_field(
        "The image and the text have nothing to do with each other.",
        "The text does not match the image, but their theme is loosely the same.",
        "The text does not match the image, but they share some kinds of people, "
        "actions, things or places.",
        "The text matches roughly, but something that matters differs or is missing: "
        "who is there, what is done, the things or the place. It does not describe the image.",
        "The text matches but for what does not matter: other people, things or places "
        "of the same kind. It describes a part of the image.",
        "The text is an almost perfect description of the image.",
        where="On hover and on focus, and in the instructions.",
    )
    examples: list[Example] = examples_field(
        Example(
            caption="A cup of coffee with a spoon on a red saucer.",
            answer="Perfectly matched",
            explanation="All of it is in the image, and it says what the image shows.",
            image_url=EXAMPLE_IMAGE,
        ),
        Example(
            caption="Two cups of tea on a breakfast table.",
            answer="Between “Some details shared” and “Roughly matched”",
            explanation="A hot drink on a table, but there is one cup, and it is coffee.",
            image_url=EXAMPLE_IMAGE,
        ),
        Example(
            caption="A train leaves the station.",
            answer="Completely unmatched",
            explanation="Nothing of it is in the image.",
            image_url=EXAMPLE_IMAGE,
        ),
    )


@register
class ImageTextSimilarity(Similarity[ImageTextSettings, ImageTextWording]):
    slug = "sits"
    judgments_wanted = 5
    name = "Similarity of an image and a text (SITS)"
    description = (
        "How well an image and a caption match, on a continuous scale from 0 to 5, as in "
        "Crisscrossed Captions, which wants five judgments a pair."
    )
    template = "protocols/sits.html"
    settings_model = ImageTextSettings
    wording_model = ImageTextWording
    sources = frozenset({Source.ROWS, Source.STUDIES, Source.CORPUS})
    feeders = frozenset({"sts", "sis"})
    row_model = ImageTextRow
    specimens = (
        {"caption": 1, "image": 1, "sampling_method": C2I_ORIGINAL},
        {"caption": 3, "image": 2, "sampling_method": C2I_INTRASIM},
    )
    ends = ("caption", "image")
    is_across = True
    positive_from = 3

    def sampled(
        self, source: UnitSource, settings: ImageTextSettings, random: Random
    ) -> Iterator[UnitDraft]:
        rated = _rated(source) if settings.chosen_pairs else {}
        if not rated and not settings.originals:
            return
        captions_of = {image.id: list(image.captions) for image in source.images()}
        if rated:
            known = {caption for own in captions_of.values() for caption in own}
            texts = [r for r in rated.get("sts", []) if {r.first, r.second} <= known]
            images = [
                r
                for r in rated.get("sis", [])
                if r.first in captions_of and captions_of.get(r.second)
            ]
            number = settings.chosen_pairs
            for chosen in c2i_intrasim(texts, images, captions_of, number, random):
                yield from self.draft(chosen.caption, chosen.image, C2I_INTRASIM)
        if settings.originals:
            for caption, image in c2i_original(captions_of):
                yield from self.draft(caption, image, C2I_ORIGINAL)

    def is_denied(self, answers: Sequence[Json]) -> bool:
        return bool(sum(answer["score"] for answer in answers) < len(answers))

    def truth(self, payload: Json, fits: Fits) -> float | None:
        return fits(payload["image"], payload["caption"])

    def names(self, unit: JudgedUnit, settings: ImageTextSettings) -> list[str]:
        (caption,), (image,) = unit.captions, unit.images
        return [
            caption_name(caption, settings.caption_names),
            image_name(image, settings.image_names),
        ]

    def show(self, payload: Json, shown: Json | None, items: Items) -> Json:
        return {
            "image": items.images[payload["image"]],
            "caption": items.captions[payload["caption"]],
        }

    def export(
        self, source: ReleaseSource, settings: ImageTextSettings
    ) -> Mapping[str, Iterable[str]]:
        """The two tables, and the positives of each image and of each caption as eccv_caption
        reads them."""
        return {
            **super().export(source, settings),
            "cxc_image_to_caption.json": as_json_object(_positives(source, "image")),
            "cxc_caption_to_image.json": as_json_object(_positives(source, "caption")),
        }


def _rated(source: UnitSource) -> dict[str, list[Rated]]:
    """The pairs of the studies that feed this one, by the protocol that they were rated in."""
    found: dict[str, list[Rated]] = {}
    for unit in source.judged():
        ends = TextSimilarity.ends if unit.protocol == "sts" else ImageSimilarity.ends
        first, second = (unit.payload[end] for end in ends)
        assert unit.aggregate.value is not None
        rated = Rated(first, second, unit.aggregate.value)
        found.setdefault(unit.protocol, []).append(rated)
    return found


def _positives(source: ReleaseSource, query_end: str) -> Iterator[tuple[str, list[int | str]]]:
    for _, units in groupby(source.units(query_end), key=lambda unit: unit.payload[query_end]):
        positive = [unit for unit in units if unit.aggregate.positive]
        if not positive:
            continue
        pairs = [(unit.images[0].id, unit.captions[0].id) for unit in positive]
        if query_end == "image":
            yield pairs[0][0], numbers_first(caption for _, caption in pairs)
        else:
            yield pairs[0][1], numbers_first(image for image, _ in pairs)
