"""Detection metrics, overall and an image, against those annotations whose importance exceeds T.

The six COCO metrics come from pycocotools; mAR¹ at an IOU of 0.5 and F1, its harmonic mean with
mAP₅₀, are those of VL detectors §3.5.
"""

import contextlib
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval

from hits.analysis.arrays import Floats
from hits.analysis.errors import DegenerateInput

METRICS = ("mAP", "mAP50", "mAP75", "mAR1", "mAR10", "mAR100", "mAR1_50", "F1")
NONE_HERE = -1.0
Metrics = dict[str, float]


@dataclass(frozen=True)
class Box:
    """(left, top, width, height), of one category, on an image."""

    image: int
    category: int
    box: tuple[float, float, float, float]


@dataclass(frozen=True)
class Annotation(Box):
    """A true object."""

    importance: float = 1.0


@dataclass(frozen=True)
class Detection(Box):
    score: float


class Detections:
    """One detector's boxes, matched once with the annotations that are kept at a threshold."""

    def __init__(
        self,
        annotations: Sequence[Annotation],
        detections: Sequence[Detection],
        *,
        threshold: float = 0.0,
    ) -> None:
        kept = [one for one in annotations if one.importance > threshold]
        if not kept:
            raise DegenerateInput(f"No annotation has an importance of more than {threshold}.")
        images = {one.image for one in kept}
        found = [one for one in detections if one.image in images]
        if not found:
            raise DegenerateInput("No detection lies on an annotated image.")
        with contextlib.redirect_stdout(io.StringIO()):
            truth, result = _coco(kept), _coco(found)
            self.evaluation = COCOeval(truth, result, "bbox")
            _take_every_size(self.evaluation.params)
            self.evaluation.evaluate()
        self.images = sorted(images)
        self.matched = _matches_of(self.evaluation)

    def metrics(self) -> Metrics:
        """Over all images that keep an annotation."""
        return self._metrics_of(range(len(self.images)))

    def by_image(self, wanted: Callable[[int], bool] = lambda _: True) -> dict[int, Metrics]:
        """Of the wanted ones among the images that keep an annotation."""
        return {
            image: self._metrics_of([place])
            for place, image in enumerate(self.images)
            if wanted(image)
        }

    def _metrics_of(self, places: Sequence[int]) -> Metrics:
        whole = self.evaluation
        part = COCOeval(whole.cocoGt, whole.cocoDt, "bbox")
        part.params = _params(whole, [self.images[place] for place in places])
        part._paramsEval = part.params
        part.evalImgs = self.matched[:, places].ravel().tolist()
        with contextlib.redirect_stdout(io.StringIO()):
            part.accumulate()
        return _summary(part.eval["precision"], part.eval["recall"])


def _take_every_size(params: Any) -> None:
    """No metric here tells small objects from large ones, which would be counted again."""
    params.areaRng, params.areaRngLbl = params.areaRng[:1], params.areaRngLbl[:1]


def _matches_of(evaluation: Any) -> NDArray[np.object_]:
    """What was matched, by category and image."""
    matched = np.empty(len(evaluation.evalImgs), np.object_)
    matched[:] = evaluation.evalImgs
    return matched.reshape(len(evaluation.params.catIds), len(evaluation.params.imgIds))


def _params(evaluation: Any, images: list[int]) -> Any:
    kept = type(evaluation.params)(iouType="bbox")
    kept.__dict__.update(evaluation.params.__dict__)
    kept.imgIds = images
    return kept


def _coco(boxes: Sequence[Box]) -> Any:
    entries = [
        {
            "id": number,
            "image_id": one.image,
            "category_id": one.category,
            "bbox": list(one.box),
            "area": one.box[2] * one.box[3],
            "iscrowd": 0,
            **({"score": one.score} if isinstance(one, Detection) else {}),
        }
        for number, one in enumerate(boxes, 1)
    ]
    coco = COCO()
    coco.dataset = {
        "images": [{"id": image} for image in sorted({one.image for one in boxes})],
        "annotations": entries,
        "categories": [{"id": category} for category in sorted({one.category for one in boxes})],
    }
    coco.createIndex()
    return coco


def _summary(precision: Floats, recall: Floats) -> Metrics:
    """precision[iou, recall, category, area, most]; recall[iou, category, area, most]."""

    def mean(values: Floats) -> float:
        known = values[values > NONE_HERE]
        return float(known.mean()) if known.size else 0.0

    half, three_quarters = 0, 5
    found = {
        "mAP": mean(precision[:, :, :, 0, 2]),
        "mAP50": mean(precision[half, :, :, 0, 2]),
        "mAP75": mean(precision[three_quarters, :, :, 0, 2]),
        "mAR1": mean(recall[:, :, 0, 0]),
        "mAR10": mean(recall[:, :, 0, 1]),
        "mAR100": mean(recall[:, :, 0, 2]),
        "mAR1_50": mean(recall[half, :, 0, 0]),
    }
    return {**found, "F1": _harmonic(found["mAP50"], found["mAR1_50"])}


def _harmonic(one: float, other: float) -> float:
    return 2 * one * other / (one + other) if one + other else 0.0
