"""What takes long stops when somebody asks."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from hits.analysis.evaluations.kinds import KINDS
from hits.analysis.rankings import rankings_from_scores
from hits.pipeline.evaluate import computed, settings_of
from tests.analysis.evaluating import Files


class Stopped(Exception):
    pass


class Listener:
    """Says stop when it hears of the computing for the second time: the first is its beginning."""

    def __init__(self) -> None:
        self.heard = 0

    def __call__(self, done: int, total: int | None = None, message: str = "") -> None:
        self.heard += message == "Computing."
        if self.heard == 2:
            raise Stopped


COMPARED = [["left", "right", "chosen", "worker"]] + [
    ["A", "B", "AB"[n % 3 == 0], f"w{n % 4}"] for n in range(12)
]
GIVEN: Mapping[str, Mapping[str, Any]] = {
    "retrieval": {"image_to_text": {"1": [10, 11]}, "image_to_text_truth": {"1": [10]}},
    "comparisons": {"comparisons": COMPARED},
    "agreement": {"judgments": [["unit", "worker", "value"], ["u", "v", 1], ["u", "w", 2]]},
    "forced-choice": {"scores": [["right", "wrong"], [1, 0]]},
    "surveys": {
        "survey": [{"image_id": 1, "description": "32112"}],
        "scores": {"area": {"1": [3, 2, 1, 1, 2]}},
    },
}


@pytest.mark.parametrize("slug", GIVEN)
def test_an_evaluation_stops_between_its_steps(files: Files, slug: str) -> None:
    kind = KINDS[slug]
    forms = {upload.name: upload.form for upload in kind.uploads}
    paths = {
        name: files.csv(name, content) if forms[name] == "lines" else files.json(name, content)
        for name, content in GIVEN[slug].items()
    }
    with pytest.raises(Stopped):
        computed(kind, paths, settings_of(kind, {}), Listener())


def test_a_matrix_stops_being_ranked_between_its_parts() -> None:
    def stop() -> None:
        raise Stopped

    with pytest.raises(Stopped):
        rankings_from_scores(np.ones((2, 3)), np.arange(2), np.arange(3), heed=stop)
