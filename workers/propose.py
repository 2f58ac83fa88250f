"""The machines' half of the loop: learn, encode, search, keep."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from django.conf import settings
from django.db.models import QuerySet
from numpy.typing import NDArray
from PIL import Image as Picture

from hits.models import Caption, Corpus, Image, Machine, Proposal
from hits.models.machines import Direction
from hits.pipeline import blobs, propose
from hits.pipeline.errors import Refused
from hits.pipeline.jobs import Progress
from workers import encoders
from workers.search import top_k_blocks

BATCH = 256
Ids = NDArray[np.int64]


def propose_candidates(
    *,
    corpus: Corpus,
    kind: str,
    directions: list[str],
    split: str,
    train_split: str,
    depth: int,
    query_sample: int | None,
    seed: int,
    progress: Progress | None = None,
) -> list[Proposal]:
    """Rank every target for each query, in each direction, and keep the best."""
    if kind == propose.ORIGINALS:
        return [
            propose.keep_originals(
                corpus=corpus,
                direction=direction,
                split=split,
                depth=depth,
                query_sample=query_sample,
                seed=seed,
            )
            for direction in directions
        ]
    say = progress or _say_nothing
    encoder, machine = _machine(corpus, kind, train_split, say)
    images = _image_vectors(corpus, split, encoder, say)
    captions = _caption_vectors(corpus, split, encoder)
    if not len(images[0]) or not len(captions[0]):
        raise Refused(f"The split {split!r} has no images with files and captions.")
    kept = []
    for direction in directions:
        queries, targets = (images, captions) if direction == "i2t" else (captions, images)
        chosen = _sample(queries, query_sample, seed)
        kept.append(
            propose.keep(
                corpus=corpus,
                machine=machine,
                direction=direction,
                split=split,
                depth=depth,
                query_sample=query_sample,
                seed=seed,
                ranked=_ranked(chosen, targets, depth, direction, say),
            )
        )
    return kept


def _say_nothing(done: int, total: int | None = None, message: str = "") -> None:
    return


def _machine(
    corpus: Corpus, kind: str, train_split: str, say: Any
) -> tuple[encoders.Encoder, Machine]:
    """The machine as it was learned on this corpus before, or learned now."""
    try:
        encoder = encoders.create(kind, kind)
    except encoders.UnknownMachine as unknown:
        raise Refused(str(unknown)) from None
    folder = Path(settings.DATA_DIR) / "machines" / corpus.slug
    folder.mkdir(parents=True, exist_ok=True)
    learned_from = Caption.objects.filter(corpus=corpus, image__split=train_split)
    path = folder / f"{kind}-{encoder.version}-{train_split}-{learned_from.count()}.npz"
    if path.exists():
        encoder = encoders.load(path)
        checksum = encoders.file_checksum(path)
    else:
        _learn(encoder, _with_files(corpus, train_split), say)
        checksum = encoders.save(encoder, path)
    machine = propose.machine_of(
        name=encoder.name,
        version=encoder.version,
        kind=encoder.kind,
        checksum=checksum,
        settings={**encoder.settings, "learned_on": f"{corpus.slug}/{train_split}"},
    )
    return encoder, machine


def _with_files(corpus: Corpus, split: str) -> QuerySet[Image]:
    images = Image.objects.filter(corpus=corpus, split=split, blob__isnull=False)
    return images.select_related("blob").order_by("pk")


def _learn(encoder: encoders.Encoder, images: QuerySet[Image], say: Any) -> None:
    total = images.count()
    if not total:
        raise Refused("There are no images with files to learn from in the training split.")
    captions: dict[int, list[str]] = {}
    pairs = Caption.objects.filter(image__in=images).order_by("pk").values_list("image_id", "text")
    for image_id, text in pairs:
        captions.setdefault(image_id, []).append(text)

    def pictures() -> Iterator[Picture.Image]:
        for done, image in enumerate(images.iterator(chunk_size=BATCH), start=1):
            say(done, total, f"{encoder.name}: learning")
            yield _picture(image)

    ids = images.values_list("pk", flat=True)
    encoder.fit(pictures(), (captions.get(pk, []) for pk in ids))


def _picture(image: Image) -> Picture.Image:
    assert image.blob is not None
    with blobs.open_blob(image.blob) as file, Picture.open(file) as picture:
        return picture.convert("RGB")


def _image_vectors(
    corpus: Corpus, split: str, encoder: encoders.Encoder, say: Any
) -> tuple[Ids, encoders.Vectors]:
    images = _with_files(corpus, split)
    total = images.count()
    ids: list[int] = []
    vectors = []
    for batch in _batches(images.iterator(chunk_size=BATCH)):
        ids += [image.pk for image in batch]
        vectors.append(encoder.encode_images([_picture(image) for image in batch]))
        say(len(ids), total, f"{encoder.name.capitalize()}: encoding images")
    return _stacked(ids, vectors)


def _caption_vectors(
    corpus: Corpus, split: str, encoder: encoders.Encoder
) -> tuple[Ids, encoders.Vectors]:
    captions = Caption.objects.filter(corpus=corpus, image__split=split).order_by("pk")
    ids: list[int] = []
    vectors = []
    rows = captions.values_list("pk", "text").iterator(chunk_size=BATCH)
    for batch in _batches(rows):
        ids += [pk for pk, _ in batch]
        vectors.append(encoder.encode_captions([text for _, text in batch]))
    return _stacked(ids, vectors)


def _stacked(ids: list[int], vectors: list[encoders.Vectors]) -> tuple[Ids, encoders.Vectors]:
    empty = np.empty((0, 0), np.float32)
    return np.array(ids, np.int64), np.concatenate(vectors) if vectors else empty


def _sample(
    queries: tuple[Ids, encoders.Vectors], size: int | None, seed: int
) -> tuple[Ids, encoders.Vectors]:
    ids, vectors = queries
    if size is None or size >= len(ids):
        return queries
    chosen = sorted(Random(seed).sample(range(len(ids)), size))
    return ids[chosen], vectors[chosen]


def _ranked(
    queries: tuple[Ids, encoders.Vectors],
    targets: tuple[Ids, encoders.Vectors],
    depth: int,
    direction: str,
    say: Any,
) -> Iterator[propose.Ranked]:
    ids, vectors = queries
    for block in top_k_blocks(vectors, targets[1], depth):
        found = targets[0][block.indices].tolist()
        for row, (own, scores) in enumerate(zip(found, block.scores.tolist(), strict=True)):
            yield int(ids[block.start + row]), own, scores
        say(block.start + len(block.indices), len(ids), f"{Direction(direction).label}: ranking")


def _batches(items: Iterable[Any]) -> Iterator[list[Any]]:
    batch = []
    for item in items:
        batch.append(item)
        if len(batch) == BATCH:
            yield batch
            batch = []
    if batch:
        yield batch
