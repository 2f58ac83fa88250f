from collections.abc import Callable
from itertools import chain
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hits.analysis import surveys
from hits.analysis.errors import DegenerateInput


def test_images_without_variation_have_no_tau_and_are_named() -> None:
    found = surveys.per_image_tau(
        {"1": [1, 2, 3], "2": [2, 2, 2], "3": [1, 2, 3]}, {"1": [1, 2, 3], "2": [1, 2, 3]}
    )
    assert found.without == ("2",)
    assert found.mean == pytest.approx(1)


def test_scores_get_the_survey_s_frequencies_and_keep_their_order() -> None:
    scores = {"1": [0.9, 0.1], "2": [0.5, 0.3]}
    assert surveys.at_frequencies_of(scores, {"1": [3, 3], "2": [1, 2]}) == {
        "1": [3, 1],
        "2": [3, 2],
    }


def test_majorities_leave_out_images_on_which_people_are_divided() -> None:
    votes = {"1": ["1", "2", "1"], "2": ["1", "2"], "3": ["2"]}
    assert surveys.majority_of_votes(votes) == {"1": "1", "3": "2"}
    assert surveys.unanimity({"1": "121", "2": "222", "3": "11"}, 3) == 0.5


def test_suspicious_answers_are_named_with_their_reasons_and_stay() -> None:
    ratings = {"a": [2, 2, 2], "b": [1, 2, 3], "c": [3, 1, 2], "d": [1, 3, 2]}
    found = surveys.suspicious(ratings, {"a": 2.0, "b": 60.0}, fastest=5)
    assert found == {"a": ["too fast", "no variation"]}
    assert len(ratings) == 4


def test_a_metric_agrees_where_it_prefers_what_people_chose() -> None:
    values, _ = surveys.agreement_with_people(
        {"1": "1", "2": "2", "3": "1"},
        {"1": 0.5, "2": 0.5, "3": 0.1},
        {"1": 0.2, "2": 0.2, "3": 0.1},
    )
    assert values.tolist() == [1, 0, 0.5]


RATED = st.dictionaries(
    st.sampled_from("abcdefgh"),
    st.lists(st.integers(1, 3), min_size=5, max_size=5),
    min_size=1,
)


@given(RATED, RATED, st.permutations(range(5)))
def test_tau_has_its_bounds_and_knows_no_order_of_objects(
    one: dict[str, list[int]], two: dict[str, list[int]], order: list[int]
) -> None:
    def turned(ratings: dict[str, list[int]]) -> dict[str, list[int]]:
        return {image: [own[place] for place in order] for image, own in ratings.items()}

    try:
        found = surveys.per_image_tau(one, two)
    except DegenerateInput:
        return
    assert ((found.values >= -1 - 1e-12) & (found.values <= 1 + 1e-12)).all()
    assert surveys.per_image_tau(two, one).mean == pytest.approx(found.mean)
    assert surveys.per_image_tau(turned(one), turned(two)).mean == pytest.approx(found.mean)
    against = {image: [-rating for rating in own] for image, own in two.items()}
    assert surveys.per_image_tau(one, against).mean == pytest.approx(-found.mean)


@given(RATED, st.integers(0, 2**32 - 1))
def test_mapped_scores_have_the_survey_s_values_each_as_often(
    survey: dict[str, list[int]], seed: int
) -> None:
    random = Random(seed)
    scores = {image: [random.random() for _ in own] for image, own in survey.items()}
    mapped = surveys.at_frequencies_of(scores, survey)
    assert sorted(chain(*mapped.values())) == sorted(chain(*survey.values()))
    flat = sorted(
        (score, rating)
        for image in scores
        for score, rating in zip(scores[image], mapped[image], strict=True)
    )
    assert [rating for _, rating in flat] == sorted(rating for _, rating in flat)


@given(st.dictionaries(st.text(min_size=1), st.lists(st.sampled_from("12"), min_size=1)))
def test_a_majority_has_more_votes_than_the_other_side(votes: dict[str, list[str]]) -> None:
    for image, side in surveys.majority_of_votes(votes).items():
        assert votes[image].count(side) > len(votes[image]) / 2


@pytest.mark.parametrize(
    "ask",
    [
        lambda: surveys.per_image_tau({"1": [1, 1]}, {"1": [1, 2]}),
        lambda: surveys.per_image_tau({"1": [1, 2, 3]}, {"1": [1, 2]}),
        lambda: surveys.at_frequencies_of({"1": [0.1]}, {"2": [1]}),
        lambda: surveys.at_frequencies_of({"1": [0.1]}, {"1": [1, 2]}),
        lambda: surveys.unanimity({"1": "11"}, 3),
        lambda: surveys.suspicious({}, {}, fastest=0),
        lambda: surveys.agreement_with_people({"1": "1"}, {}, {}),
    ],
)
def test_surveys_that_determine_nothing_are_refused(ask: Callable[[], object]) -> None:
    with pytest.raises(DegenerateInput):
        ask()
