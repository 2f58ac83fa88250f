import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import expm

from hits.sampling import importance, regions
from hits.sampling.arrays import Floats
from hits.sampling.errors import CannotSample

Box = tuple[float, float, float, float]

coordinates = st.floats(0, 100)
boxes = st.tuples(coordinates, coordinates, st.floats(1, 30), st.floats(1, 30))
TABLE = {
    "man": "person",
    "dog": "dog",
    "hot dog": "hot dog",
    "racket": "tennis racket",
    "tennis racket": "tennis racket",
}


def laplacian(weights: Floats) -> Floats:
    found: Floats = np.diag(weights.sum(axis=1)) - weights
    return found


def test_typicality_is_the_share_of_captions_that_speak_of_a_category() -> None:
    captions = [["a", "man"], ["a", "man", "with", "a", "racket"]]
    named = [importance.categories_in(words, TABLE) for words in captions]
    assert importance.typicality(named) == {"person": 1.0, "tennis racket": 0.5}


@pytest.mark.parametrize(
    ("caption", "categories"),
    [
        ("a man eats a hot dog", {"person", "hot dog"}),
        ("a hot man and a dog", {"person", "dog"}),
        ("dog hot dog", {"dog", "hot dog"}),
        ("tennis", set()),
        ("", set()),
    ],
)
def test_a_term_of_several_words_is_taken_as_a_whole(caption: str, categories: set[str]) -> None:
    assert importance.categories_in(caption.split(), TABLE) == categories


def test_importance_of_a_category_is_shared_by_area() -> None:
    found = importance.shared_by_area({"person": 0.8}, ["person", "person", "dog"], [30, 10, 5])
    assert found == pytest.approx([0.6, 0.2, 0])


@given(st.lists(boxes, min_size=2, max_size=5), st.integers(0, 4))
@settings(deadline=None, max_examples=50)
def test_spreading_keeps_importance_positive_and_sums_to_1(given_: list[Box], first: int) -> None:
    weights = importance.closeness([regions.box(*each) for each in given_])
    start = np.zeros(len(given_))
    start[first % len(given_)] = 2.0
    found = importance.spread(start, weights)
    assert found.sum() == pytest.approx(1)
    assert (found > -1e-12).all()
    assert found.argmax() == first % len(given_)


@given(st.lists(boxes, min_size=2, max_size=7), st.sampled_from([0.5, 1.0, 3.0]))
@settings(deadline=None, max_examples=50)
def test_the_heat_kernel_is_the_exponential_of_the_scaled_laplacian(
    given_: list[Box], tau: float
) -> None:
    weights = importance.closeness([regions.box(*each) for each in given_])
    largest = 1.01 * np.linalg.eigvalsh(laplacian(weights))[-1]
    expected = expm(-tau * laplacian(weights) / largest)
    assert importance.heat_kernel(weights, tau) == pytest.approx(expected, abs=1e-12)


def test_the_heat_kernel_is_that_of_pygsp() -> None:
    path = Path(__file__).with_name("known") / "heat_kernel_pygsp.json"
    known = json.loads(path.read_text(encoding="utf-8"))
    weights = importance.closeness([regions.box(*each) for each in known["boxes"]])
    assert weights == pytest.approx(np.array(known["weights"]), abs=1e-15)
    filtered = importance.heat_kernel(weights) @ np.array(known["signal"])
    assert filtered == pytest.approx(known["filtered"], abs=1e-12)


def test_no_time_moves_nothing_and_much_time_makes_all_alike() -> None:
    weights = np.array([[0, 1, 0.1], [1, 0, 0.5], [0.1, 0.5, 0]])
    start = np.array([1.0, 0, 0])
    assert importance.spread(start, weights, tau=0) == pytest.approx(start)
    assert importance.spread(start, weights, tau=1e4) == pytest.approx(np.full(3, 1 / 3))


def test_near_objects_gain_more_than_far_ones() -> None:
    places = [regions.box(left, 0, 10, 10) for left in (0, 12, 300)]
    found = importance.spread(np.array([1.0, 0, 0]), importance.closeness(places))
    assert found[0] > found[1] > found[2]


@given(st.lists(boxes, min_size=1, max_size=6))
@settings(deadline=None, max_examples=50)
def test_importance_goes_with_the_object_whatever_the_order(given_: list[Box]) -> None:
    objects = [
        importance.Object(
            place, ("person", "dog")[place % 2], each[2] * each[3], regions.box(*each)
        )
        for place, each in enumerate(given_)
    ]
    captions = [["a", "man", "and", "a", "dog"], ["a", "man"]]
    straight = importance.importance(captions, TABLE, objects).spread
    turned = importance.importance(captions[::-1], TABLE, objects[::-1]).spread
    assert turned[::-1] == pytest.approx(straight, abs=1e-12)


def test_two_objects_that_touch_have_a_known_importance() -> None:
    objects = [
        importance.Object(1, "person", 100.0, regions.box(0, 0, 10, 10)),
        importance.Object(2, "dog", 25.0, regions.box(10, 0, 5, 5)),
    ]
    found = importance.importance([["a", "man"], ["grass"]], TABLE, objects)
    # W = 1 between them, so the Laplacian's eigenvalues are 0 and 2, and the kernel keeps
    # (1 + exp(-1 / 1.01)) / 2 of what is where it is.
    kept = (1 + np.exp(-1 / 1.01)) / 2
    assert found.shared == pytest.approx([0.5, 0])
    assert found.spread == pytest.approx([kept, 1 - kept])


def test_objects_that_no_caption_names_are_refused() -> None:
    with pytest.raises(CannotSample, match="No caption"):
        importance.shared_by_area({"cat": 1.0}, ["dog"], [5])


def test_the_five_most_important_objects_come_in_order_with_ties_by_id() -> None:
    scores = {7: {3: 0.1, 1: 0.1, 9: 0.5, 4: 0.1, 2: 0.1, 8: 0.1}, 2: dict.fromkeys(range(4), 0.25)}
    assert importance.surveyed(scores) == {7: [9, 1, 2, 3, 4]}


@given(boxes, boxes)
@settings(deadline=None)
def test_distance_between_boxes_is_symmetric_and_that_of_their_sides(one: Box, two: Box) -> None:
    across = max(one[0] - two[0] - two[2], two[0] - one[0] - one[2], 0)
    down = max(one[1] - two[1] - two[3], two[1] - one[1] - one[3], 0)
    found = regions.distance(regions.box(*one), regions.box(*two))
    assert found == pytest.approx(np.hypot(across, down), abs=1e-6)
    assert regions.distance(regions.box(*two), regions.box(*one)) == pytest.approx(found)


def test_a_region_within_another_is_not_away_from_it() -> None:
    assert regions.distance(regions.box(0, 0, 50, 50), regions.box(20, 20, 5, 5)) == 0


def test_outlines_are_further_apart_than_the_boxes_around_them() -> None:
    one = regions.polygons([[0, 0, 10, 0, 0, 10]])
    other = regions.polygons([[10, 10, 10, 6, 6, 10], [100, 100, 110, 100, 100, 110]])
    assert regions.distance(one, other) == pytest.approx(6 / np.sqrt(2))
    assert regions.distance(regions.box(0, 0, 10, 10), regions.box(6, 6, 4, 4)) == 0
