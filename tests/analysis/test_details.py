"""What a captioner is asked about a text, and how its answers become part of one sentence."""

import pytest

from hits.analysis.details import completed, merged, openings, prompt, two_sentences

WOMAN = "A woman standing on a sidewalk."


def test_the_prompts_of_table_1_are_about_the_things_in_the_text() -> None:
    assert openings(WOMAN) == [
        "it is",
        "there is",
        "there are",
        "the woman is",
        "the color of the woman",
        "the woman wears",
        "the woman in",
        "the sidewalk is",
        "the color of the sidewalk",
    ]
    assert openings("two dogs beside a double decker bus")[3:] == [
        "the dogs are",
        "the color of the dogs",
        "the bus is",
        "the color of the bus",
    ]


def test_a_captioner_goes_on_behind_the_text_and_its_answer_ends_with_the_sentence() -> None:
    assert prompt(WOMAN, "it is") == "A woman standing on a sidewalk. it is"
    assert completed("it is", " at  Night. there is a dog") == "it is at night"
    assert completed("it is", " ... ") is None
    assert (
        two_sentences(WOMAN, "it is at night") == "A woman standing on a sidewalk. it is at night."
    )


@pytest.mark.parametrize(
    ("text", "detail", "made"),
    [
        (WOMAN, "it is at night", "A woman standing on a sidewalk at night."),
        (WOMAN, "the woman wears a white jacket",
         "A woman in a white jacket standing on a sidewalk."),
        (WOMAN, "the sidewalk is dark.", "A woman standing on a dark sidewalk."),
        (WOMAN, "the color of the sidewalk is orange", "A woman standing on an orange sidewalk."),
        (WOMAN, "the sidewalk is covered in snow",
         "A woman standing on a sidewalk covered in snow."),
        (WOMAN, "there is a dog", "A woman standing on a sidewalk with a dog."),
        (WOMAN, "it is sunny", "A woman standing on a sidewalk and it is sunny."),
        ("a stroller in front of a double decker bus", "the color of the bus is green and white",
         "a stroller in front of a green and white double decker bus"),
        ("Chairs under a window.", "the chairs are orange", "Orange chairs under a window."),
    ],
)  # fmt: skip
def test_a_detail_becomes_part_of_the_one_sentence(text: str, detail: str, made: str) -> None:
    assert merged(text, detail) == made


@pytest.mark.parametrize("detail", ["it is on a sidewalk", "there is a woman", "it is."])
def test_a_detail_that_tells_nothing_new_makes_no_text(detail: str) -> None:
    assert merged(WOMAN, detail) is None
