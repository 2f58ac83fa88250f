"""A machine that sees how much of each colour there is, wherever it is, and reads single words."""

import numpy as np
from PIL import Image

from workers.encoders.common_space import CommonSpaceEncoder, Features

_SIDE = 96
_HUES, _SATURATIONS, _VALUES = 12, 3, 3


class Palette(CommonSpaceEncoder):
    kind = "palette"
    version = "1"
    phrase_lengths = (1,)

    def image_features(self, image: Image.Image) -> Features:
        # Nearest keeps the colours that are there, where a filter would mix new ones at edges.
        small = image.convert("RGB").resize((_SIDE, _SIDE), Image.Resampling.NEAREST)
        hue, saturation, value = np.asarray(small.convert("HSV"), np.int64).reshape(-1, 3).T
        bins = hue * _HUES // 256
        bins = bins * _SATURATIONS + saturation * _SATURATIONS // 256
        bins = bins * _VALUES + value * _VALUES // 256
        counts = np.bincount(bins, minlength=_HUES * _SATURATIONS * _VALUES)
        shares: Features = counts / bins.size
        return np.sqrt(shares)
