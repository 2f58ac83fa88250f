import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hits.analysis import importance, regions, surveys
from hits.analysis.errors import DegenerateInput

coordinates = st.floats(0, 100)
boxes = st.tuples(coordinates, coordinates, st.floats(1, 30), st.floats(1, 30))


def test_typicality_is_the_share_of_captions_that_speak_of_a_category() -> None:
    words = {"man": "person", "racket": "tennis racket"}
    captions = [importance.categories_in({"a", "man"}, words), {"person", "tennis racket"}]
    assert importance.typicality(captions) == {"person": 1.0, "tennis racket": 0.5}


def test_importance_of_a_category_is_shared_by_area() -> None:
    found = importance.shared_by_area({"person": 0.8}, ["person", "person", "dog"], [30, 10, 5])
    assert found == pytest.approx([0.6, 0.2, 0])


@given(st.lists(boxes, min_size=2, max_size=5), st.integers(0, 4))
@settings(deadline=None, max_examples=50)
def test_spreading_keeps_importance_positive_and_sums_to_1(
    given_: list[tuple[float, float, float, float]], first: int
) -> None:
    weights = importance.closeness([regions.box(*each) for each in given_])
    start = np.zeros(len(given_))
    start[first % len(given_)] = 2.0
    found = importance.spread(start, weights)
    assert found.sum() == pytest.approx(1)
    assert (found > -1e-12).all()
    assert found.argmax() == first % len(given_)


def test_no_time_moves_nothing_and_much_time_makes_all_alike() -> None:
    weights = np.array([[0, 1, 0.1], [1, 0, 0.5], [0.1, 0.5, 0]])
    start = np.array([1.0, 0, 0])
    assert importance.spread(start, weights, tau=0) == pytest.approx(start)
    assert importance.spread(start, weights, tau=1e4) == pytest.approx(np.full(3, 1 / 3))


def test_near_objects_gain_more_than_far_ones() -> None:
    places = [regions.box(left, 0, 10, 10) for left in (0, 12, 300)]
    found = importance.spread(np.array([1.0, 0, 0]), importance.closeness(places))
    assert found[0] > found[1] > found[2]


def test_objects_that_no_caption_names_are_refused() -> None:
    with pytest.raises(DegenerateInput, match="No caption"):
        importance.shared_by_area({"cat": 1.0}, ["dog"], [5])


@given(boxes, boxes)
@settings(deadline=None)
def test_distance_between_boxes_is_symmetric_and_that_of_their_sides(
    one: tuple[float, float, float, float], two: tuple[float, float, float, float]
) -> None:
    across = max(one[0] - two[0] - two[2], two[0] - one[0] - one[2], 0)
    down = max(one[1] - two[1] - two[3], two[1] - one[1] - one[3], 0)
    found = regions.distance(regions.box(*one), regions.box(*two))
    assert found == pytest.approx(np.hypot(across, down), abs=1e-6)
    assert regions.distance(regions.box(*two), regions.box(*one)) == pytest.approx(found)


def test_a_region_within_another_is_not_away_from_it() -> None:
    assert regions.distance(regions.box(0, 0, 50, 50), regions.box(20, 20, 5, 5)) == 0


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
