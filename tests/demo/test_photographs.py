import json
from pathlib import Path
from typing import Any

from PIL import Image

import hits.demo
from hits.demo.corpus import MOST_SCENES, caption_id, image_id

FOLDER = Path(hits.demo.__file__).parent / "photographs"


def described() -> dict[str, Any]:
    return json.loads((FOLDER / "captions.json").read_text())  # type: ignore[no-any-return]


def test_every_photograph_has_five_captions_and_a_stated_licence() -> None:
    data = described()
    assert {image["file_name"] for image in data["images"]} == {
        path.name for path in FOLDER.glob("*.jpg")
    }
    licences = (FOLDER / "LICENCES.md").read_text()
    known = {licence["id"] for licence in data["licenses"]}
    for image in data["images"]:
        assert image["file_name"] in licences
        assert image["license"] in known
        mine = [c["caption"] for c in data["annotations"] if c["image_id"] == image["id"]]
        assert len(set(mine)) == 5


def test_photographs_are_small_and_as_large_as_they_say() -> None:
    for image in described()["images"]:
        path = FOLDER / image["file_name"]
        assert path.stat().st_size < 80_000
        with Image.open(path) as opened:
            assert opened.size == (image["width"], image["height"])
            assert max(opened.size) <= 640


def test_ids_of_photographs_and_scenes_are_apart() -> None:
    data = described()
    assert min(image["id"] for image in data["images"]) > image_id(MOST_SCENES - 1)
    captions = [caption["id"] for caption in data["annotations"]]
    assert len(set(captions)) == len(captions)
    assert min(captions) > caption_id(MOST_SCENES - 1, 4)
