"""Vectors that any process computes alike, without Django."""

import sys
from pathlib import Path

import numpy as np

from workers.encoders import Vectors
from workers.vectors import BATCH, computed

ITEMS, LONG = 10 * BATCH + 17, 6


def encoded(start: int, stop: int) -> Vectors:
    return np.sin(np.arange(start * LONG, stop * LONG)).astype(np.float32).reshape(-1, LONG)


if __name__ == "__main__":
    computed(Path(sys.argv[1]), ITEMS, encoded, lambda done: print(done, flush=True))  # noqa: T201
