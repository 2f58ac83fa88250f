"""BISON's stage 1: an image is known by the words of all its captions, not by how it looks."""

from collections.abc import Sequence

import numpy as np

from workers.encoders import Reader, Vectors, unit_rows
from workers.encoders.common_space import words_of
from workers.encoders.palette import Palette


class CaptionMean(Palette, Reader):
    """Its word vectors are those that Palette learns for single words."""

    kind = "caption_mean"

    def encode_described(self, groups: Sequence[Sequence[str]]) -> Vectors:
        """The mean of the vectors of all words of each group of captions (BISON §3.1), as rows of
        norm 1. A word counts as often as it stands there; words without a vector do not count."""
        counts = np.zeros((len(groups), len(self._column_of)))
        for row, captions in enumerate(groups):
            for word in (word for caption in captions for word in words_of(caption)):
                if word in self._column_of:
                    counts[row, self._column_of[word]] += 1
        # The sum points where the mean points.
        return unit_rows(counts @ self._caption_weights)
