import pytest

from hits.analysis import surveys


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
