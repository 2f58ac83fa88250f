"""VL-detector-eval's second survey: how much objects matter to a caption of one's own."""

from collections.abc import Sequence
from random import Random
from typing import Any

from pydantic import Field

from hits.protocol import FieldErrors, only, register
from hits.protocols.importance import (
    EXAMPLE_IMAGE,
    LONGEST_CAPTION,
    MAIN_WORDS,
    Example,
    Rated,
    Settings,
    Wording,
)
from hits.records import Fields, Json


class RelevanceSettings(Settings):
    fewest_words: int = Field(
        2, ge=1, le=50, title="Words that a caption has at least", description="Counted by spaces."
    )


class RelevanceWording(Wording):
    intro: str = Field(
        "First write a caption: one sentence that says what the image shows. Then five objects are "
        "boxed and lettered A to E. Say of each how relevant it is to the caption that you wrote. "
        "Several objects may get the same answer. An image becomes larger when you click on it.",
        title="Instructions",
        description="Stand above the examples, and open before the first page.",
    )
    caption_question: str = Field(
        "Describe the image in one sentence.", title="Question before the objects are shown"
    )
    written: str = Field(
        "My caption is finished: show the objects",
        title="Label of what opens the ratings",
        description="The caption stays as it is from then on.",
    )
    question: str = Field(
        "How relevant is each object to your caption?", title="Question under each image"
    )
    choices: dict[str, str] = Field(
        {"3": "Very relevant", "2": "Somewhat relevant", "1": "Not relevant"},
        title="Answer",
        description="As the rater reads it; what is stored is the number.",
    )
    choice_help: dict[str, str] = Field(
        {
            "3": "The caption is about it.",
            "2": "It belongs to what the caption says.",
            "1": "The caption would be the same without it.",
        },
        title="What the answer means",
        description="In the instructions.",
    )
    examples: list[Example] = Field(
        [
            Example(
                caption="Caption: “Somebody is served a coffee.” A: the cup of coffee",
                answer="Very relevant",
                explanation="The caption speaks of it.",
                image_url=EXAMPLE_IMAGE,
            ),
            Example(
                caption="Caption: “Somebody is served a coffee.” B: the spoon beside it",
                answer="Somewhat relevant",
                explanation="It is not named, but it belongs to a coffee that is served.",
                image_url=EXAMPLE_IMAGE,
            ),
        ],
        title="Example",
        description="They stand in the instructions, in this order.",
    )


@register
class Relevance(Rated[RelevanceSettings, RelevanceWording]):
    slug = "relevance"
    name = "Relevance of objects to one’s own caption"
    description = (
        "A caption is written first; then five boxed objects are rated by their relevance to it."
    )
    template = "protocols/relevance.html"
    scripts = ("js/protocols/relevance.js",)
    settings_model = RelevanceSettings
    shown_settings = frozenset({"fewest_words"})
    wording_model = RelevanceWording
    feeders = frozenset({"prominence"})
    part = "Caption"
    columns = ("ratings", "caption")
    written = frozenset({"caption"})

    def parse(
        self, fields: Fields, payload: Json, shown: Json | None, settings: RelevanceSettings
    ) -> Json:
        caption = " ".join(only(fields, "caption").split())
        errors: dict[str, str] = {}
        if len(caption.split()) < settings.fewest_words:
            errors["caption"] = f"Write a caption of at least {settings.fewest_words} words."
        if len(caption) > LONGEST_CAPTION:
            errors["caption"] = f"At most {LONGEST_CAPTION} characters."
        answer: Json = {}
        try:
            answer = super().parse(fields, payload, shown, settings)
        except FieldErrors as missing:
            errors |= missing.errors
        if errors:
            raise FieldErrors(errors)
        return {"caption": caption, **answer}

    def ways(
        self, payload: Json, shown: Json | None, settings: RelevanceSettings, random: Random
    ) -> Sequence[Fields]:
        words = random.choices(MAIN_WORDS, k=settings.fewest_words + random.randrange(6))
        caption = {"caption": [f"{' '.join(words)}."]}
        return [{**caption, **ways} for ways in super().ways(payload, shown, settings, random)]

    def describe(self, answer: Json, wording: RelevanceWording) -> str:
        ratings = super().describe(answer, wording)
        return f"{ratings} · “{answer['caption']}”" if "caption" in answer else ratings

    def row(self, answer: Json) -> Sequence[Any]:
        return (*super().row(answer), answer["caption"])
