import json
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from hits.demo.corpus import caption_id, file_name, image_id, split, truth, write
from hits.demo.scenes import KINDS, scene
from hits.demo.wording import captions

SEED = 5


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("corpus")
    write(folder, 50, SEED)
    return folder


def read(corpus: Path, name: str) -> dict[str, Any]:
    return json.loads((corpus / name).read_text())  # type: ignore[no-any-return]


def both(corpus: Path, kind: str, part: str) -> list[dict[str, Any]]:
    return [record for name in ("train", "test")
            for record in read(corpus, f"{kind}_{name}.json")[part]]  # fmt: skip


def test_every_image_is_listed_once_in_one_split_and_has_its_file(corpus: Path) -> None:
    images = both(corpus, "captions", "images")
    assert sorted(image["id"] for image in images) == list(range(1, 51))
    assert {image["file_name"] for image in images} == {
        path.name for path in (corpus / "images").iterdir()
    }
    for image in images:
        with Image.open(corpus / "images" / image["file_name"]) as opened:
            assert opened.size == (image["width"], image["height"])
    assert len(read(corpus, "captions_train.json")["images"]) == 20


def test_caption_ids_are_unique_numbers_in_order_and_lead_back_to_the_image(corpus: Path) -> None:
    for name in ("train", "test"):
        written = read(corpus, f"captions_{name}.json")["annotations"]
        ids = [caption["id"] for caption in written]
        assert ids == sorted(set(ids))
        assert all(caption["id"] // 10 == caption["image_id"] for caption in written)
    assert len(both(corpus, "captions", "annotations")) == 250


def test_each_object_is_a_region_of_its_category(corpus: Path) -> None:
    regions = both(corpus, "instances", "annotations")
    assert len({region["id"] for region in regions}) == len(regions)
    names = {c["id"]: c["name"] for c in read(corpus, "instances_test.json")["categories"]}
    assert set(names.values()) == set(KINDS)
    for number in range(50):
        mine = [region for region in regions if region["image_id"] == image_id(number)]
        wanted = [group.kind for group in scene(SEED, number).groups for _ in group.things]
        assert [names[region["category_id"]] for region in mine] == wanted
        assert all(region["area"] == region["bbox"][2] * region["bbox"][3] for region in mine)


def test_a_smaller_corpus_is_the_beginning_of_a_larger_one(corpus: Path, tmp_path: Path) -> None:
    write(tmp_path, 12, SEED)
    for number in range(12):
        path = Path("images") / file_name(number)
        assert (tmp_path / path).read_bytes() == (corpus / path).read_bytes()
    fewer = read(tmp_path, "captions_test.json")["annotations"]
    assert fewer == read(corpus, "captions_test.json")["annotations"][: len(fewer)]


def test_files_are_small(corpus: Path) -> None:
    assert max(path.stat().st_size for path in (corpus / "images").iterdir()) < 30_000


def test_the_truth_of_a_pair_is_found_by_its_ids() -> None:
    own = [truth(SEED, image_id(7), caption_id(7, place)).choice for place in range(5)]
    assert own == ["yes"] * 5
    assert "no" in {truth(SEED, image_id(7), caption_id(n, 0)).choice for n in range(50)}


def test_progress_is_told(tmp_path: Path) -> None:
    heard: list[int] = []
    write(tmp_path, 3, SEED, progress=heard.append)
    assert heard == [1, 2, 3]


@pytest.mark.parametrize("count", [0, -1, 900_001])
def test_an_impossible_size_is_refused(tmp_path: Path, count: int) -> None:
    with pytest.raises(ValueError, match="1 to 900000"):
        write(tmp_path, count, SEED)


def test_a_caption_of_the_train_split_belongs_to_a_train_image(corpus: Path) -> None:
    for name in ("train", "test"):
        for caption in read(corpus, f"captions_{name}.json")["annotations"]:
            assert split(caption["image_id"] - 1) == name
            place = caption["id"] % 10 - 1
            said = captions(scene(SEED, caption["image_id"] - 1))[place]
            assert said.text == caption["caption"]
