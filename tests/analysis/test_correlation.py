import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats

from hits.analysis import correlation
from hits.analysis.correlation import spearman_bootstrap
from hits.analysis.errors import DegenerateInput

columns = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=3, max_size=20).map(
    lambda rows: np.array(rows, float).T
)


@given(columns)
@settings(deadline=None)
def test_correlations_are_scipy_s_symmetric_and_bounded(both: np.ndarray) -> None:
    assume(np.ptp(both[0]) > 0 and np.ptp(both[1]) > 0)
    tau, rho = correlation.kendall_tau_b(*both), correlation.spearman(*both)
    assert tau == pytest.approx(stats.kendalltau(*both).statistic)
    assert rho == pytest.approx(stats.spearmanr(*both).statistic)
    assert correlation.kendall_tau_b(both[1], both[0]) == pytest.approx(tau)
    assert -1 - 1e-12 <= min(tau, rho) <= max(tau, rho) <= 1 + 1e-12


@given(columns)
@settings(deadline=None)
def test_rank_correlations_do_not_change_with_a_rising_transformation(both: np.ndarray) -> None:
    assume(np.ptp(both[0]) > 0 and np.ptp(both[1]) > 0)
    raised = np.exp(both[0] / 3)
    assert correlation.kendall_tau_b(raised, both[1]) == pytest.approx(
        correlation.kendall_tau_b(*both)
    )


def test_a_constant_list_has_no_correlation() -> None:
    with pytest.raises(DegenerateInput, match="all equal"):
        correlation.kendall_tau_b(np.ones(4), np.arange(4.0))


def test_a_table_holds_each_pair_of_columns_once() -> None:
    table = correlation.correlation_table(
        {"a": [1, 2, 3], "b": [3, 2, 1], "c": [1, 3, 2]}, "spearman"
    )
    assert set(table) == {("a", "b"), ("a", "c"), ("b", "c")}
    assert table["a", "b"] == pytest.approx(-1)


def rated(queries: int = 300) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    of = np.repeat(np.arange(queries), rng.integers(1, 5, queries))
    human = rng.integers(0, 51, len(of)) / 10
    return rng.permutation(of), human, np.round(human + rng.normal(size=len(of)), 1)


def test_the_bootstrap_s_mean_is_that_of_a_plain_loop_within_its_error() -> None:
    queries, human, model = rated()
    found = spearman_bootstrap(queries, human, model, samples=400)
    rng = np.random.default_rng(9)
    plain = []
    for _ in range(400):
        chosen = rng.choice(300, 150, replace=False)
        rows = [rng.choice(np.flatnonzero(queries == query)) for query in chosen]
        plain.append(stats.spearmanr(human[rows], model[rows]).statistic)
    error = np.hypot(np.std(plain), found.deviation) / 20
    assert found.mean == pytest.approx(np.mean(plain), abs=4 * error)
    assert found.deviation == pytest.approx(np.std(plain), rel=0.2)


def test_a_sample_s_value_is_scipy_s_with_ties() -> None:
    rng = np.random.default_rng(1)
    one, two = rng.integers(0, 9, 50), rng.integers(0, 9, 50)
    expected = stats.spearmanr(one, two).statistic
    assert correlation._rank_correlation(one, two) == pytest.approx(expected, abs=1e-12)


def test_the_bootstrap_repeats_itself_for_the_same_seed() -> None:
    first, second = (spearman_bootstrap(*rated(), samples=20, seed=4) for _ in range(2))
    assert (first.samples == second.samples).all()


@given(st.integers(0, 100))
@settings(max_examples=10, deadline=None)
def test_the_bootstrap_sees_only_the_order_of_scores(seed: int) -> None:
    queries, human, model = rated(40)
    plain = spearman_bootstrap(queries, human, model, samples=5, seed=seed)
    raised = spearman_bootstrap(queries, human**3, np.exp(model), samples=5, seed=seed)
    assert (plain.samples == raised.samples).all()
    assert (np.abs(plain.samples) <= 1).all()


def test_too_few_queries_are_refused() -> None:
    with pytest.raises(DegenerateInput, match="four queries"):
        spearman_bootstrap(np.array([0, 1, 2]), np.arange(3.0), np.arange(3.0))


def test_scores_that_do_not_vary_are_refused() -> None:
    with pytest.raises(DegenerateInput, match="all scores are equal"):
        spearman_bootstrap(np.arange(8), np.ones(8), np.arange(8.0))
