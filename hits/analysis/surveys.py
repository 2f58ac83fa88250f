"""Surveys of object importance: ratings by people and by scorers (VL detectors, §4.2)."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from hits.analysis.arrays import Floats, Ints
from hits.analysis.errors import DegenerateInput
from hits.analysis.resampling import CORRELATION, Interval, mean_interval

Ratings = Mapping[str, Sequence[float]]


@dataclass(frozen=True)
class PerImageTau:
    """tau-b of each image that has one; the others rate all objects alike on one side."""

    images: tuple[str, ...]
    values: Floats
    without: tuple[str, ...]

    @property
    def mean(self) -> float:
        return float(self.values.mean())

    def interval(self, *, seed: int = 0) -> Interval:
        """Images are resampled: with one person an image they are the workers as well."""
        return mean_interval(
            self.values, items=np.arange(len(self.values)), scale=CORRELATION, seed=seed
        )


def per_image_tau(first: Ratings, second: Ratings) -> PerImageTau:
    """Kendall's tau-b between two ratings of an image's objects, for images that have both."""
    found: dict[str, float] = {}
    without = []
    for image in first:
        if image not in second:
            continue
        one, two = np.asarray(first[image], float), np.asarray(second[image], float)
        if len(one) != len(two):
            raise DegenerateInput(f"Image {image} has {len(one)} ratings here, {len(two)} there.")
        if len(one) < 2 or np.ptp(one) == 0 or np.ptp(two) == 0:
            without.append(image)
        else:
            found[image] = float(stats.kendalltau(one, two, variant="b").statistic)
    if not found:
        raise DegenerateInput(
            "No image has a rank correlation: its ratings are missing or all equal."
        )
    return PerImageTau(tuple(found), np.array(list(found.values())), tuple(without))


def at_frequencies_of(scores: Ratings, survey: Ratings) -> dict[str, list[int]]:
    """Scores mapped to the survey's values, each as often as people gave it (Table 1).

    All objects of all images are put in one order by score; equal scores stay in their given order.
    """
    images = [image for image in scores if image in survey]
    if not images:
        raise DegenerateInput("The scores and the survey have no image in common.")
    values = np.concatenate([np.asarray(scores[image], float) for image in images])
    given = np.sort(np.concatenate([np.asarray(survey[image], int) for image in images]))
    if len(values) != len(given):
        raise DegenerateInput("Scores and ratings differ in number.")
    mapped = np.empty(len(values), np.int64)
    mapped[np.argsort(values, kind="stable")] = given
    ends = np.cumsum([len(scores[image]) for image in images])
    parts = np.split(mapped, ends[:-1])
    return {image: part.tolist() for image, part in zip(images, parts, strict=True)}


def majority_of_votes(votes: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """The side that most people chose, for images where one has more votes than any other."""
    chosen = {}
    for image, sides in votes.items():
        counts = Counter(sides).most_common(2)
        if counts and (len(counts) == 1 or counts[0][1] > counts[1][1]):
            chosen[image] = counts[0][0]
    return chosen


def unanimity(votes: Mapping[str, Sequence[str]], people: int) -> float:
    """The share of images on which all agreed, among those that so many people judged."""
    full = [sides for sides in votes.values() if len(sides) == people]
    if not full:
        raise DegenerateInput(f"No image was judged by {people} people.")
    return sum(len(set(sides)) == 1 for sides in full) / len(full)


def suspicious(
    ratings: Mapping[str, Sequence[int]], seconds: Mapping[str, float], *, fastest: float
) -> dict[str, list[str]]:
    """Reasons to look at an answer again: it is proposed for exclusion, never dropped (§5)."""
    if fastest <= 0:
        raise DegenerateInput("The shortest reasonable time is more than 0.")
    repeated = Counter(tuple(given) for given in ratings.values())
    reasons: dict[str, list[str]] = {}
    for answer, given in ratings.items():
        found = []
        if answer in seconds and seconds[answer] < fastest:
            found.append("too fast")
        if len(given) > 1 and len(set(given)) == 1:
            found.append("no variation")
        if len(ratings) >= MANY and repeated[tuple(given)] > len(ratings) / 2:
            found.append("repeated pattern")
        if found:
            reasons[answer] = found
    return reasons


MANY = 4


def agreement_with_people(
    chosen: Mapping[str, str], first: Mapping[str, float], second: Mapping[str, float]
) -> tuple[Floats, Ints]:
    """1 where a metric prefers the system that people chose, 0.5 where it is undecided, 0 else.

    `chosen` is "1" or "2" an image; `first` and `second` are the metric of the two systems. With it
    come the places of the images, to resample by.
    """
    images = [image for image in chosen if image in first and image in second]
    if not images:
        raise DegenerateInput("The metric and the survey have no image in common.")
    difference = np.array([first[image] - second[image] for image in images])
    people = np.array([{"1": 1.0, "2": -1.0}[chosen[image]] for image in images])
    return (1 + np.sign(difference) * people) / 2, np.arange(len(images))
