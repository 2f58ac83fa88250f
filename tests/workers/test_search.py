"""What torch finds is what exact arithmetic finds, bit for bit."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.workers.test_exact import Vectors, unit_vectors, vectors_with_many_ties
from workers import exact, ranking, search

# Blocks are too small here for threads, which would wait for each other.
torch.set_num_threads(1)

SPEEDS = {
    "float32": search.Speed("cpu", torch.float32, spare=8),
    "float16": search.Speed("cpu", torch.float16, spare=32),
}
speeds = st.sampled_from(sorted(SPEEDS)).map(SPEEDS.__getitem__)


def assert_same_bytes(found: exact.Found, expected: exact.Found) -> None:
    assert found[0].tobytes() == expected[0].tobytes()
    assert found[1].tobytes() == expected[1].tobytes()


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many blocks of every kind, some of them ragged."""
    sizes = {"ROWS": 48, "COLUMNS": 160, "RESCORED_QUERIES": 50, "RESCORED_TARGETS": 70}
    for name, size in sizes.items():
        monkeypatch.setattr(search, name, size)


@given(vectors_with_many_ties(), st.integers(1, 50), speeds)
@settings(max_examples=50)
def test_ties_go_to_the_lower_index_both_ways(
    vectors: tuple[Vectors, Vectors], k: int, speed: search.Speed
) -> None:
    queries, targets = vectors

    forward, backward = search.top_k_both(queries, targets, k, speed=speed)

    assert_same_bytes(forward, exact.top_k(queries, targets, k))
    assert_same_bytes(backward, exact.top_k(targets, queries, k))


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("speed", SPEEDS.values(), ids=SPEEDS)
@pytest.mark.parametrize(("queries", "targets"), [(130, 700), (700, 130), (48, 160), (1, 1)])
def test_blocks_of_any_size_give_the_exact_lists_both_ways(
    queries: int, targets: int, speed: search.Speed
) -> None:
    rng = np.random.default_rng(queries)
    asked, offered = unit_vectors(rng, queries, 64), unit_vectors(rng, targets, 64)

    forward, backward = search.top_k_both(asked, offered, 10, speed=speed)

    assert_same_bytes(forward, exact.top_k(asked, offered, 10))
    assert_same_bytes(backward, exact.top_k(offered, asked, 10))
    assert_same_bytes(search.top_k(asked, offered, 10, speed=speed), forward)


@pytest.mark.usefixtures("small_blocks")
def test_targets_that_become_better_all_the_time_are_all_seen() -> None:
    rng = np.random.default_rng(6)
    queries, targets = unit_vectors(rng, 60, 16), unit_vectors(rng, 900, 16)
    targets = targets[np.argsort(queries[0] @ targets.T)]

    assert_same_bytes(search.top_k(queries, targets, 25), exact.top_k(queries, targets, 25))


@pytest.mark.usefixtures("small_blocks")
def test_more_equal_vectors_than_are_kept_are_ranked_by_index() -> None:
    rng = np.random.default_rng(7)
    queries = unit_vectors(rng, 5, 512)
    targets = np.repeat(unit_vectors(rng, 10, 512), 60, axis=0)

    assert_same_bytes(search.top_k(queries, targets, 25), exact.top_k(queries, targets, 25))


@pytest.mark.usefixtures("small_blocks")
def test_scores_closer_than_float32_sums_can_tell_are_in_exact_order() -> None:
    rng = np.random.default_rng(8)
    queries, nearly = unit_vectors(rng, 5, 512), unit_vectors(rng, 1, 512)
    targets = np.repeat(nearly, 30, axis=0)
    targets += (rng.integers(-2, 3, targets.shape) * 2.0**-24).astype(np.float32)

    assert_same_bytes(search.top_k(queries, targets, 20), exact.top_k(queries, targets, 20))


@pytest.mark.usefixtures("small_blocks")
@given(st.integers(0, 2**32), st.lists(st.integers(1, 199), max_size=4))
@settings(max_examples=20)
def test_shards_merge_to_the_bytes_of_one_search(seed: int, cuts: list[int]) -> None:
    rng = np.random.default_rng(seed)
    queries, targets = unit_vectors(rng, 200, 32), unit_vectors(rng, 90, 32)
    queries[::7] = queries[0]
    shards = [
        ranking.shard(queries[a:b], targets, 10, first_query=a, both=True)
        for a, b in pairwise(sorted({0, 200, *cuts}))
    ]

    (forward,) = ranking.one_after_another([np.concatenate([forth for forth, _ in shards])])
    (backward,) = ranking.merged([back for _, back in reversed(shards)], 10)

    assert_same_bytes((forward.indices, forward.scores), exact.top_k(queries, targets, 10))
    assert_same_bytes((backward.indices, backward.scores), exact.top_k(targets, queries, 10))


@pytest.mark.parametrize("speed", SPEEDS.values(), ids=SPEEDS)
def test_no_fast_score_is_further_from_the_exact_one_than_promised(speed: search.Speed) -> None:
    rng = np.random.default_rng(9)
    # All of one sign, so that rounding errors of sums do not cancel.
    queries, targets = (np.abs(unit_vectors(rng, 200, 512)) for _ in range(2))

    best, _ = search.candidates(queries, targets, 200 - speed.spare, speed=speed, both=False)
    indices, scores = exact.top_k(queries, targets, 200)

    fast = np.zeros((200, 200))
    np.put_along_axis(fast, best.indices.numpy(), best.values.numpy(), axis=1)
    away = np.abs(np.take_along_axis(fast, indices, axis=1) - scores)
    assert 0 < away.max() <= speed.error(512)


def test_memory_mapped_vectors_are_searched_like_any_other(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    queries, targets = unit_vectors(rng, 7, 16), unit_vectors(rng, 90, 16)
    np.save(tmp_path / "targets.npy", targets)

    mapped = search.top_k(queries, np.load(tmp_path / "targets.npy", mmap_mode="r"), 5)

    assert_same_bytes(mapped, exact.top_k(queries, targets, 5))


@pytest.mark.parametrize("targets", [0, 3])
def test_fewer_targets_than_k_are_all_returned(targets: int) -> None:
    rng = np.random.default_rng(3)

    indices, scores = search.top_k(unit_vectors(rng, 2, 4), unit_vectors(rng, targets, 4), 25)

    assert indices.shape == scores.shape == (2, targets)


@pytest.mark.parametrize("bad", [np.nan, np.inf, 1.1])
def test_a_vector_for_which_exactness_would_not_hold_is_refused(bad: float) -> None:
    targets = np.array([[0.5, 0.5], [bad, 0.0]], np.float32)

    with pytest.raises(ValueError, match="longer than 1"):
        search.top_k(np.array([[1.0, 0.0]], np.float32), targets, 1)
