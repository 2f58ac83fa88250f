"""A corpus that the project makes itself, in which the truth of every pair is known."""

from hits.demo.corpus import caption_id, file_name, image_id, split, truth, write
from hits.demo.drawing import draw
from hits.demo.scenes import Group, Scene, Thing, scene
from hits.demo.truth import Claim, Mention, Relation, Truth, is_true
from hits.demo.wording import Caption, captions

__all__ = [
    "Caption",
    "Claim",
    "Group",
    "Mention",
    "Relation",
    "Scene",
    "Thing",
    "Truth",
    "caption_id",
    "captions",
    "draw",
    "file_name",
    "image_id",
    "is_true",
    "scene",
    "split",
    "truth",
    "write",
]
