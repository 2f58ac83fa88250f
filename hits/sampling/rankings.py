"""Metric preference: five rankings of images for one caption (ECCV Caption, App. D.1)."""

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

from hits.sampling.errors import CannotSample

SYSTEMS = "ABCDE"
FEWEST, MOST = 5, 8


class Shown(NamedTuple):
    """A system, by the name that its answers are stored under, with its images, best first."""

    system: str
    images: tuple[int, ...]


def five_rankings(positives: Sequence[int], wrong: Sequence[int]) -> dict[str, tuple[int, ...]]:
    """(A) only the first is wrong (B) only the first is right (C) the first five are wrong (D) only
    the fifth is right (E) all are wrong. A list is as long as there are positives, 5 to 8.

    `wrong` are images that do not fit the caption, at least as many, in the order to show them in.
    """
    length = len(positives)
    if not FEWEST <= length <= MOST:
        raise CannotSample(f"{length} positives; the rankings need {FEWEST} to {MOST}.")
    others = wrong[:length]
    if len({*positives, *others}) < 2 * length:
        raise CannotSample(f"The rankings need {length} positives and {length} other images.")
    right = {
        "A": set(range(1, length)),
        "B": {0},
        "C": set(range(5, length)),
        "D": {4},
        "E": set[int](),
    }
    return {
        system: tuple(
            positives[place] if place in right[system] else others[place] for place in range(length)
        )
        for system in SYSTEMS
    }


def comparisons(positives: Sequence[int], wrong: Sequence[int]) -> list[tuple[Shown, Shown]]:
    """All ten pairs of the five rankings. With exactly five positives C is E, and stored as E."""
    rankings = five_rankings(positives, wrong)
    shown = {
        system: Shown("E" if images == rankings["E"] else system, images)
        for system, images in rankings.items()
    }
    return [(shown[one], shown[two]) for one, two in combinations(SYSTEMS, 2)]
