from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest

from hits.analysis.released_importance import by_table, furthest_from_any_typicality
from hits.sampling.importance import closeness, shared_by_area, spread
from hits.sampling.regions import polygons

PERSON, DOG, OVEN = 1, 18, 79
CAPTIONS = {7: ["A man with his dog.", "A man."]}


def entry(typical: Mapping[int, float], kinds: Sequence[int]) -> dict[str, Any]:
    """Triangles in a row with the weights that this typicality gives them."""
    outlines = [[[30.0 * n, 0.0, 30.0 * n + 9 + n, 0.0, 30.0 * n, 9.0]] for n in range(len(kinds))]
    areas = [4.5 * (9 + n) for n in range(len(kinds))]
    shared = shared_by_area(
        {str(kind): share for kind, share in typical.items()}, [str(kind) for kind in kinds], areas
    )
    weights = spread(shared, closeness([polygons(each) for each in outlines]))
    anns = [
        {
            "id": 100 + n,
            "image_id": 7,
            "category_id": kind,
            "area": areas[n],
            "segmentation": outlines[n],
            "weight": weights[n],
        }
        for n, kind in enumerate(kinds)
    ]
    return {"anns": anns}


def test_weights_of_what_the_captions_say_are_found_again() -> None:
    found = by_table([entry({PERSON: 1.0, DOG: 0.5}, [PERSON, PERSON, DOG, OVEN, OVEN])], CAPTIONS)
    assert found == (1, 1, 1.0)


def test_weights_of_another_reading_of_the_captions_are_told_apart() -> None:
    kinds = [PERSON, PERSON, PERSON, DOG, DOG, OVEN, OVEN, OVEN, OVEN, OVEN]
    found = by_table([entry({OVEN: 1.0}, kinds)], CAPTIONS)
    assert (found.images, found.as_released) == (1, 0)
    assert found.five_found < 1


def test_images_with_masks_or_without_weights_are_left_out() -> None:
    masked, unweighted = (entry({PERSON: 1.0}, [PERSON, DOG]) for _ in range(2))
    masked["anns"][0]["segmentation"] = {"counts": [], "size": [1, 1]}
    unweighted["anns"][0]["weight"] = float("nan")
    assert by_table([masked, unweighted], CAPTIONS).images == 0


def test_weights_that_some_typicality_explains_are_not_far_from_it() -> None:
    explained = entry({OVEN: 0.4, DOG: 1.0}, [DOG, DOG, OVEN, OVEN, OVEN])
    furthest, images = furthest_from_any_typicality([explained])
    assert furthest == pytest.approx(0, abs=1e-12)
    assert images == 1


def test_weights_that_no_typicality_explains_are_far_from_it() -> None:
    turned = entry({OVEN: 0.4, DOG: 1.0}, [DOG, DOG, OVEN, OVEN, OVEN])
    weights = [each["weight"] for each in turned["anns"]]
    for each, weight in zip(turned["anns"], np.roll(weights, 1), strict=True):
        each["weight"] = weight
    furthest, _ = furthest_from_any_typicality([turned])
    assert furthest > 0.01
