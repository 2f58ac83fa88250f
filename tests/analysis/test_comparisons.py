import choix
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from hits.analysis import comparisons
from hits.analysis.comparisons import Comparisons, comparisons_from, fit, fit_wins
from hits.analysis.errors import DegenerateInput
from hits.analysis.likelihood import LEFT, RIGHT, TIE, maximise

NAMES = tuple("ABCDE")


def drawn(
    seed: int = 0, number: int = 4000, *, side: float = 0.0, tie: float | None = None
) -> Comparisons:
    rng = np.random.default_rng(seed)
    strengths = np.array([1.5, 0.7, 0.0, -0.6, -1.6])
    left = rng.integers(0, 5, number)
    right = (left + rng.integers(1, 5, number)) % 5
    spread = strengths[left] - strengths[right] + side
    odds = np.stack([np.exp(spread / 2), np.exp(-spread / 2)], axis=1)
    if tie is not None:
        odds = np.concatenate([odds, np.full((number, 1), np.exp(tie))], axis=1)
    below = rng.random(number)[:, None] < np.cumsum(odds / odds.sum(axis=1, keepdims=True), axis=1)
    return Comparisons(
        NAMES,
        left,
        right,
        below.argmax(axis=1).astype(np.int64),
        rng.integers(0, 40, number),
        rng.integers(0, 60, number),
    )


win_matrices = arrays(np.float64, (4, 4), elements=st.integers(1, 50).map(float))


def test_strengths_equal_those_that_choix_finds_in_the_list_of_comparisons() -> None:
    given_ = drawn()
    won = np.where(given_.outcome == LEFT, given_.left, given_.right)
    lost = np.where(given_.outcome == LEFT, given_.right, given_.left)
    expected = choix.ilsr_pairwise(5, list(zip(won, lost, strict=True)), tol=1e-10)
    assert fit(given_).strengths == pytest.approx(expected, abs=1e-6)


def test_newton_s_method_finds_the_optimum_that_choix_finds() -> None:
    tallied = comparisons.tally(drawn())
    assert maximise(tallied[None]).strengths[0] == pytest.approx(fit(drawn()).strengths, abs=1e-6)


def test_many_data_sets_are_fitted_as_each_alone() -> None:
    tallies = np.stack([comparisons.tally(drawn(seed, 500, side=0.3)) for seed in range(5)])
    together = maximise(tallies, side=True)
    for place, tallied in enumerate(tallies):
        alone = maximise(tallied[None], side=True)
        assert together.strengths[place] == pytest.approx(alone.strengths[0], abs=1e-8)


def test_the_side_effect_is_found_and_tested() -> None:
    model = fit(drawn(number=40_000, side=0.4), side=True)
    assert model.side == pytest.approx(0.4, abs=0.06)


def test_ties_are_found_and_lower_the_probability_of_winning() -> None:
    model = fit(drawn(number=40_000, tie=-0.2), ties=True)
    assert model.tie == pytest.approx(-0.2, abs=0.06)
    assert model.probability("A", "B") + model.probability("B", "A") < 0.95


def test_ties_that_are_not_fitted_are_refused() -> None:
    with pytest.raises(DegenerateInput, match="ties"):
        fit(drawn(tie=0.0))


def test_goodness_of_fit_accepts_what_follows_the_model() -> None:
    given_ = drawn(3, 20_000)
    found = comparisons.goodness_of_fit(fit(given_), comparisons.tally(given_))
    assert found.degrees_of_freedom == 6
    assert found.p_value > 0.01


def test_goodness_of_fit_rejects_a_cycle() -> None:
    wins = np.array([[0, 90, 10], [10, 0, 90], [90, 10, 0]], float)
    tallied = np.zeros((3, 3, 3))
    tallied[..., LEFT] = wins
    found = comparisons.goodness_of_fit(fit_wins("ABC", wins), tallied)
    assert found.p_value < 1e-10


@given(win_matrices)
@settings(max_examples=30, deadline=None)
def test_scores_sum_to_100_and_probabilities_of_both_orders_to_1(wins: np.ndarray) -> None:
    model = fit_wins("ABCD", wins)
    assert model.scores.sum() == pytest.approx(100)
    assert model.probability("A", "B") + model.probability("B", "A") == pytest.approx(1)


@given(win_matrices, st.permutations(range(4)))
@settings(max_examples=30, deadline=None)
def test_the_order_of_systems_does_not_matter(wins: np.ndarray, order: list[int]) -> None:
    plain = fit_wins("ABCD", wins).scores
    permuted = fit_wins("ABCD", wins[np.ix_(order, order)]).scores
    assert permuted == pytest.approx(plain[order], abs=1e-6)


@given(win_matrices)
@settings(max_examples=30, deadline=None)
def test_turning_every_answer_turns_every_strength(wins: np.ndarray) -> None:
    there, back = fit_wins("ABCD", wins), fit_wins("ABCD", wins.T)
    assert back.strengths == pytest.approx(-there.strengths, abs=1e-6)


@given(st.integers(0, 1000), st.booleans())
@settings(max_examples=15, deadline=None)
def test_showing_every_pair_the_other_way_round_turns_only_the_side_effect(
    seed: int, ties: bool
) -> None:
    there = drawn(seed, 800, side=0.3, tie=0.0 if ties else None)
    other = np.array([RIGHT, LEFT, TIE])[there.outcome]
    back = Comparisons(NAMES, there.right, there.left, other)
    one, two = (fit(each, side=True, ties=ties) for each in (there, back))
    assert two.strengths == pytest.approx(one.strengths, abs=1e-7)
    assert two.side == pytest.approx(-one.side if one.side is not None else None, abs=1e-7)
    assert two.tie == pytest.approx(one.tie, abs=1e-7) if ties else two.tie is None


def test_a_system_s_comparisons_with_itself_are_counted_and_left_out() -> None:
    rows = [("A", "B", "A", 1, 1), ("B", "A", "B", 2, 1), ("A", "A", "A", 1, 2)]
    found = comparisons_from(rows)
    assert found.of_a_system_with_itself == 1
    assert fit(found).scores == pytest.approx([50, 50])


@pytest.mark.parametrize(
    ("wins", "says"),
    [
        ([[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]], "A, B and C, D were never"),
        ([[0, 1, 1, 1], [0, 0, 1, 1], [0, 1, 0, 1], [0, 1, 1, 0]], "A never lost"),
        ([[0, -1, 1, 1], [0, 0, 1, 1], [0, 1, 0, 1], [0, 1, 1, 0]], "counts"),
    ],
)
def test_comparisons_without_an_optimum_are_refused(wins: list[list[int]], says: str) -> None:
    with pytest.raises(DegenerateInput, match=says):
        fit_wins("ABCD", np.array(wins, float))


def test_no_comparisons_are_refused() -> None:
    with pytest.raises(DegenerateInput, match="no comparisons"):
        comparisons_from([])


def test_a_choice_that_was_not_shown_is_refused() -> None:
    with pytest.raises(DegenerateInput, match="neither"):
        comparisons_from([("A", "B", "C", 1, 1)])


def test_intervals_hold_the_estimate_and_are_the_same_for_the_same_seed() -> None:
    one = comparisons.intervals(drawn(), by="both", side=True, replicates=100, seed=5)
    two = comparisons.intervals(drawn(), by="both", side=True, replicates=100, seed=5)
    assert one.scores == two.scores
    assert one.side == two.side
    for interval in one.scores.values():
        assert 0 < interval.low < interval.estimate < interval.high < 100


def test_copied_answers_of_the_same_workers_do_not_narrow_the_interval() -> None:
    once = drawn(number=1000)
    repeated = Comparisons(
        NAMES,
        np.tile(once.left, 4),
        np.tile(once.right, 4),
        np.tile(once.outcome, 4),
        np.tile(once.workers, 4),  # type: ignore[arg-type]
    )
    first = comparisons.intervals(once, by="worker", replicates=300).strengths["A"]
    second = comparisons.intervals(repeated, by="worker", replicates=300).strengths["A"]
    assert second.error == pytest.approx(first.error, rel=1e-6)


def test_an_interval_by_workers_needs_workers() -> None:
    given_ = drawn(number=500)
    nameless = Comparisons(NAMES, given_.left, given_.right, given_.outcome)
    with pytest.raises(DegenerateInput, match="worker of each"):
        comparisons.intervals(nameless, by="worker")


def test_outcomes_have_the_meaning_that_rows_give_them() -> None:
    rows = [("A", "B", "A", 1, 1), ("A", "B", "B", 1, 2), ("A", "B", None, 1, 3)]
    assert comparisons_from(rows).outcome.tolist() == [LEFT, RIGHT, TIE]
