from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hits.analysis.rankings import ground_truth, rankings_from_layout
from hits.analysis.retrieval import average_precision_at_r
from hits.sampling.errors import CannotSample
from hits.sampling.rankings import comparisons, five_rankings

RIGHT = list(range(1, 9))
WRONG = list(range(101, 112))
counts = st.integers(5, 8)


def test_the_five_rankings_of_eight_positives_are_those_of_the_paper() -> None:
    assert five_rankings(RIGHT, WRONG) == {
        "A": (101, 2, 3, 4, 5, 6, 7, 8),
        "B": (1, 102, 103, 104, 105, 106, 107, 108),
        "C": (101, 102, 103, 104, 105, 6, 7, 8),
        "D": (101, 102, 103, 104, 5, 106, 107, 108),
        "E": (101, 102, 103, 104, 105, 106, 107, 108),
    }


def test_their_map_at_r_is_that_of_the_paper() -> None:
    truth = ground_truth({0: RIGHT})
    found = {
        system: 100 * average_precision_at_r(rankings_from_layout({0: images}), truth)[0]
        for system, images in five_rankings(RIGHT, WRONG).items()
    }
    assert found == pytest.approx({"A": 66.0, "B": 12.5, "C": 10.3, "D": 2.5, "E": 0}, abs=0.05)


@given(counts)
def test_a_list_shows_as_many_images_as_there_are_positives(number: int) -> None:
    found = five_rankings(RIGHT[:number], WRONG)
    assert {len(set(images)) for images in found.values()} == {number}


@given(counts)
def test_all_ten_pairs_are_compared_and_only_five_positives_make_c_into_e(number: int) -> None:
    found = comparisons(RIGHT[:number], WRONG)
    assert len(found) == 10
    systems = Counter(shown.system for pair in found for shown in pair)
    assert systems == (
        {"A": 4, "B": 4, "D": 4, "E": 8} if number == 5 else dict.fromkeys("ABCDE", 4)
    )


def test_forty_captions_of_which_three_have_five_positives_give_table_d_1_s_totals() -> None:
    """Eight people a question: 3,200 answers, 24 of E with itself."""
    answers: Counter[str] = Counter()
    for number in [5] * 3 + [6] * 20 + [8] * 17:
        for one, other in comparisons(RIGHT[:number], WRONG):
            answers["".join(sorted(one.system + other.system))] += 8
    assert answers.total() == 3_200
    assert answers["EE"] == 24
    assert {answers["".join(sorted("C" + other))] for other in "ABDE"} == {296}
    assert {answers[other + "E"] for other in "ABD"} == {344}


@pytest.mark.parametrize("number", [4, 9])
def test_other_numbers_of_positives_are_refused(number: int) -> None:
    with pytest.raises(CannotSample, match="5 to 8"):
        five_rankings(list(range(number)), WRONG)


@pytest.mark.parametrize("wrong", [[101, 102], [101, 102, 103, 104, 1], [101, 101, 102, 103, 104]])
def test_wrong_images_are_others_and_enough(wrong: list[int]) -> None:
    with pytest.raises(CannotSample, match="5 other images"):
        five_rankings(RIGHT[:5], wrong)
