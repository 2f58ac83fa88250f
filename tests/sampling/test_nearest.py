import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hits.sampling import nearest as searching
from hits.sampling.arrays import Floats
from hits.sampling.errors import CannotSample
from hits.sampling.nearest import nearest, nearest_to


def every_cosine(vectors: Floats) -> Floats:
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    found: Floats = unit @ unit.T
    return found


def many(seed: int, items: int, length: int) -> tuple[list[int], Floats]:
    generator = np.random.default_rng(seed)
    ids: list[int] = generator.permutation(10 * items)[:items].tolist()
    return ids, generator.normal(size=(items, length))


def test_neighbours_of_four_directions_are_known() -> None:
    vectors = np.array([[1.0, 0], [3, 1], [0, 2], [-1, 0]])
    found = nearest([10, 20, 30, 40], vectors, 2)
    assert found.lists() == {10: [20, 30], 20: [10, 30], 30: [20, 10], 40: [30, 20]}
    assert found.scores[0] == pytest.approx([3 / np.sqrt(10), 0], abs=1e-6)


def test_ties_are_broken_by_id_also_when_many_share_the_last_place() -> None:
    ids = [90, 80, 70, *range(1, 61)]
    vectors = np.array([[1.0, 0.3], [1, 0.2], [0, 1], *([[1, 0.1]] * 60)])
    assert nearest(ids, vectors, 5).lists()[80] == [90, 1, 2, 3, 4]


@given(st.integers(0, 10_000), st.integers(2, 40), st.integers(1, 12))
@settings(deadline=None, max_examples=60)
def test_neighbours_are_those_of_a_plain_search(seed: int, items: int, k: int) -> None:
    ids, vectors = many(seed, items, 8)
    found = nearest(ids, vectors, k).lists()
    cosines = every_cosine(vectors)
    np.fill_diagonal(cosines, -2)
    place = {item: row for row, item in enumerate(ids)}
    for item, own in zip(ids, cosines, strict=True):
        scores = [own[place[other]] for other in found[item]]
        assert scores == pytest.approx(np.sort(own)[::-1][: min(k, items - 1)], abs=2e-6)


@given(st.integers(0, 10_000), st.integers(2, 30), st.integers(1, 8))
@settings(deadline=None, max_examples=60)
def test_the_order_in_which_items_are_given_changes_nothing(seed: int, items: int, k: int) -> None:
    ids, _ = many(seed, items, 1)
    generator = np.random.default_rng(seed)
    # Few distinct directions, so that there are ties in every list.
    vectors = generator.integers(1, 3, size=(items, 3)).astype(float)
    order = generator.permutation(items)
    straight = nearest(ids, vectors, k)
    turned = nearest([ids[place] for place in order], vectors[order], k)
    assert turned.lists() == straight.lists()
    assert (turned.scores == straight.scores).all()


@given(st.integers(0, 10_000), st.integers(2, 30), st.integers(1, 40))
@settings(deadline=None, max_examples=60)
def test_an_item_is_never_its_own_neighbour_and_no_neighbour_comes_twice(
    seed: int, items: int, k: int
) -> None:
    ids, vectors = many(seed, items, 2)
    for item, others in nearest(ids, vectors, k).lists().items():
        assert item not in others
        assert len(set(others)) == len(others) == min(k, items - 1)


def test_blocks_give_what_one_piece_gives(monkeypatch: pytest.MonkeyPatch) -> None:
    ids, vectors = many(3, 200, 16)
    whole = nearest(ids, vectors, 7)
    monkeypatch.setattr(searching, "SCORES_A_BLOCK", 200 * 13)
    assert nearest(ids, vectors, 7).lists() == whole.lists()


def test_targets_of_queries_are_ranked_with_the_query_s_own_id_among_them() -> None:
    found = nearest_to(
        [1], np.array([[1.0, 0]]), [1, 2, 3], np.array([[2.0, 0], [1, 1], [0, 1]]), 2
    )
    assert found.lists() == {1: [1, 2]}


def test_a_vector_without_a_direction_is_refused_by_name() -> None:
    with pytest.raises(CannotSample, match="item 5 has no direction"):
        nearest([4, 5], np.array([[1.0, 0], [0, 0]]), 1)


def test_an_item_given_twice_is_refused() -> None:
    with pytest.raises(CannotSample, match="twice"):
        nearest([4, 4], np.array([[1.0, 0], [0, 1]]), 1)


def test_ten_thousand_items_take_less_memory_than_all_their_scores() -> None:
    generator = np.random.default_rng(1)
    vectors = generator.normal(size=(10_000, 64)).astype(np.float32)
    tracemalloc.start()
    found = nearest(range(10_000), vectors, 5)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 10_000 * 10_000 * 4 / 2
    sample = generator.choice(10_000, 20, replace=False)
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    cosines = unit[sample].astype(float) @ unit.T.astype(float)
    cosines[np.arange(20), sample] = -2
    assert found.scores[sample] == pytest.approx(-np.sort(-cosines, axis=1)[:, :5], abs=2e-6)
