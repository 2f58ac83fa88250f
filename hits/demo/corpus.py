"""Writes the demo corpus in the layout of COCO, one image at a time."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, Literal

from hits.demo.drawing import draw
from hits.demo.scenes import HEIGHT, KINDS, WIDTH, Scene, scene
from hits.demo.truth import Truth, is_true
from hits.demo.wording import captions

# Of the demo that this project starts with.
SEED = 7
Split = Literal["train", "test"]
SPLITS: tuple[Split, ...] = ("train", "test")

# The ids above belong to the photographs.
MOST_SCENES = 900_000
IDS_AN_IMAGE = 10
REGIONS_AN_IMAGE = 100
JPEG: dict[str, Any] = {"quality": 87, "subsampling": "4:2:0"}

Record = dict[str, Any]

LICENCES: list[Record] = [
    {"id": 1, "name": "CC0 1.0", "url": "https://creativecommons.org/publicdomain/zero/1.0/"}
]
CATEGORY_IDS = {name: place + 1 for place, name in enumerate(KINDS)}
CATEGORIES: list[Record] = [
    {"id": CATEGORY_IDS[kind.name], "name": kind.name, "supercategory": kind.family}
    for kind in KINDS.values()
]


def image_id(number: int) -> int:
    return number + 1


def caption_id(number: int, place: int) -> int:
    return image_id(number) * IDS_AN_IMAGE + place + 1


def file_name(number: int) -> str:
    return f"scene_{image_id(number):012d}.jpg"


def split(number: int) -> Split:
    """Two images in five are for machines to learn on; studies use the others."""
    return "train" if number % 5 >= 3 else "test"


def truth(seed: int, image: int, caption: int) -> Truth:
    """The truth of a pair, by the ids under which its image and its caption were written."""
    source, place = caption // IDS_AN_IMAGE - 1, caption % IDS_AN_IMAGE - 1
    return is_true(scene(seed, image - 1), captions(scene(seed, source))[place].claim)


def write(
    folder: Path, count: int, seed: int, progress: Callable[[int], None] | None = None
) -> None:
    """Images, captions and instances of both splits; `progress` hears how many images are done."""
    if not 0 < count <= MOST_SCENES:
        raise ValueError(f"A demo corpus has 1 to {MOST_SCENES} images, not {count}.")
    images = folder / "images"
    images.mkdir(parents=True, exist_ok=True)
    for number in range(count):
        draw(scene(seed, number)).save(images / file_name(number), "JPEG", **JPEG)
        if progress is not None:
            progress(number + 1)
    for name in SPLITS:
        _write_captions(folder / f"captions_{name}.json", seed, count, name)
        _write_instances(folder / f"instances_{name}.json", seed, count, name)


def _scenes(seed: int, count: int, name: Split) -> Iterator[Scene]:
    return (scene(seed, number) for number in range(count) if split(number) == name)


def _write_captions(path: Path, seed: int, count: int, name: Split) -> None:
    lists: dict[str, Iterable[Record]] = {
        "licenses": LICENCES,
        "images": map(_image, _scenes(seed, count, name)),
        "annotations": (r for each in _scenes(seed, count, name) for r in _captions(each)),
    }
    _write_json(path, _info(seed, count, name), lists)


def _write_instances(path: Path, seed: int, count: int, name: Split) -> None:
    lists: dict[str, Iterable[Record]] = {
        "licenses": LICENCES,
        "images": map(_image, _scenes(seed, count, name)),
        "annotations": (r for each in _scenes(seed, count, name) for r in _regions(each)),
        "categories": CATEGORIES,
    }
    _write_json(path, _info(seed, count, name), lists)


def _info(seed: int, count: int, name: Split) -> Record:
    return {
        "description": f"Demo corpus of drawn scenes, {name} split",
        "version": "1",
        "split": name,
        "seed": seed,
        "count": count,
    }


def _image(scene: Scene) -> Record:
    return {
        "id": image_id(scene.number),
        "file_name": file_name(scene.number),
        "width": WIDTH,
        "height": HEIGHT,
        "license": LICENCES[0]["id"],
    }


def _captions(scene: Scene) -> Iterator[Record]:
    for place, caption in enumerate(captions(scene)):
        yield {
            "id": caption_id(scene.number, place),
            "image_id": image_id(scene.number),
            "caption": caption.text,
        }


def _regions(scene: Scene) -> Iterator[Record]:
    things = [(group, thing) for group in scene.groups for thing in group.things]
    for place, (group, thing) in enumerate(things):
        yield {
            "id": image_id(scene.number) * REGIONS_AN_IMAGE + place + 1,
            "image_id": image_id(scene.number),
            "category_id": CATEGORY_IDS[group.kind],
            "bbox": [thing.left, thing.top, thing.width, thing.height],
            "area": thing.width * thing.height,
            "iscrowd": 0,
        }


def _write_json(path: Path, info: Record, lists: dict[str, Iterable[Record]]) -> None:
    """One record a line, so that nothing but the record at hand is in memory."""
    with path.open("w", encoding="utf-8") as file:
        file.write('{"info": ' + json.dumps(info))
        for name, records in lists.items():
            file.write(f',\n"{name}": [')
            for place, record in enumerate(records):
                file.write((",\n" if place else "\n") + json.dumps(record))
            file.write("\n]")
        file.write("}\n")
