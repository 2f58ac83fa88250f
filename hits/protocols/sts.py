"""Crisscrossed Captions' similarity of two texts."""

from collections.abc import Iterator, Sequence
from random import Random
from typing import Any

from pydantic import Field

from hits.protocol import CaptionRef, FieldErrors, PageSettings, Source, only, register
from hits.protocols.similarity import (
    CAPTION_NAMES,
    NEAREST,
    Example,
    PairRow,
    Similarity,
    Wording,
    anchor_help_field,
    anchors_field,
    caption_name,
    details_field,
    examples_field,
    intro_field,
    proposed_by_machines,
    question_field,
)
from hits.records import Fields, Items, Json, JudgedUnit, UnitDraft, UnitSource
from hits.sampling.crossed import c2c_cocaption, c2c_isim

LONGEST_COMMENT = 2000
C2C_ISIM, C2C_COCAPTION = "c2c_isim", "c2c_cocaption"


class TextsRow(PairRow):
    caption1: CaptionRef
    caption2: CaptionRef


class TextsSettings(PageSettings):
    nearest: int = NEAREST
    cocaptions: bool = Field(
        False,
        title="Ask about captions of one image",
        description="Besides pairs of similar images’ captions: each caption of an image with two "
        "others of it, in a ring, as in the paper.",
    )
    comment: bool = Field(
        True, title="Leave room for a comment", description="Under the scale; never required."
    )
    caption_names: str = CAPTION_NAMES


class TextsWording(Wording):
    intro: str = intro_field(
        "You see two short texts. Say how similar they are in meaning by putting the slider where "
        "you think they belong."
    )
    details: str = details_field(
        "Ask yourself whether both speak of the same people, things, actions and places. "
        "The same meaning can be said in very different words, and nearly the same words can mean "
        "something else. Slips of spelling and clumsy wording do not matter."
    )
    question: str = question_field("How similar are the two texts in meaning?")
    anchors: dict[str, str] = anchors_field(
        "On different topics",
        "Not equivalent, but on the same topic",
        "Not equivalent, but some details are shared",
        "Roughly equivalent, but something important differs",
        "Mostly equivalent, only small details differ",
        "Completely equivalent",
    )
    anchor_help: dict[str, str] = anchor_help_field(
        "The texts have nothing to do with each other.",
        "They speak of the same kind of thing, but say different things of it.",
        "They say different things, and some of the details are the same.",
        "They say about the same, but something that matters is different or missing.",
        "They say the same but for details that do not matter.",
        "They mean the same thing.",
    )
    comment: str = Field("Comment (optional)", title="Label of the comment")
    examples: list[Example] = examples_field(
        Example(
            caption="A boy kicks a ball across the lawn.",
            second="A ball is kicked over the grass by a boy.",
            answer="Completely equivalent",
            explanation="Other words, the same meaning.",
        ),
        Example(
            caption="A boy kicks a ball across the lawn.",
            second="Two girls throw a ball on a lawn.",
            answer="A little above “Some details are shared”",
            explanation="The ball and the lawn are shared; who plays and how is not.",
        ),
        Example(
            caption="A boy kicks a ball across the lawn.",
            second="A plate of pancakes with syrup.",
            answer="On different topics",
            explanation="Nothing is shared.",
        ),
    )


@register
class TextSimilarity(Similarity[TextsSettings, TextsWording]):
    slug = "sts"
    judgments_wanted = 5
    name = "Similarity of two texts (STS)"
    description = (
        "How similar two captions are in meaning, on a continuous scale from 0 to 5, as in "
        "Crisscrossed Captions, which wants five judgments a pair."
    )
    template = "protocols/sts.html"
    settings_model = TextsSettings
    shown_settings = frozenset({"comment"})
    wording_model = TextsWording
    sources = frozenset({Source.ROWS, Source.PROPOSALS, Source.CORPUS})
    directions = ("i2i",)
    row_model = TextsRow
    specimens = (
        {"caption1": 1, "caption2": 3, "sampling_method": C2C_ISIM},
        {"caption1": 2, "caption2": 5, "sampling_method": C2C_ISIM},
    )
    ends = ("caption1", "caption2")
    positive_from = 3
    columns = ("score", "moved", "comment")
    remarks = frozenset({"comment"})

    def sampled(
        self, source: UnitSource, settings: TextsSettings, random: Random
    ) -> Iterator[UnitDraft]:
        proposed = proposed_by_machines(source, settings.nearest)
        captions = source.captions_of({image for pair in proposed.sources for image in pair})
        image_of = {caption: image for image, own in captions.items() for caption in own}
        lists = proposed.together(captions)
        longest = max(map(len, lists.values()), default=1)
        for pair in c2c_isim(lists, captions, random, each=longest):
            images = image_of[pair.first], image_of[pair.second]
            sources = proposed.of(*images) or proposed.of(*reversed(images))
            yield from self.draft(*pair, C2C_ISIM, sources=sources)
        if settings.cocaptions:
            groups = {image.id: list(image.captions) for image in source.images()}
            for pair in c2c_cocaption(groups, random):
                yield from self.draft(*pair, C2C_COCAPTION)

    def names(self, unit: JudgedUnit, settings: TextsSettings) -> list[str]:
        return [caption_name(each, settings.caption_names) for each in unit.captions]

    def arrange(self, payload: Json, turn: int, random: Random) -> Json:
        return {"order": list(self.ends if turn % 2 == 0 else reversed(self.ends))}

    def show(self, payload: Json, shown: Json | None, items: Items) -> Json:
        order = shown["order"] if shown else self.ends
        return {"captions": [items.captions[payload[end]] for end in order]}

    def parse(
        self, fields: Fields, payload: Json, shown: Json | None, settings: TextsSettings
    ) -> Json:
        answer = super().parse(fields, payload, shown, settings)
        comment = only(fields, "comment").strip()
        if not settings.comment or not comment:
            return answer
        if len(comment) > LONGEST_COMMENT:
            raise FieldErrors({"comment": f"At most {LONGEST_COMMENT} characters."})
        return answer | {"comment": comment}

    def row(self, answer: Json) -> Sequence[Any]:
        return *super().row(answer), answer.get("comment", "")
