import tracemalloc
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from workers.exact import Block, top_k, top_k_blocks

Vectors = NDArray[np.float32]


def unit_vectors(rng: np.random.Generator, count: int, dimension: int) -> Vectors:
    vectors = rng.standard_normal((count, dimension))
    unit: NDArray[np.float64] = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return unit.astype(np.float32)


@st.composite
def vectors_with_many_ties(draw: st.DrawFn) -> tuple[Vectors, Vectors]:
    """Few directions, repeated: components are whole multiples of a power of two."""
    dimension = draw(st.integers(1, 4))
    numbers = st.integers(-2, 2)
    rows = st.lists(st.lists(numbers, min_size=dimension, max_size=dimension), max_size=40)
    queries, targets = draw(rows), draw(rows)
    return (
        np.array(queries, np.float32).reshape(-1, dimension) * np.float32(0.125),
        np.array(targets, np.float32).reshape(-1, dimension) * np.float32(0.125),
    )


def full_sort(scores: NDArray[np.float32], k: int) -> NDArray[np.int64]:
    return np.argsort(-scores, axis=1, kind="stable")[:, :k]


@given(vectors_with_many_ties(), st.integers(1, 50), st.integers(1, 50))
def test_ties_go_to_the_lower_index_as_in_a_full_stable_sort(
    vectors: tuple[Vectors, Vectors], k: int, block: int
) -> None:
    queries, targets = vectors
    exact = queries @ targets.T

    indices, scores = top_k(queries, targets, k, block=block)

    np.testing.assert_array_equal(indices, full_sort(exact, k))
    np.testing.assert_array_equal(scores, np.take_along_axis(exact, indices, axis=1))


@given(st.integers(0, 2**32), st.integers(1, 70), st.integers(1, 300))
@settings(max_examples=50)
def test_the_block_size_changes_no_bit(seed: int, block: int, dimension: int) -> None:
    rng = np.random.default_rng(seed)
    queries, targets = unit_vectors(rng, 12, dimension), unit_vectors(rng, 60, dimension)

    whole = top_k(queries, targets, 60, block=1000)
    parts = top_k(queries, targets, 60, block=block)

    assert whole[0].tobytes() == parts[0].tobytes()
    assert whole[1].tobytes() == parts[1].tobytes()


@given(st.integers(0, 2**32))
@settings(max_examples=20)
def test_the_order_in_which_components_are_added_changes_no_bit(seed: int) -> None:
    rng = np.random.default_rng(seed)
    queries, targets = unit_vectors(rng, 10, 512), unit_vectors(rng, 50, 512)
    shuffled = rng.permutation(512)

    straight = top_k(queries, targets, 50)
    crossed = top_k(queries[:, shuffled], targets[:, shuffled], 50)

    assert straight[0].tobytes() == crossed[0].tobytes()
    assert straight[1].tobytes() == crossed[1].tobytes()


def test_products_too_small_for_the_promise_never_tip_a_score() -> None:
    # The rest sums to half way between two float32 numbers, so that these 300 products of 2**-55
    # would tip it, or not, by the order in which float64 adds them.
    query = np.array([[0.5, 0.5] + [2.0**-6] * 300], np.float32)
    target = np.array([[0.75, 0.25 + 2.0**-24] + [2.0**-49] * 300], np.float32)

    assert top_k(query, target, 1)[1] == np.float32(0.5)


@given(st.integers(0, 2**32), st.integers(1, 600))
@settings(max_examples=30)
def test_scores_are_the_inner_products_to_float32_precision(seed: int, dimension: int) -> None:
    rng = np.random.default_rng(seed)
    queries, targets = unit_vectors(rng, 8, dimension), unit_vectors(rng, 30, dimension)
    precise = queries.astype(np.float64) @ targets.T.astype(np.float64)

    indices, scores = top_k(queries, targets, 30)

    np.testing.assert_allclose(scores, np.take_along_axis(precise, indices, axis=1), atol=1e-7)
    assert (np.diff(scores, axis=1) <= 0).all()
    np.testing.assert_array_equal(np.sort(indices, axis=1), np.tile(np.arange(30), (8, 1)))


def test_a_block_is_ready_before_later_queries_are_read() -> None:
    rng = np.random.default_rng(1)
    queries, targets = unit_vectors(rng, 9, 5), unit_vectors(rng, 20, 5)
    queries[8] = np.nan

    first, second = islice(top_k_blocks(queries, targets, 3, block=4), 2)

    assert isinstance(first, Block)
    assert (first.start, len(first.indices)) == (0, 4)
    assert (second.start, len(second.indices)) == (4, 4)


def test_memory_mapped_vectors_are_searched_like_any_other(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    queries, targets = unit_vectors(rng, 7, 16), unit_vectors(rng, 90, 16)
    np.save(tmp_path / "targets.npy", targets)

    mapped = top_k(queries, np.load(tmp_path / "targets.npy", mmap_mode="r"), 5, block=8)

    np.testing.assert_array_equal(mapped[0], top_k(queries, targets, 5)[0])


@pytest.mark.parametrize("targets", [0, 3])
def test_fewer_targets_than_k_are_all_returned(targets: int) -> None:
    rng = np.random.default_rng(3)

    indices, scores = top_k(unit_vectors(rng, 2, 4), unit_vectors(rng, targets, 4), 25)

    assert indices.shape == scores.shape == (2, targets)


@pytest.mark.parametrize("bad", [np.nan, np.inf, 1.1])
def test_a_vector_for_which_exactness_would_not_hold_is_refused(bad: float) -> None:
    targets = np.array([[0.5, 0.5], [bad, 0.0]], np.float32)

    with pytest.raises(ValueError, match="longer than 1"):
        top_k(np.array([[1.0, 0.0]], np.float32), targets, 1)


def test_vectors_of_different_machines_are_refused() -> None:
    rng = np.random.default_rng(4)

    with pytest.raises(ValueError, match="do not match"):
        top_k(unit_vectors(rng, 2, 4), unit_vectors(rng, 2, 5), 1)


def test_memory_does_not_grow_with_the_number_of_pairs() -> None:
    rng = np.random.default_rng(5)
    queries, targets = unit_vectors(rng, 1000, 8), unit_vectors(rng, 20_000, 8)

    tracemalloc.start()
    for _ in top_k_blocks(queries, targets, 25, block=128):
        pass
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert peak < 2_000_000 < queries.shape[0] * targets.shape[0] * 4
