"""How much resampling a table can afford, and shares with what comes of it."""

import numpy as np

from hits.analysis.arrays import Floats, Ints
from hits.analysis.errors import AnalysisError
from hits.analysis.resampling import SHARE, Interval, mean_interval
from hits.records import Cell

# Judgments times replicates of one clustering: some seconds for a whole report. With more judgments
# it takes longer, a second for each 200,000 and figure.
EFFORT = 4_000_000
FEWEST_REPLICATES, MOST_REPLICATES = 50, 1000
LOW, HIGH = "95% from", "95% to"


def replicates_for(judgments: int) -> int:
    """How many an interval is made of."""
    affordable = EFFORT // max(judgments, 1)
    return max(FEWEST_REPLICATES, min(affordable, MOST_REPLICATES))


def share_with_interval(
    values: Floats, *, people: Ints | None = None, units: Ints | None = None
) -> tuple[float, tuple[Cell, Cell], str]:
    """Resampling people where they are told, else units; each value is a unit of its own unless
    `units` say which belong together."""
    share = float(values.mean())
    try:
        found: Interval = mean_interval(
            values,
            by="item" if people is None else "worker",
            workers=people,
            items=np.arange(len(values)) if units is None else units,
            replicates=replicates_for(len(values)),
            scale=SHARE,
        )
    except AnalysisError as error:
        return share, (None, None), f"Without an interval: {error}"
    what = "units" if people is None else "people"
    return share, (found.low, found.high), f"The interval resamples {what}."
