import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from hits.analysis import positives
from hits.analysis.errors import DegenerateInput

sets = st.dictionaries(st.integers(0, 4), st.sets(st.integers(0, 9), max_size=6), min_size=1)


def test_precision_and_recall_are_those_of_the_formulas() -> None:
    found = positives.precision_and_recall(
        dataset={1: {10, 11, 99}, 2: {20}, 3: {98}},
        human={1: {10, 12}, 2: {20, 21}, 3: {30}},
        verified={1: {10, 11, 12}, 2: {20, 21}, 3: {30, 31}},
    )
    assert found.mean_precision == pytest.approx((1 / 2 + 1) / 2)
    assert found.precision_queries.tolist() == [1, 2]
    assert found.mean_recall == pytest.approx((1 / 2 + 1 / 2 + 0) / 3)


@given(sets, sets)
@settings(deadline=None)
def test_people_s_own_positives_have_perfect_precision_and_recall(
    human: dict[int, set[int]], more: dict[int, set[int]]
) -> None:
    assume(any(human.values()))
    verified = positives.merged(human, more)
    found = positives.precision_and_recall(human, human, verified)
    assert found.mean_precision == found.mean_recall == 1


@given(sets, sets, sets)
@settings(deadline=None)
def test_precision_and_recall_lie_between_0_and_1(
    dataset: dict[int, set[int]], human: dict[int, set[int]], verified: dict[int, set[int]]
) -> None:
    assume(any(verified[query] & dataset.get(query, set()) for query in verified))
    assume(any(human.get(query) for query in verified))
    found = positives.precision_and_recall(dataset, human, verified)
    for values in (found.precision, found.recall):
        assert ((values >= 0) & (values <= 1)).all()


@given(sets)
def test_pairs_turned_twice_are_the_same_pairs(given_: dict[int, set[int]]) -> None:
    kept = {query: items for query, items in given_.items() if items}
    assert positives.turned(positives.turned(given_)) == kept


def test_nothing_verified_has_no_precision() -> None:
    with pytest.raises(DegenerateInput, match="verified"):
        positives.precision_and_recall({1: {5}}, {1: {6}}, {1: {6}})


def test_conversions_multiply_to_the_whole() -> None:
    first, second = positives.conversions([200, 100, 25])
    assert (first.percent, second.percent) == (50, 25)


@pytest.mark.parametrize("counts", [[5], [0, 0], [5, 6], [5, -1]])
def test_counts_that_cannot_be_are_refused(counts: list[int]) -> None:
    with pytest.raises(DegenerateInput):
        positives.conversions(counts)


def test_predictions_that_change_are_counted() -> None:
    assert positives.predictions_changed({1: 5, 2: 6}, {1: 5, 2: 7}).tolist() == [0, 1]
    with pytest.raises(DegenerateInput, match="same examples"):
        positives.predictions_changed({1: 5}, {2: 5})
