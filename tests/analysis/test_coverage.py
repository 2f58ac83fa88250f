import argparse

import numpy as np
import pytest

from bench import coverage


@pytest.mark.deep
def test_intervals_that_resample_workers_and_items_hold_the_truth_and_plain_ones_do_not() -> None:
    found = coverage.run(argparse.Namespace(simulations=200))
    assert np.mean(found["workers and items"]) == pytest.approx(0.95, abs=0.03)
    assert np.mean(found["single answers"]) < 0.85
