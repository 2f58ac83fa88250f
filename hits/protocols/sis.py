"""Crisscrossed Captions' similarity of two images."""

from collections.abc import Iterator
from random import Random

from hits.protocol import ImageRef, PageSettings, Report, Source, register
from hits.protocols.similarity import (
    IMAGE_NAMES,
    NEAREST,
    Example,
    PairRow,
    Similarity,
    Wording,
    anchor_help_field,
    anchors_field,
    details_field,
    examples_field,
    image_name,
    intro_field,
    proposed_by_machines,
    question_field,
)
from hits.records import Items, Json, JudgedUnit, UnitDraft, UnitSource
from hits.sampling.crossed import i2i_csim

I2I_CSIM = "i2i_csim"


class ImagesRow(PairRow):
    image1: ImageRef
    image2: ImageRef


class ImagesSettings(PageSettings):
    nearest: int = NEAREST
    image_names: str = IMAGE_NAMES


class ImagesWording(Wording):
    intro: str = intro_field(
        "You see two images. Say how similar the scenes are by putting the slider where you think "
        "they belong."
    )
    details: str = details_field(
        "Ask yourself whether both images show the same kinds of people, things, actions and "
        "places. Two photographs can look alike and show different things, and the same scene can "
        "look different from another side."
    )
    question: str = question_field("How similar are the two scenes?")
    anchors: dict[str, str] = anchors_field(
        "Completely dissimilar",
        "Loosely related in theme",
        "Some details shared",
        "Roughly equivalent",
        "Mostly equivalent",
        "Near duplicates",
    )
    anchor_help: dict[str, str] = anchor_help_field(
        "The scenes have nothing to do with each other.",
        "The scenes differ, but their theme is loosely the same.",
        "The scenes differ, but share some kinds of people, actions, things or places.",
        "The scenes are about the same, but something that matters differs or is "
        "missing: who is there, what is done, the things or the place.",
        "The scenes are the same but for what does not matter: other people, things or "
        "places of the same kind.",
        "It is nearly the same scene, perhaps seen from another side.",
    )
    examples: list[Example] = examples_field(
        Example(
            caption="A brown dog asleep on a sofa.",
            second="A black dog asleep on an armchair.",
            answer="Near “Mostly equivalent”",
            explanation="Another dog and another seat, but the same scene.",
        ),
        Example(
            caption="A brown dog asleep on a sofa.",
            second="A cat walks past a sofa.",
            answer="Near “Some details shared”",
            explanation="A pet and a sofa, but another animal that does something else.",
        ),
        Example(
            caption="A brown dog asleep on a sofa.",
            second="Sailing boats in a harbour.",
            answer="Completely dissimilar",
            explanation="Nothing is shared.",
        ),
    )


@register
class ImageSimilarity(Similarity[ImagesSettings, ImagesWording]):
    slug = "sis"
    judgments_wanted = 5
    name = "Similarity of two images (SIS)"
    description = (
        "How similar two scenes are, on a continuous scale from 0 to 5, as in Crisscrossed "
        "Captions, which wants five judgments a pair; pairs are ordered as proposed."
    )
    template = "protocols/sis.html"
    settings_model = ImagesSettings
    wording_model = ImagesWording
    reports = frozenset({Report.SCORES, Report.RETEST})
    ordered_ends = ("image1", "image2")
    sources = frozenset({Source.ROWS, Source.PROPOSALS})
    directions = ("i2i",)
    row_model = ImagesRow
    specimens = (
        {"image1": 1, "image2": 2, "sampling_method": I2I_CSIM},
        {"image1": 3, "image2": 4, "sampling_method": I2I_CSIM},
    )
    ends = ("image1", "image2")
    is_ordered = True
    positive_from = 2.5

    def sampled(
        self, source: UnitSource, settings: ImagesSettings, random: Random
    ) -> Iterator[UnitDraft]:
        proposed = proposed_by_machines(source, settings.nearest)
        for first, second, _ in i2i_csim(proposed.lists, settings.nearest):
            yield from self.draft(first, second, I2I_CSIM, sources=proposed.of(first, second))

    def names(self, unit: JudgedUnit, settings: ImagesSettings) -> list[str]:
        return [image_name(each, settings.image_names) for each in unit.images]

    def show(self, payload: Json, shown: Json | None, items: Items) -> Json:
        return {"images": [items.images[payload[end]] for end in self.ends]}
