import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hits.sampling.errors import CannotSample
from hits.sampling.nearest import Nearest, nearest, nearest_to
from hits.sampling.pools import by_captions, coarse_texts, image_pool

SPLITS = dict.fromkeys(range(100), "unlabelled") | {1: "test", 2: "test", 50: "train"}
ALLOWED = {"test", "unlabelled"}


def test_a_target_s_set_takes_both_lists_in_turn_without_repeats() -> None:
    found = image_pool([1], {1: [1, 10, 11, 12]}, {1: [20, 10, 1, 21]}, SPLITS, ALLOWED, size=5)
    assert found.sets == {1: [1, 20, 10, 11, 12]}


def test_pools_are_joined_without_repeats() -> None:
    lists = {1: [10, 11], 2: [11, 12]}
    found = image_pool([2, 1], lists, lists, SPLITS, ALLOWED, size=3)
    assert found.images == [1, 2, 10, 11, 12]


def test_images_of_other_splits_are_passed_over() -> None:
    found = image_pool([1], {1: [50, 10]}, {1: [50, 11]}, SPLITS, ALLOWED, size=3)
    assert found.sets == {1: [1, 10, 11]}


def test_a_target_of_another_split_is_refused() -> None:
    with pytest.raises(CannotSample, match="train"):
        image_pool([50], {50: [1]}, {50: [2]}, SPLITS, ALLOWED, size=2)


def test_lists_that_are_too_short_are_said_to_be_so() -> None:
    with pytest.raises(CannotSample, match="3 images of 10"):
        image_pool([1], {1: [10, 11]}, {1: [10]}, SPLITS, ALLOWED)


def test_captions_of_one_image_are_joined_by_their_best_score_with_ties_by_id() -> None:
    found = Nearest(
        np.array([101, 102, 201]),
        np.array([[7, 9], [8, 9], [3, 4]]),
        np.array([[0.9, 0.5], [0.7, 0.7], [0.2, 0.1]]),
    )
    assert by_captions(found, {101: 1, 102: 1, 201: 2}) == {1: [7, 8, 9], 2: [3, 4]}


@given(st.integers(0, 500))
@settings(deadline=None, max_examples=30)
def test_every_set_has_ten_images_itself_first_and_the_pool_has_all_of_them(seed: int) -> None:
    generator = np.random.default_rng(seed)
    images, texts = generator.normal(size=(60, 6)), generator.normal(size=(50, 6))
    targets = list(range(10))
    image_of = {1000 + text: text % 10 for text in range(50)}
    by_image = nearest(range(60), images, 12).lists()
    by_text = by_captions(nearest_to(list(image_of), texts, range(60), images, 12), image_of)
    found = image_pool(targets, by_image, by_text, dict.fromkeys(range(60), "test"), {"test"})
    assert all(found.sets[target][0] == target for target in targets)
    assert {len(set(each)) for each in found.sets.values()} == {10}
    assert found.images == sorted(set().union(*found.sets.values()))
    again = image_pool(targets[::-1], by_image, by_text, dict.fromkeys(range(60), "test"), {"test"})
    assert again == found


def test_a_text_is_coarse_when_its_own_image_is_not_ranked_first() -> None:
    ranked = {12: [2, 1], 11: [1, 2], 21: [1, 2], 22: []}
    image_of = {11: 1, 12: 1, 21: 2, 22: 2}
    assert coarse_texts(ranked, image_of) == {11: False, 12: True, 21: True, 22: True}
