import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from hits.analysis.errors import DegenerateInput
from hits.analysis.resampling import (
    CORRELATION,
    PLAIN,
    SHARE,
    Scale,
    cluster_interval,
    mean_interval,
)


def test_the_error_of_a_mean_of_clusters_is_the_textbook_s() -> None:
    rng = np.random.default_rng(0)
    values = rng.normal(size=50)
    found = mean_interval(values, items=np.arange(50), replicates=20_000)
    assert found.error == pytest.approx(values.std(ddof=1) / np.sqrt(50), rel=0.03)


def test_judgments_of_one_cluster_count_as_one() -> None:
    rng = np.random.default_rng(1)
    of_workers = rng.normal(size=30)
    workers = np.repeat(np.arange(30), 40)
    by_worker = mean_interval(of_workers[workers], by="worker", workers=workers)
    alone = mean_interval(of_workers, by="worker", workers=np.arange(30))
    assert by_worker.error == pytest.approx(alone.error, rel=1e-9)


def test_resampling_both_is_at_least_as_wide_as_either() -> None:
    rng = np.random.default_rng(2)
    workers, items = rng.integers(0, 20, 600), rng.integers(0, 25, 600)
    values = rng.normal(size=20)[workers] + rng.normal(size=25)[items] + rng.normal(size=600)
    found = {
        by: mean_interval(values, by=by, workers=workers, items=items, replicates=400).error  # type: ignore[arg-type]
        for by in ("worker", "item", "both")
    }
    assert found["both"] >= max(found["worker"], found["item"]) * 0.95


@given(st.floats(0.5, 0.95), st.floats(0.96, 0.999))
@settings(max_examples=20, deadline=None)
def test_a_higher_level_is_wider(low: float, high: float) -> None:
    values = np.array([0.0, 1, 1, 0, 1, 1, 0, 1])
    narrow, wide = (
        mean_interval(values, items=np.arange(8), level=level, scale=SHARE, replicates=50)
        for level in (low, high)
    )
    assert 0 < wide.low < narrow.low < narrow.estimate < narrow.high < wide.high < 1


@given(st.lists(st.booleans(), min_size=2, max_size=40))
@settings(max_examples=40, deadline=None)
def test_the_interval_of_a_share_holds_it_and_is_never_a_point(right: list[bool]) -> None:
    values = np.array(right, np.float64)
    found = mean_interval(values, items=np.arange(len(values)), scale=SHARE, replicates=50)
    assert 0 <= found.low <= values.mean() <= found.high <= 1
    assert found.high - found.low > 0


@pytest.mark.parametrize("all_right", [0, 1])
@pytest.mark.parametrize(("n", "level"), [(2, 0.95), (20, 0.95), (300, 0.9)])
def test_the_interval_of_a_share_at_its_end_is_the_exact_one(
    all_right: int, n: int, level: float
) -> None:
    values = np.full(n, float(all_right))
    found = mean_interval(values, items=np.arange(n), scale=SHARE, level=level, replicates=20)
    exact = stats.binomtest(n * all_right, n).proportion_ci(level, "exact")
    assert (found.low, found.high) == pytest.approx((exact.low, exact.high))


@pytest.mark.parametrize("scale", [PLAIN, SHARE, CORRELATION])
def test_what_is_the_same_in_every_cluster_is_not_said_to_be_certain(scale: Scale) -> None:
    clusters = np.repeat(np.arange(10), 2)
    for values in (np.full(20, 0.5), np.tile([0.25, 0.75], 10)):
        with pytest.raises(DegenerateInput, match="same in all clusters"):
            mean_interval(values, items=clusters, scale=scale, replicates=20)


def test_forty_right_answers_of_two_workers_are_two_trials() -> None:
    found = mean_interval(
        np.ones(40), by="worker", workers=np.repeat([0, 1], 20), scale=SHARE, replicates=20
    )
    assert found.low == pytest.approx(0.025**0.5)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"by": "worker"}, "worker of each"),
        ({"by": "item"}, "item of each"),
        ({"by": "item", "items": np.zeros(4, np.int64)}, "two clusters"),
        ({"by": "item", "items": np.arange(4), "level": 1.0}, "between 0 and 1"),
    ],
)
def test_what_cannot_be_resampled_is_refused(options: dict[str, object], says: str) -> None:
    with pytest.raises(DegenerateInput, match=says):
        mean_interval(np.arange(4.0), **options)  # type: ignore[arg-type]


def test_a_statistic_without_a_value_is_refused() -> None:
    with pytest.raises(DegenerateInput, match="no finite value"):
        cluster_interval(
            lambda weights: 1.0 if (weights == 1).all() else float("nan"),
            judgments=4,
            by="item",
            items=np.arange(4),
            replicates=5,
        )
