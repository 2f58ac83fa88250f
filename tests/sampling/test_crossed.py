from collections import Counter
from collections.abc import Callable
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hits.sampling.crossed import (
    CaptionImage,
    CaptionPair,
    Chosen,
    ImagePair,
    Rated,
    c2c_cocaption,
    c2c_isim,
    c2i_intrasim,
    c2i_original,
    caption_groups,
    i2i_csim,
)
from hits.sampling.errors import CannotSample
from hits.sampling.nearest import nearest

CAPTIONS = {image: [10 * image + n for n in range(5)] for image in range(1, 31)}
IMAGE_OF = {caption: image for image, own in CAPTIONS.items() for caption in own}

scores = st.sampled_from([0.0, 1.5, 3.0, 4.2, 5.0])
images = st.integers(1, 30)
captions = st.sampled_from(sorted(IMAGE_OF))
rated_images = st.lists(st.builds(Rated, images, images, scores), max_size=30)
rated_captions = st.lists(st.builds(Rated, captions, captions, scores), max_size=30)


def turned(given_: dict[int, list[int]]) -> dict[int, list[int]]:
    return dict(reversed(given_.items()))


def similar(seed: int, k: int = 7) -> dict[int, list[int]]:
    vectors = np.random.default_rng(seed).normal(size=(30, 4))
    return nearest(list(CAPTIONS), vectors, k).lists()


def test_caption_pairs_join_a_caption_of_an_image_and_one_of_a_similar_image() -> None:
    found = c2c_isim({1: [2, 3], 2: [1, 4], 3: []}, CAPTIONS, Random(0), each=2)
    assert [(IMAGE_OF[a], IMAGE_OF[b]) for a, b in found] == [(1, 2), (1, 3), (2, 4)]


def test_which_caption_of_an_image_is_taken_is_left_to_chance() -> None:
    drawn = {c2c_isim({1: [2]}, CAPTIONS, Random(seed))[0] for seed in range(200)}
    assert drawn == {CaptionPair(a, b) for a in CAPTIONS[1] for b in CAPTIONS[2]}


@given(st.integers(0, 500), st.integers(0, 500))
@settings(deadline=None, max_examples=40)
def test_two_images_give_one_pair_of_captions_and_none_gives_one_with_itself(
    seed: int, drawn: int
) -> None:
    lists = similar(seed)
    found = c2c_isim(lists, CAPTIONS, Random(drawn))
    both = Counter(frozenset((IMAGE_OF[a], IMAGE_OF[b])) for a, b in found)
    assert set(both) == {frozenset((one, two)) for one in lists for two in lists[one][:5]}
    assert set(both.values()) == {1}
    assert {len(pair) for pair in both} == {2}


def test_an_item_in_its_own_list_is_passed_over() -> None:
    assert i2i_csim({"bow": {1: [1, 2, 3]}}, each=2) == [
        ImagePair(1, 2, ("bow",)),
        ImagePair(1, 3, ("bow",)),
    ]


@given(st.integers(0, 500))
@settings(deadline=None, max_examples=20)
def test_the_captions_of_an_image_form_a_ring(seed: int) -> None:
    """Five pairs an image, every caption in two of them, as in the released pairs."""
    found = c2c_cocaption(CAPTIONS, Random(seed))
    assert len(found) == 5 * len(CAPTIONS)
    assert len({frozenset(pair) for pair in found}) == len(found)
    assert all(IMAGE_OF[a] == IMAGE_OF[b] and a != b for a, b in found)
    assert set(Counter(caption for pair in found for caption in pair).values()) == {2}


def test_two_captions_are_one_pair_and_a_single_one_is_none() -> None:
    found = c2c_cocaption({1: [11, 12], 2: [21], 3: []}, Random(0))
    assert [set(pair) for pair in found] == [{11, 12}]


def test_image_pairs_are_ordered_and_know_their_encoders() -> None:
    lists = {"use": {1: [2, 3], 2: [1]}, "bow": {1: [2], 3: [1]}}
    assert i2i_csim(lists, each=1) == [
        ImagePair(1, 2, ("bow", "use")),
        ImagePair(2, 1, ("use",)),
        ImagePair(3, 1, ("bow",)),
    ]


@given(st.integers(0, 500), st.integers(0, 500))
@settings(deadline=None, max_examples=40)
def test_each_encoder_gives_five_image_pairs_an_image(one: int, other: int) -> None:
    found = i2i_csim({"bow": similar(one), "use": similar(other)})
    assert sum(len(pair.encoders) for pair in found) == 2 * 5 * len(CAPTIONS)
    assert len({pair[:2] for pair in found}) == len(found)
    assert all(pair.first != pair.second for pair in found)


def test_pairs_across_take_the_second_s_caption_and_the_first_s_image() -> None:
    found = c2i_intrasim(
        [Rated(10, 20, 4.0), Rated(30, 40, 4.5), Rated(50, 60, 1.0)],
        [Rated(7, 8, 3.0), Rated(9, 8, 2.0)],
        CAPTIONS | {8: [80]},
        number=4,
        random=Random(0),
    )
    assert found == [
        Chosen(40, 3, "sts", Rated(30, 40, 4.5)),
        Chosen(20, 1, "sts", Rated(10, 20, 4.0)),
        Chosen(80, 7, "sis", Rated(7, 8, 3.0)),
        Chosen(80, 9, "sis", Rated(9, 8, 2.0)),
    ]


def test_by_sis_rank_what_sts_has_chosen_is_skipped() -> None:
    single = {1: [10], 2: [20], 3: [30]}
    found = c2i_intrasim(
        [Rated(10, 20, 5.0)], [Rated(1, 2, 5.0), Rated(1, 3, 1.0)], single, 2, Random(0)
    )
    assert [(each.caption, each.image, each.by) for each in found] == [
        (20, 1, "sts"),
        (30, 1, "sis"),
    ]


@given(rated_captions, rated_images, st.integers(0, 40), st.integers(0, 500))
def test_pairs_across_are_new_and_at_most_half_by_each_rank(
    by_sts: list[Rated], by_sis: list[Rated], number: int, seed: int
) -> None:
    found = c2i_intrasim(by_sts, by_sis, CAPTIONS, number, Random(seed))
    pairs = {(each.caption, each.image) for each in found}
    count = Counter(each.by for each in found)
    assert len(pairs) == len(found)
    assert count["sts"] <= (number + 1) // 2
    assert count["sis"] <= number // 2
    assert not pairs & set(c2i_original(CAPTIONS))


@given(rated_captions, rated_images, st.randoms(use_true_random=False))
def test_the_order_of_ratings_changes_nothing(
    by_sts: list[Rated], by_sis: list[Rated], random: Random
) -> None:
    def sample(captions: list[Rated], images: list[Rated]) -> list[Chosen]:
        return c2i_intrasim(captions, images, CAPTIONS, 12, Random(3))

    straight = sample(by_sts, by_sis)
    random.shuffle(by_sts)
    random.shuffle(by_sis)
    assert sample(by_sts, by_sis) == straight


def test_every_original_pair_is_taken_once() -> None:
    assert c2i_original({2: [21, 20], 1: [10]}) == [(10, 1), (20, 2), (21, 2)]


Sampler = Callable[[dict[int, list[int]], dict[int, list[int]]], object]


@pytest.mark.parametrize(
    "sampler",
    [
        lambda lists, own: c2c_isim(lists, own, Random(1)),
        lambda lists, own: c2c_cocaption(own, Random(1)),
        lambda lists, own: i2i_csim({"use": lists}),
        lambda lists, own: c2i_original(own),
    ],
)
def test_the_order_of_images_and_captions_changes_nothing(sampler: Sampler) -> None:
    lists = similar(5)
    backwards = {image: own[::-1] for image, own in reversed(CAPTIONS.items())}
    assert sampler(turned(lists), backwards) == sampler(lists, CAPTIONS)


def test_an_image_without_captions_is_refused_by_name() -> None:
    with pytest.raises(CannotSample, match="Image 99 has no captions"):
        c2c_isim({1: [99]}, CAPTIONS, Random(0))


def test_a_group_s_vector_is_the_mean_of_its_captions() -> None:
    vectors = np.array([[1.0, 0], [0, 1], [4, 4]])
    groups, means = caption_groups({5: [52, 51], 3: [31], 4: []}, [51, 52, 31], vectors)
    assert groups.tolist() == [3, 5]
    assert means.tolist() == [[4, 4], [0.5, 0.5]]


def test_a_whole_split_gives_the_paper_s_counts() -> None:
    """5,000 images with five captions each: 25,000 pairs of co-captions and of originals, and
    25,000 proposals of an encoder, of which mutual ones join: 19,009 in the paper.
    """
    own = {image: [5 * image + n for n in range(5)] for image in range(5_000)}
    vectors = np.random.default_rng(0).normal(size=(5_000, 16)).astype(np.float32)
    lists = nearest(range(5_000), vectors, 5).lists()
    mutual = sum(one in lists[two] for one in lists for two in lists[one]) // 2
    assert len(c2c_isim(lists, own, Random(0))) == 25_000 - mutual
    assert len(i2i_csim({"use": lists})) == 25_000
    assert len(c2c_cocaption(own, Random(0))) == 25_000
    originals = c2i_original(own)
    assert len(originals) == 25_000
    assert originals[0] == CaptionImage(0, 0)
