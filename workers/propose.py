"""The machines' half of the loop: learn, encode, search, keep."""

from collections.abc import Callable, Iterator, Mapping
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
from workers import encoders, vectors
from workers.encoders.caption_mean import CaptionMean
from workers.ranking import top_k_blocks

BATCH = 256
Ids = NDArray[np.int64]
Encoded = tuple[Ids, encoders.Vectors]


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
    say = progress or say_nothing
    propose.check(machine=kind, directions=directions)
    encoder, machine = _machine(corpus, kind, train_split, say)
    items: dict[str, Encoded] = {}
    needed = {end for direction in directions for end in ends(direction)}
    if "i" in needed:
        items["i"] = _image_vectors(corpus, split, encoder, machine, say)
    if "t" in needed:
        items["t"] = _caption_vectors(corpus, split, encoder, machine, say)
    if not all(len(ids) for ids, _ in items.values()):
        raise Refused(f"The split {split!r} has no images with files and captions.")
    kept = []
    for direction in directions:
        query_end, target_end = ends(direction)
        chosen = sample(items[query_end], query_sample, seed)
        kept.append(
            propose.keep(
                corpus=corpus,
                machine=machine,
                direction=direction,
                split=split,
                depth=depth,
                query_sample=query_sample,
                seed=seed,
                ranked=ranked(chosen, items[target_end], depth, direction, say),
            )
        )
    return kept


def ends(direction: str) -> tuple[str, str]:
    """What the queries and what the targets are: i(mages) or t(exts)."""
    return direction[0], direction[-1]


def say_nothing(done: int, total: int | None = None, message: str = "") -> None:
    return


def _machine(
    corpus: Corpus, kind: str, train_split: str, say: Any
) -> tuple[encoders.Encoder, Machine]:
    """The machine as it was learned on this corpus before, or learned now."""
    encoder = encoders.create(kind, kind)
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
    corpus: Corpus, split: str, encoder: encoders.Encoder, machine: Machine, say: Any
) -> Encoded:
    images = _with_files(corpus, split)
    if isinstance(encoder, CaptionMean):
        images = images.filter(captions__isnull=False).distinct()
        versions: dict[int, Any] = _texts_of(images)
    else:
        versions = dict(images.values_list("pk", "blob_id").iterator())

    def encode(ids: list[int]) -> encoders.Vectors:
        if isinstance(encoder, CaptionMean):
            return encoder.encode_described([versions[pk] for pk in ids])
        batch = _with_files(corpus, split).filter(pk__in=ids)
        return encoder.encode_images([_picture(image) for image in batch])

    return _encoded(corpus, machine, "images", versions, encode, say)


def _texts_of(images: QuerySet[Image]) -> dict[int, list[str]]:
    found: dict[int, list[str]] = {pk: [] for pk in images.values_list("pk", flat=True)}
    captions = Caption.objects.filter(image__in=images).order_by("pk")
    for image_id, text in captions.values_list("image_id", "text").iterator():
        found[image_id].append(text)
    return found


def _caption_vectors(
    corpus: Corpus, split: str, encoder: encoders.Encoder, machine: Machine, say: Any
) -> Encoded:
    captions = Caption.objects.filter(corpus=corpus, image__split=split).order_by("pk")
    texts = dict(captions.values_list("pk", "text").iterator())

    def encode(ids: list[int]) -> encoders.Vectors:
        if isinstance(encoder, CaptionMean):
            return encoder.encode_described([[texts[pk]] for pk in ids])
        return encoder.encode_captions([texts[pk] for pk in ids])

    return _encoded(corpus, machine, "captions", texts, encode, say)


def _encoded(
    corpus: Corpus,
    machine: Machine,
    kind: str,
    versions: Mapping[int, Any],
    encode: Callable[[list[int]], encoders.Vectors],
    say: Any,
) -> Encoded:
    """Vectors of these versions of items by this machine, as they were kept or computed now."""
    ids = list(versions)
    identity = [machine.name, machine.version, machine.checksum, kind]
    name = vectors.name_of([*identity, *(f"{pk} {versions[pk]}" for pk in ids)])
    found = vectors.computed(
        Path(settings.DATA_DIR) / "vectors" / corpus.slug / f"{name}.f32",
        len(ids),
        lambda start, stop: encode(ids[start:stop]),
        lambda done: say(done, len(ids), f"{machine.name.capitalize()}: encoding {kind}"),
    )
    return np.array(ids, np.int64), found


def sample(queries: Encoded, size: int | None, seed: int) -> Encoded:
    ids, own = queries
    if size is None or size >= len(ids):
        return queries
    chosen = sorted(Random(seed).sample(range(len(ids)), size))
    return ids[chosen], own[chosen]


def ranked(
    queries: Encoded, targets: Encoded, depth: int, direction: str, say: Any
) -> Iterator[propose.Ranked]:
    """Each query with its best targets, never with itself; equal scores by id."""
    ids, own_vectors = queries
    is_within = direction in propose.WITHIN
    for block in top_k_blocks(own_vectors, targets[1], depth + is_within):
        found = targets[0][block.indices].tolist()
        asked = ids[block.start : block.start + len(found)].tolist()
        for query, own, scores in zip(asked, found, block.scores.tolist(), strict=True):
            if is_within:
                own, scores = _without(query, own, scores, depth)
            yield query, own, scores
        say(block.start + len(block.indices), len(ids), f"{Direction(direction).label}: ranking")


def _without(
    query: int, targets: list[int], scores: list[float], depth: int
) -> tuple[list[int], list[float]]:
    kept = [pair for pair in zip(targets, scores, strict=True) if pair[0] != query][:depth]
    return [target for target, _ in kept], [score for _, score in kept]
