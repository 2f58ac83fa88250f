from typing import Annotated, Any, Literal

import pytest
from pydantic import Field, ValidationError, model_validator

from hits.pipeline.plainly import plainly, sentence_of
from hits.protocol import Frozen, registry


class Thing(Frozen):
    size: int = Field(1, ge=1, le=5)
    shade: Literal["light", "dark"] = "light"
    text: str = Field("a", min_length=1, max_length=3)
    parts: str | Annotated[list[str], Field(max_length=2)] = "none"

    @model_validator(mode="after")
    def _fits_together(self) -> "Thing":
        if self.size == 5 and self.shade == "dark":
            raise ValueError("Nothing is large and dark.")
        return self


def refusal_of(**values: Any) -> ValidationError:
    with pytest.raises(ValidationError) as refused:
        Thing.model_validate(values)
    return refused.value


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"size": "many"}, "size must be a whole number"),
        ({"size": 0}, "size must be at least 1"),
        ({"size": 9}, "size must be at most 5"),
        ({"shade": "grey"}, "shade must be 'light' or 'dark'"),
        ({"text": ""}, "text must have at least 1 characters"),
        ({"colour": "red"}, "colour is not known here"),
        ({"parts": 7}, "parts must be text"),
        ({"size": 5, "shade": "dark"}, "Nothing is large and dark."),
        ({"size": 0, "text": "long"},
         "size must be at least 1; text must have at most 3 characters"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_in_words(values: dict[str, Any], said: str) -> None:
    assert plainly(refusal_of(**values)) == said


def test_a_sentence_stands_beside_its_field() -> None:
    (error,) = refusal_of(size=0).errors()

    assert sentence_of(error) == "This must be at least 1."


@pytest.mark.parametrize("slug", registry())
def test_a_row_without_anything_is_refused_in_words(slug: str) -> None:
    model = registry()[slug].row_model
    assert model is not None
    with pytest.raises(ValidationError) as refused:
        model.model_validate({"nothing": "of this"})

    said = plainly(refused.value)

    assert "nothing is not known here" in said
    assert not {"Input", "Field", "input", "Value error"} & set(said.split())
