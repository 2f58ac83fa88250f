"""Captions by how often they say which words, rare words counting more."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import ClassVar

import numpy as np
from PIL import Image

from workers.encoders import Arrays, Learner, Reader, Setting, Vectors, unit_rows
from workers.encoders.common_space import words_of

_FEWEST_CAPTIONS_A_WORD = 2


class TfIdf(Reader, Learner):
    """The weight of a word is its count times ln((1 + n) / (1 + df)) + 1, where df of the n
    captions learned from have it (Salton and Buckley 1988, smoothed). An image is described by all
    words of its captions."""

    kind = "tfidf"
    version = "1"
    defaults: ClassVar[dict[str, Setting]] = {"words": 2048}
    learns_from_images = False

    _column_of: dict[str, int]
    _weights: Vectors

    def fit(self, images: Iterable[Image.Image], captions: Iterable[Iterable[str]]) -> None:
        read = 0
        counts: Counter[str] = Counter()
        for caption in (caption for of_one in captions for caption in of_one):
            read += 1
            counts.update(set(words_of(caption)))
        often = [word for word, count in counts.items() if count >= _FEWEST_CAPTIONS_A_WORD]
        often.sort(key=lambda word: (-counts[word], word))
        often = often[: int(self.settings["words"])]
        if not often:
            raise ValueError("too few captions to learn from")
        self._column_of = {word: column for column, word in enumerate(often)}
        having = np.array([counts[word] for word in often])
        self._weights = (np.log((1 + read) / (1 + having)) + 1).astype(np.float32)

    def encode_described(self, groups: Sequence[Sequence[str]]) -> Vectors:
        counts = np.zeros((len(groups), len(self._column_of)), np.float32)
        for row, captions in enumerate(groups):
            for word in (word for caption in captions for word in words_of(caption)):
                if word in self._column_of:
                    counts[row, self._column_of[word]] += 1
        return unit_rows(counts * self._weights)

    def learned(self) -> Arrays:
        return {"words": np.array(list(self._column_of)), "weights": self._weights}

    def restore(self, arrays: Arrays) -> None:
        self._column_of = {str(word): column for column, word in enumerate(arrays["words"])}
        self._weights = arrays["weights"]
