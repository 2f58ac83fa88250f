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


OLD, FINER = "a bus on a road", "a green bus on a wet road"


def test_a_report_tells_what_became_of_proposed_texts() -> None:
    report = captions.renovation_report(
        [
            (OLD, FINER, FINER),
            (OLD, FINER, "a red bus on a wet road"),
            (OLD, FINER, "a bus on a dry, grey road"),
            (OLD, "a bus of the of", None),
        ]
    )
    assert report.texts == 4
    assert (report.confirmed, report.corrected, report.hopeless) == (0.25, 0.5, 0.25)
    assert report.words_a_correction == (1 + 3) / 2


def test_a_report_counts_words_before_and_after_where_texts_were_renovated() -> None:
    report = captions.renovation_report([(OLD, FINER, FINER), (OLD, FINER, None)])
    assert report.before == captions.text_statistics([OLD]).line()
    assert report.after == captions.text_statistics([FINER]).line()
    assert report.after["adjectives"] == 2


def test_a_report_on_hopeless_texts_has_nothing_to_compare() -> None:
    report = captions.renovation_report([(OLD, FINER, None)])
    assert (report.hopeless, report.words_a_correction) == (1, None)
    assert report.before is report.after is None


def test_a_report_on_no_texts_is_refused() -> None:
    with pytest.raises(DegenerateInput):
        captions.renovation_report([])


def test_no_texts_are_refused() -> None:
    with pytest.raises(DegenerateInput, match="no texts"):
        captions.text_statistics([])
