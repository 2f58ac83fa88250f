import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hits.analysis.diversity import diversity
from hits.analysis.errors import DegenerateInput

lists = st.permutations(range(12)).map(lambda order: order[:6])


def test_the_same_lists_are_not_diverse() -> None:
    found = diversity({"P": {1: [4, 5, 6]}, "Q": {1: [4, 5, 6]}}, 3)["P", "Q"]
    assert (found.tau, found.shared, found.rank_of_first) == (1, 1, 1)


def test_an_item_that_the_other_lacks_stands_behind_its_list() -> None:
    found = diversity({"P": {1: [9, 5]}, "Q": {1: [5, 6]}}, 2)
    assert found["P", "Q"].rank_of_first == 3
    assert found["Q", "P"].rank_of_first == 2
    assert found["P", "Q"].shared == 0.5


@given(lists, lists)
@settings(deadline=None)
def test_tau_is_symmetric_and_bounded(one: list[int], two: list[int]) -> None:
    found = diversity({"P": {1: one}, "Q": {1: two}}, 6)
    assert found["P", "Q"].tau == pytest.approx(found["Q", "P"].tau)
    assert -1 <= found["P", "Q"].tau <= 1
    assert found["P", "Q"].shared == found["Q", "P"].shared


def test_machines_without_a_query_in_common_are_refused() -> None:
    with pytest.raises(DegenerateInput, match="no query in common"):
        diversity({"P": {1: [4, 5]}, "Q": {2: [4, 5]}}, 2)
