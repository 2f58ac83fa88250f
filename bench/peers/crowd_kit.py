"""crowd-kit's Bradley–Terry on comparisons in a file; runs in crowd-kit's own environment.

Its version 1.4.2 compares its estimate with itself and stops after two rounds, so tol is -1 and it
does all of its 100.
"""

import json
import sys
import time
import warnings

import numpy as np
import pandas as pd
from crowdkit.aggregation import BradleyTerry


def main() -> None:
    warnings.filterwarnings("ignore")
    given = np.load(sys.argv[1])
    frame = pd.DataFrame({"left": given["left"], "right": given["right"]})
    frame["label"] = np.where(given["outcome"] == 0, frame["left"], frame["right"])
    frame["worker"] = 0
    clock, cpu = time.perf_counter(), time.process_time()
    scores = BradleyTerry(n_iter=100, tol=-1).fit_predict(frame)
    taken = {
        "seconds": time.perf_counter() - clock,
        "cpu_seconds": time.process_time() - cpu,
        "scores": scores.sort_index().tolist(),
    }
    print(json.dumps(taken))


if __name__ == "__main__":
    main()
