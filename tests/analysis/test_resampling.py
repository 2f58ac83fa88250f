import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hits.analysis.errors import DegenerateInput
from hits.analysis.resampling import SHARE, cluster_interval, mean_interval


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
