import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hits.sampling.errors import CannotSample
from hits.sampling.nearest import nearest
from hits.sampling.neighbours import described, neighbour_pairs

WORDS = {
    "a": np.array([0.0, 0.0, 0.5]),
    "cat": np.array([1.0, 0.0, 0.0]),
    "kitten": np.array([0.9, 0.1, 0.0]),
    "bus": np.array([0.0, 1.0, 0.0]),
}


def test_an_image_s_vector_is_the_mean_over_all_words_of_all_its_captions() -> None:
    found = described({2: ["a", "cat", "a", "bus"], 1: ["kitten", "unheard-of"]}, WORDS)
    assert found.images.tolist() == [1, 2]
    assert found.vectors == pytest.approx(np.array([[0.9, 0.1, 0], [0.25, 0.25, 0.25]]))


def test_images_without_a_known_word_are_named() -> None:
    assert described({1: ["cat"], 2: ["unheard-of"], 3: []}, WORDS).without == [2, 3]
    with pytest.raises(CannotSample, match="No image"):
        described({2: ["unheard-of"]}, WORDS)


@given(st.lists(st.sampled_from(sorted(WORDS)), min_size=1, max_size=30))
def test_the_order_of_words_changes_nothing(words: list[str]) -> None:
    one, other = described({1: words}, WORDS), described({1: words[::-1]}, WORDS)
    assert (one.vectors == other.vectors).all()


def test_the_nearest_image_is_the_negative_of_each_image() -> None:
    images = described({1: ["cat"], 2: ["kitten"], 3: ["bus"]}, WORDS)
    pairs = neighbour_pairs(nearest(images.images.tolist(), images.vectors, 1))
    assert [(each.positive, each.negative) for each in pairs] == [(1, 2), (2, 1), (3, 2)]


@given(st.integers(0, 1000), st.integers(3, 40), st.integers(1, 3), st.integers(0, 100))
@settings(deadline=None, max_examples=50)
def test_first_neighbours_come_before_second_ones_and_close_ones_before_far_ones(
    seed: int, images: int, each: int, number: int
) -> None:
    vectors = np.random.default_rng(seed).normal(size=(images, 5))
    found = nearest(range(images), vectors, each)
    lists = found.lists()
    pairs = neighbour_pairs(found, number)
    places = [(lists[pair.positive].index(pair.negative), -pair.score) for pair in pairs]
    assert places == sorted(places)
    assert len(pairs) == min(number, images * min(each, images - 1))
    assert len({pair[:2] for pair in pairs}) == len(pairs)
    assert all(pair.positive != pair.negative for pair in pairs)


def test_all_pairs_are_taken_where_no_number_is_given() -> None:
    vectors = np.random.default_rng(0).normal(size=(20, 5))
    assert len(neighbour_pairs(nearest(range(20), vectors, 2))) == 40
