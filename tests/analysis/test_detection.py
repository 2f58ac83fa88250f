import contextlib
import io

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pycocotools.cocoeval import COCOeval

from hits.analysis import detection
from hits.analysis.detection import Annotation, Detection, Detections
from hits.analysis.errors import DegenerateInput


def drawn(seed: int = 0) -> tuple[list[Annotation], list[Detection]]:
    rng = np.random.default_rng(seed)
    annotations, detections = [], []
    for image in range(1, 7):
        for _ in range(5):
            left, top, width, height = rng.uniform(20, 120, 4)
            category = int(rng.integers(1, 4))
            annotations.append(
                Annotation(image, category, (left, top, width, height), float(rng.random()))
            )
            if rng.random() < 0.8:
                moved = (left + rng.normal(0, 6), top + rng.normal(0, 6), width, height)
                detections.append(Detection(image, category, moved, float(rng.random())))
    return annotations, detections


def test_coco_s_six_metrics_equal_pycocotools_summary() -> None:
    annotations, detections = drawn()
    found = Detections(annotations, detections, threshold=-1).metrics()
    with contextlib.redirect_stdout(io.StringIO()):
        plain = COCOeval(detection._coco(annotations), detection._coco(detections), "bbox")
        plain.evaluate()
        plain.accumulate()
        plain.summarize()
    expected = [plain.stats[place] for place in (0, 1, 2, 6, 7, 8)]
    assert [found[name] for name in detection.METRICS[:6]] == pytest.approx(expected)


def test_an_image_s_metrics_are_those_of_that_image_alone() -> None:
    annotations, detections = drawn()
    by_image = Detections(annotations, detections, threshold=-1).by_image()
    for image in by_image:
        alone = Detections(
            [one for one in annotations if one.image == image],
            [one for one in detections if one.image == image],
            threshold=-1,
        )
        assert by_image[image] == pytest.approx(alone.metrics())


def test_only_the_wanted_images_are_measured() -> None:
    found = Detections(*drawn(), threshold=-1)
    assert found.by_image(lambda image: image % 2 == 0) == {
        image: metrics for image, metrics in found.by_image().items() if image in (2, 4, 6)
    }


def test_perfect_detections_have_perfect_precision() -> None:
    annotations, _ = drawn()
    perfect = [Detection(one.image, one.category, one.box, 0.9) for one in annotations]
    found = Detections(annotations, perfect).metrics()
    assert found["mAP"] == pytest.approx(1)
    assert found["F1"] <= 1


def test_f1_is_the_harmonic_mean_of_precision_and_recall_at_half() -> None:
    found = Detections(*drawn(1), threshold=-1).metrics()
    precision, recall = found["mAP50"], found["mAR1_50"]
    assert found["F1"] == pytest.approx(2 * precision * recall / (precision + recall))


def test_objects_of_little_importance_do_not_count() -> None:
    kept = Annotation(1, 1, (0, 0, 10, 10), importance=0.9)
    dropped = Annotation(1, 1, (50, 50, 10, 10), importance=0.1)
    found = [Detection(1, 1, (0, 0, 10, 10), 0.9)]
    assert Detections([kept, dropped], found, threshold=0.25).metrics()["mAR1"] == 1
    assert Detections([kept, dropped], found).metrics()["mAR1"] == 0.5


def test_a_threshold_that_keeps_nothing_is_refused() -> None:
    annotations, detections = drawn()
    with pytest.raises(DegenerateInput, match="No annotation"):
        Detections(annotations, detections, threshold=2)


@settings(max_examples=10)
@given(st.integers(0, 2**32 - 1))
def test_metrics_are_shares_that_know_neither_the_order_nor_the_scale_of_scores(seed: int) -> None:
    annotations, detections = drawn(seed)
    found = Detections(annotations, detections, threshold=-1).metrics()
    assert all(0 <= value <= 1 for value in found.values())
    assert found["mAR1"] <= found["mAR10"] <= found["mAR100"]
    assert found["mAP"] <= found["mAP50"]
    scaled = [Detection(one.image, one.category, one.box, 3 * one.score) for one in detections]
    again = Detections(annotations[::-1], scaled[::-1], threshold=-1).metrics()
    assert again == pytest.approx(found)
