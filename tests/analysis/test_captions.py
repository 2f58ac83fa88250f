import pytest
from hypothesis import given
from hypothesis import strategies as st

from hits.analysis import captions
from hits.analysis.errors import DegenerateInput

texts = st.lists(st.sampled_from(["a", "red", "dog", "runs", "on", "grass"]), max_size=8).map(
    " ".join
)


@pytest.mark.parametrize(
    ("text", "nouns", "adjectives"),
    [
        ("a man riding a wave on a blue surfboard", 3, 1),
        ("The tall building near a parked car has an orange clock.", 3, 3),
        ("two young girls are sitting on a wooden bench eating ice cream", 4, 2),
        ("an orange on a plate", 2, 0),
    ],
)
def test_nouns_and_adjectives_of_captions(text: str, nouns: int, adjectives: int) -> None:
    found = captions.text_statistics([text])
    assert (found.nouns[0], found.adjectives[0]) == (nouns, adjectives)


def test_a_line_has_sums_and_means() -> None:
    line = captions.text_statistics(["a red dog", "a dog on the grass"]).line()
    assert line["texts"] == 2
    assert line["nouns"] == 3
    assert line["words a text"] == 4


def test_another_tagger_can_be_used() -> None:
    found = captions.text_statistics(["x y"], tagger=lambda words: ["noun"] * len(words))
    assert found.nouns.tolist() == [2]


@given(texts, texts, texts)
def test_word_edits_are_a_distance(one: str, two: str, three: str) -> None:
    there = captions.word_edits(one, two)
    assert there == captions.word_edits(two, one)
    assert (there == 0) == (one.split() == two.split())
    assert there <= captions.word_edits(one, three) + captions.word_edits(three, two)


def test_forced_choice_counts_half_for_equal_scores() -> None:
    found = captions.forced_choice({"a": (0.9, 0.1), "b": (0.2, 0.2), "c": (0.1, 0.4)})
    assert found.tolist() == [1, 0.5, 0]


def test_texts_left_as_proposed_are_shared_out() -> None:
    assert captions.share_confirmed(["a dog", "a cat"], ["a dog", "a red cat"]) == 0.5
    with pytest.raises(DegenerateInput):
        captions.share_confirmed(["a"], [])


def test_no_texts_are_refused() -> None:
    with pytest.raises(DegenerateInput, match="no texts"):
        captions.text_statistics([])
