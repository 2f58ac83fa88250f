"""Machines that learn one space for images and captions by canonical correlation."""

import re
from abc import abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from workers.encoders import Arrays, Learner, Setting, Vectors, unit_rows

Features = NDArray[np.float64]
Learned = NDArray[np.float32]

_WORD = re.compile(r"\w+")
_CAPTIONS_A_CHUNK = 2048
_FEWEST_CAPTIONS_A_PHRASE = 3


class CommonSpaceEncoder(Learner):
    """A kind says what it sees in an image and how long the phrases are that it reads."""

    defaults: ClassVar[dict[str, Setting]] = {
        "dimension": 64,
        "ridge": 0.05,
        "power": 1.0,
        "phrases": 1000,
    }
    phrase_lengths: ClassVar[Sequence[int]]

    _column_of: dict[str, int]
    _image_mean: Learned
    _image_weights: Learned
    _caption_mean: Learned
    _caption_weights: Learned

    @abstractmethod
    def image_features(self, image: Image.Image) -> Features:
        """One vector, of the same length for every image."""

    def fit(self, images: Iterable[Image.Image], captions: Iterable[Iterable[str]]) -> None:
        texts = [list(of_one) for of_one in captions]
        seen = np.array([self.image_features(image) for image in images], np.float32)
        if len(seen) != len(texts):
            raise ValueError(f"{len(seen)} images do not match captions of {len(texts)}")
        owners = np.repeat(np.arange(len(texts)), [len(of_one) for of_one in texts])
        flat = [caption for of_one in texts for caption in of_one]
        self._column_of = {phrase: i for i, phrase in enumerate(self._frequent_phrases(flat))}
        if not self._column_of:
            raise ValueError("too few captions to learn from")
        moments = _Moments(seen.shape[1], len(self._column_of))
        for start in range(0, len(flat), _CAPTIONS_A_CHUNK):
            chunk = slice(start, start + _CAPTIONS_A_CHUNK)
            moments.add(seen[owners[chunk]], self._caption_features(flat[chunk]))
        image_mean, caption_mean = moments.means()
        image_weights, caption_weights = canonical_ridge(
            *moments.covariances(),
            dimension=int(self.settings["dimension"]),
            ridge=float(self.settings["ridge"]),
            power=float(self.settings["power"]),
        )
        self._image_mean = _rounded(image_mean)
        self._image_weights = _rounded(image_weights)
        self._caption_mean = _rounded(caption_mean)
        self._caption_weights = _rounded(caption_weights)

    def encode_images(self, images: Sequence[Image.Image]) -> Vectors:
        seen = [self.image_features(image) for image in images]
        features = np.array(seen).reshape(len(seen), len(self._image_mean))
        return unit_rows((features - self._image_mean) @ self._image_weights)

    def encode_captions(self, captions: Sequence[str]) -> Vectors:
        features = self._caption_features(captions)
        return unit_rows((features - self._caption_mean) @ self._caption_weights)

    def learned(self) -> Arrays:
        return {
            "phrases": np.array(list(self._column_of)),
            "image_mean": self._image_mean,
            "image_weights": self._image_weights,
            "caption_mean": self._caption_mean,
            "caption_weights": self._caption_weights,
        }

    def restore(self, arrays: Arrays) -> None:
        self._column_of = {str(phrase): i for i, phrase in enumerate(arrays["phrases"])}
        self._image_mean = arrays["image_mean"]
        self._image_weights = arrays["image_weights"]
        self._caption_mean = arrays["caption_mean"]
        self._caption_weights = arrays["caption_weights"]

    def _frequent_phrases(self, captions: Sequence[str]) -> list[str]:
        often = frequent(map(self._phrases, captions), _FEWEST_CAPTIONS_A_PHRASE)
        return often[: int(self.settings["phrases"])]

    def _phrases(self, caption: str) -> Iterator[str]:
        words = words_of(caption)
        for length in self.phrase_lengths:
            for start in range(len(words) - length + 1):
                yield " ".join(words[start : start + length])

    def _caption_features(self, captions: Sequence[str]) -> Features:
        features = np.zeros((len(captions), len(self._column_of)))
        for row, caption in enumerate(captions):
            columns = {self._column_of.get(phrase) for phrase in self._phrases(caption)}
            features[row, [column for column in columns if column is not None]] = 1.0
        return features


def frequent(phrases_of: Iterable[Iterable[str]], fewest: int) -> list[str]:
    """The phrases that so many captions have, the most frequent first."""
    counts = Counter(phrase for phrases in phrases_of for phrase in set(phrases))
    often = [phrase for phrase, count in counts.items() if count >= fewest]
    return sorted(often, key=lambda phrase: (-counts[phrase], phrase))


def words_of(caption: str) -> list[str]:
    return _WORD.findall(caption.lower())


def canonical_ridge(
    image_covariance: Features,
    caption_covariance: Features,
    cross_covariance: Features,
    *,
    dimension: int,
    ridge: float,
    power: float,
) -> tuple[Features, Features]:
    """Weights of the first canonical directions, each scaled by its correlation ** power.

    With A and B the covariances, each plus ridge times its mean variance on the diagonal, and C
    the cross-covariance, the singular vectors U, V and values s of A^-1/2 C B^-1/2 give the
    weights A^-1/2 U s^power and B^-1/2 V s^power (Vinod 1976, the canonical ridge; the scaling is
    that of Gong, Ke, Isard and Lazebnik 2014). Cholesky factors stand for the square roots.
    """
    image_factor = _ridged_factor(image_covariance, ridge)
    caption_factor = _ridged_factor(caption_covariance, ridge)
    half_whitened = np.linalg.solve(image_factor, cross_covariance)
    whitened = np.linalg.solve(caption_factor, half_whitened.T).T
    left, correlations, right = np.linalg.svd(whitened, full_matrices=False)
    scale = correlations[:dimension] ** power
    return (
        np.linalg.solve(image_factor.T, left[:, :dimension]) * scale,
        np.linalg.solve(caption_factor.T, right[:dimension].T) * scale,
    )


def _ridged_factor(covariance: Features, ridge: float) -> Features:
    size = len(covariance)
    return np.linalg.cholesky(covariance + ridge * np.trace(covariance) / size * np.eye(size))


def _rounded(values: Features) -> Learned:
    # Hides, but for a rare value on the edge, the order in which another processor's BLAS adds;
    # + 0.0 makes one of the two zeros.
    return (np.round(values, 6) + 0.0).astype(np.float32)


class _Moments:
    """Sums over (image, caption) pairs, so that pairs are held a chunk at a time."""

    def __init__(self, image_size: int, caption_size: int) -> None:
        self._pairs = 0
        self._split = image_size
        self._sum = np.zeros(image_size + caption_size)
        self._products = np.zeros((image_size + caption_size,) * 2)

    def add(self, image_features: NDArray[np.float32], caption_features: Features) -> None:
        rows = np.hstack([image_features, caption_features])
        self._pairs += len(rows)
        self._sum += rows.sum(axis=0)
        self._products += rows.T @ rows

    def means(self) -> tuple[Features, Features]:
        mean = self._sum / self._pairs
        return mean[: self._split], mean[self._split :]

    def covariances(self) -> tuple[Features, Features, Features]:
        mean = self._sum / self._pairs
        covariance = self._products / self._pairs - np.outer(mean, mean)
        at = self._split
        return covariance[:at, :at], covariance[at:, at:], covariance[:at, at:]
