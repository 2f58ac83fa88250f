"""What BISON's two stages for people have in common."""

from typing import Self

from pydantic import Field, model_validator

from hits.protocol import Frozen, ImageRef, Row

CAPTION, NONE = "caption", "none"
POSITIVE, NEGATIVE, BOTH, NEITHER = "positive", "negative", "both", "neither"
VERDICTS = (POSITIVE, NEGATIVE, BOTH, NEITHER)
COFFEE, TOWER = "examples/coffee.jpg", "examples/tower.jpg"


class Example(Frozen):
    image_url: str = Field(
        "",
        title="Left image",
        description="An address that begins with https://, or a file of this site.",
        examples=[COFFEE],
    )
    second_image_url: str = Field("", title="Right image", examples=[TOWER])
    caption: str = Field(title="Caption", examples=["A small spoon lies on a red saucer."])
    answer: str = Field(title="Right answer, or whether this is one", examples=["Good"])
    explanation: str = Field(title="Why", examples=["Only the left image has a spoon."])


class PairRow(Row):
    positive: ImageRef
    negative: ImageRef

    @model_validator(mode="after")
    def _has_two_images(self) -> Self:
        if self.positive == self.negative:
            raise ValueError("Positive and negative are the same image.")
        return self


def images_key(caption: int, positive: int, negative: int) -> str:
    return f"{caption}:{positive}:{negative}"
