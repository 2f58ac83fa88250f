from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hits.sampling.errors import CannotSample
from hits.sampling.pooling import Direction, Pair, RankedList, Source, pool, true_negatives

MACHINES = ("clip", "pcme", "vilt")


def a_list(machine: str, direction: Direction, query: int, targets: list[int]) -> RankedList:
    return RankedList(
        machine, direction, query, targets, [1 / n for n in range(1, len(targets) + 1)]
    )


DIRECTIONS: tuple[Direction, ...] = ("i2t", "t2i")
whose = st.tuples(st.sampled_from(MACHINES), st.sampled_from(DIRECTIONS), st.integers(0, 6))


@st.composite
def some_lists(draw: st.DrawFn) -> list[RankedList]:
    targets = st.lists(st.integers(0, 12), unique=True, max_size=8)
    asked = draw(st.lists(whose, unique=True, max_size=12))
    return [a_list(*each, draw(targets)) for each in asked]


def test_a_pair_found_by_two_machines_both_ways_is_one_and_remembers_all() -> None:
    lists = [
        a_list("vilt", "t2i", 7, [3, 1]),
        a_list("clip", "i2t", 1, [9, 7]),
        a_list("clip", "t2i", 7, [1, 3]),
    ]
    assert pool(lists, 2) == {
        Pair(1, 7): [
            Source("clip", "i2t", 2, 0.5),
            Source("clip", "t2i", 1, 1.0),
            Source("vilt", "t2i", 2, 0.5),
        ],
        Pair(1, 9): [Source("clip", "i2t", 1, 1.0)],
        Pair(3, 7): [Source("clip", "t2i", 2, 0.5), Source("vilt", "t2i", 1, 1.0)],
    }


def test_machines_that_share_nothing_give_the_paper_s_64_850_pairs() -> None:
    queries: dict[Direction, range] = {"i2t": range(1000, 2261), "t2i": range(1000, 2333)}
    lists = [
        a_list(machine, direction, query, list(range(25 * own, 25 * own + 25)))
        for own, machine in enumerate(("clip", "pcme", "pvse", "vilt", "vsrn"))
        for direction in queries
        for query in queries[direction]
    ]
    assert len(pool(lists, 5)) == (1_261 + 1_333) * 5 * 5 == 64_850


@given(some_lists(), st.integers(1, 5), st.randoms(use_true_random=False))
def test_the_order_of_lists_changes_nothing(
    lists: list[RankedList], depth: int, random: Random
) -> None:
    turned = list(lists)
    random.shuffle(turned)
    straight = pool(lists, depth)
    assert list(pool(turned, depth).items()) == list(straight.items())


@given(some_lists(), st.integers(1, 5))
def test_every_place_within_the_depth_is_remembered_once(
    lists: list[RankedList], depth: int
) -> None:
    pooled = pool(lists, depth)
    assert sum(map(len, pooled.values())) == sum(min(depth, len(each.targets)) for each in lists)
    assert all(source.rank <= depth for sources in pooled.values() for source in sources)


def test_a_list_that_names_a_target_twice_is_refused() -> None:
    with pytest.raises(CannotSample, match="twice"):
        pool([a_list("clip", "i2t", 1, [2, 2])], 5)


def test_two_lists_of_one_machine_for_one_query_are_refused() -> None:
    with pytest.raises(CannotSample, match="twice"):
        pool([a_list("clip", "i2t", 1, [2]), a_list("clip", "i2t", 1, [3])], 5)


@given(some_lists(), st.integers(0, 5), st.integers(0, 1000))
def test_true_negatives_are_outside_every_list_and_no_original_pair(
    lists: list[RankedList], number: int, seed: int
) -> None:
    kept = pool(lists, 25)
    originals = {Pair(image, image) for image in range(13)}
    found = true_negatives(kept, originals, range(13), range(13), number, Random(seed))
    assert len(set(found)) == len(found) == number
    assert not {*found} & {*kept, *originals}


def test_the_order_of_items_does_not_change_the_true_negatives() -> None:
    images, captions = list(range(40)), list(range(100, 180))
    one = true_negatives([], [], images, captions, 9, Random(4))
    assert true_negatives([], [], images[::-1], captions[::-1], 9, Random(4)) == one


def test_all_pairs_that_are_left_can_be_drawn_and_no_more() -> None:
    kept = [Pair(0, 0), Pair(1, 1), Pair(5, 5)]
    assert set(true_negatives(kept, [], [0, 1], [0, 1], 2, Random(0))) == {Pair(0, 1), Pair(1, 0)}
    with pytest.raises(CannotSample, match="Only 2"):
        true_negatives(kept, [], [0, 1], [0, 1], 3, Random(0))
