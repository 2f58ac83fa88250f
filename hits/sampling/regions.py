"""How far apart two regions of an image are.

A region is a list of polygons, each an array of (x, y); a box is a region of one polygon.
"""

import numpy as np

from hits.sampling.arrays import Bools, Floats
from hits.sampling.errors import CannotSample

Region = list[Floats]


def box(left: float, top: float, width: float, height: float) -> Region:
    if width <= 0 or height <= 0:
        raise CannotSample("A box has a width and a height.")
    right, bottom = left + width, top + height
    return [np.array([[left, top], [right, top], [right, bottom], [left, bottom]])]


def polygons(flat: list[list[float]]) -> Region:
    """COCO's segmentation: lists of x, y, x, y …"""
    if not flat or any(len(each) < 6 or len(each) % 2 for each in flat):
        raise CannotSample("A polygon has at least three points of two coordinates.")
    return [np.asarray(each, np.float64).reshape(-1, 2) for each in flat]


def distance(one: Region, other: Region) -> float:
    """The least Euclidean distance between points of the two; 0 where they touch or overlap."""
    return min(_apart(a, b) for a in one for b in other)


def _apart(a: Floats, b: Floats) -> float:
    if _contains(a, b[:1]).any() or _contains(b, a[:1]).any() or _cross(a, b):
        return 0.0
    return min(_to_edges(a, b), _to_edges(b, a))


def _edges(polygon: Floats) -> tuple[Floats, Floats]:
    return polygon, np.roll(polygon, -1, axis=0)


def _to_edges(points: Floats, polygon: Floats) -> float:
    starts, ends = _edges(polygon)
    along = ends - starts
    length = np.maximum((along**2).sum(axis=1), 1e-12)
    offset = points[:, None, :] - starts[None]
    share = ((offset * along).sum(axis=2) / length).clip(0, 1)
    away = offset - share[..., None] * along
    return float(np.sqrt((away**2).sum(axis=2).min()))


def _contains(polygon: Floats, points: Floats) -> Bools:
    """By the number of edges that a ray to the right crosses."""
    starts, ends = _edges(polygon)
    x, y = points[:, 0, None], points[:, 1, None]
    straddles = (starts[:, 1] > y) != (ends[:, 1] > y)
    rise = np.where(ends[:, 1] == starts[:, 1], 1.0, ends[:, 1] - starts[:, 1])
    at = starts[:, 0] + (y - starts[:, 1]) * (ends[:, 0] - starts[:, 0]) / rise
    odd: Bools = (straddles & (x < at)).sum(axis=1) % 2 == 1
    return odd


def _cross(a: Floats, b: Floats) -> bool:
    p, p_end = (each[:, None, :] for each in _edges(a))
    q, q_end = (each[None] for each in _edges(b))

    def side(start: Floats, end: Floats, point: Floats) -> Floats:
        turn: Floats = (end - start)[..., 0] * (point - start)[..., 1] - (end - start)[..., 1] * (
            point - start
        )[..., 0]
        return turn

    between = side(p, p_end, q) * side(p, p_end, q_end) < 0
    return bool((between & (side(q, q_end, p) * side(q, q_end, p_end) < 0)).any())
