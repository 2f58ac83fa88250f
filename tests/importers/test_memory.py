import json
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from hits.importers import formats
from hits.importers.entries import opener


def coco_lines(count: int) -> Iterator[str]:
    yield '{"images": ['
    yield ",".join(json.dumps({"id": n, "file_name": f"{n:012d}.jpg"}) for n in range(count))
    yield '], "annotations": ['
    yield ",".join(
        json.dumps({"id": n, "image_id": n, "caption": f"Caption {n} of many."})
        for n in range(count)
    )
    yield "]}"


def jsonl_lines(count: int) -> Iterator[str]:
    for n in range(count):
        yield json.dumps({"image_id": n, "caption_id": n, "caption": f"Caption {n}."}) + "\n"


def csv_lines(count: int) -> Iterator[str]:
    yield "image_id,file_name,caption_id,caption,split\n"
    for n in range(count):
        yield f"{n},{n}.jpg,{n},Caption {n} of many.,test\n"


def karpathy_lines(count: int) -> Iterator[str]:
    images = (
        {"filename": f"{n}.jpg", "imgid": n, "sentences": [{"sentid": n, "raw": f"Caption {n}."}]}
        for n in range(count)
    )
    yield '{"images": [' + ",".join(map(json.dumps, images)) + "]}"


def peak_of_reading(path: Path, count: int) -> int:
    tracemalloc.start()
    try:
        records = sum(1 for _ in formats.read(path.name, opener(path)))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert records == 2 * count
    return peak


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        ("coco.json", coco_lines),
        ("karpathy.json", karpathy_lines),
        ("rows.jsonl", jsonl_lines),
        ("rows.csv", csv_lines),
    ],
)
def test_memory_does_not_grow_with_the_file(
    name: str, lines: Callable[[int], Iterator[str]], tmp_path: Path
) -> None:
    peaks = []
    for count in (2_000, 12_000):
        path = tmp_path / f"{count}" / name
        path.parent.mkdir()
        with path.open("w") as file:
            file.writelines(lines(count))
        peaks.append(peak_of_reading(path, count))
    assert peaks[1] < peaks[0] * 1.2
