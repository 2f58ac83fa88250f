"""A machine that sees coarse colours and edges by place, and reads words and pairs of words."""

from typing import ClassVar

import numpy as np
from PIL import Image

from workers.encoders import Setting
from workers.encoders.common_space import CommonSpaceEncoder, Features

_SIDE = 96
_COLOUR_CELLS = 6
_EDGE_CELLS = 4
_ORIENTATIONS = 12
_EDGE_WEIGHT = 0.1


class Layout(CommonSpaceEncoder):
    kind = "layout"
    version = "1"
    defaults: ClassVar[dict[str, Setting]] = {
        **CommonSpaceEncoder.defaults,
        "ridge": 0.1,
        "power": 2.0,
    }
    phrase_lengths = (1, 2)

    def image_features(self, image: Image.Image) -> Features:
        small = image.convert("RGB").resize((_SIDE, _SIDE), Image.Resampling.BOX)
        return np.concatenate([_colours_by_cell(small), _EDGE_WEIGHT * _edges_by_cell(small)])


def _colours_by_cell(small: Image.Image) -> Features:
    cells = small.convert("YCbCr").resize((_COLOUR_CELLS, _COLOUR_CELLS), Image.Resampling.BOX)
    return np.asarray(cells, np.float64).ravel() / 255


def _edges_by_cell(small: Image.Image) -> Features:
    """Square root of the gradient summed by cell and orientation."""
    down, right = np.gradient(np.asarray(small.convert("L"), np.float64) / 255)
    turns = np.arctan2(down, right) % np.pi / np.pi
    orientation = np.minimum((turns * _ORIENTATIONS).astype(np.int64), _ORIENTATIONS - 1)
    cell = np.arange(_SIDE) * _EDGE_CELLS // _SIDE
    bins = (cell[:, None] * _EDGE_CELLS + cell) * _ORIENTATIONS + orientation
    strength = np.bincount(
        bins.ravel(),
        weights=np.hypot(down, right).ravel(),
        minlength=_EDGE_CELLS**2 * _ORIENTATIONS,
    )
    return np.sqrt(strength)
