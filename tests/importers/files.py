"""Small corpus files of every kind, and reading them back."""

import io
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from PIL import Image as Picture

from hits.importers import formats
from hits.importers.json_stream import Open
from hits.importers.records import Record, Refusal
from hits.models import Corpus
from hits.pipeline.load import LoadReport, load

Json = dict[str, Any]


def opening(data: bytes) -> Open:
    return lambda: io.BytesIO(data)


def read(name: str, data: bytes | Json) -> tuple[list[Record], list[Refusal]]:
    content = data if isinstance(data, bytes) else json.dumps(data).encode()
    records: list[Record] = []
    refusals: list[Refusal] = []
    for found in formats.read(name, opening(content)):
        if isinstance(found, Refusal):
            refusals.append(found)
        else:
            records.append(found)
    return records, refusals


def picture(colour: int = 0, format_name: str = "JPEG", size: tuple[int, int] = (64, 48)) -> bytes:
    made = Picture.effect_noise(size, 40).convert("RGB")
    made.paste((colour, 255 - colour, 90), (0, 0, 20, 20))
    file = io.BytesIO()
    made.save(file, format_name)
    return file.getvalue()


def coco(
    images: Iterable[Json] = (), annotations: Iterable[Json] = (), categories: Iterable[Json] = ()
) -> Json:
    return {
        "info": {"year": 2017},
        "images": list(images),
        "annotations": list(annotations),
        "categories": list(categories),
    }


def two_images() -> Json:
    """Two images with two captions each, under ids that are far apart."""
    return coco(
        images=[
            {"id": 397133, "file_name": "000000397133.jpg", "width": 64, "height": 48},
            {"id": 37777, "file_name": "000000037777.jpg", "width": 64, "height": 48},
        ],
        annotations=[
            {"id": 9, "image_id": 397133, "caption": "A man in a kitchen."},
            {"id": 10, "image_id": 37777, "caption": "Fruit on a counter."},
            {"id": 11, "image_id": 397133, "caption": "A cook at the stove. "},
            {"id": 12, "image_id": 37777, "caption": "A small kitchen."},
        ],
    )


def write(path: Path, data: Json | bytes | str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(data, dict):
        data = json.dumps(data)
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


def no_progress(done: int, total: int | None = None, message: str = "") -> None:
    pass


def run(corpus: Corpus, source: Path | str, **options: str) -> LoadReport:
    return load(corpus=corpus.slug, source=str(source), progress=no_progress, **options)
