"""Vectors of a split's items: made by parts, which many workers take, and kept once."""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from django.conf import settings
from numpy.typing import NDArray

from hits.models import Caption, Corpus, Image, Machine
from workers import encoders, parts, vectors
from workers.machines import Say, machine_called, picture, texts_of, with_files

KINDS = {"i": "images", "t": "captions"}
Ids = NDArray[np.int64]


class Encoded(NamedTuple):
    """Items in the order of their ids, one row each; the file that other workers map, if any."""

    ids: Ids
    vectors: encoders.Vectors
    file: Path | None = None

    @property
    def digest(self) -> str:
        """Of the items and, where they were encoded here, of their versions."""
        return self.file.stem if self.file else digest_of(self.ids)


def digest_of(ids: Ids) -> str:
    return vectors.name_of(map(str, ids.tolist()))


class _Items(NamedTuple):
    ids: list[int]
    file: Path
    encode: Callable[[int, int], encoders.Vectors]


def encoded(
    corpus: Corpus,
    split: str,
    end: str,
    encoder: encoders.Encoder,
    machine: Machine,
    say: Say,
    called: Mapping[str, str],
) -> Encoded:
    """`called` says how a worker elsewhere gets the same machine."""
    items = _items(corpus, split, end, encoder, machine)
    count = len(items.ids)
    message = f"{machine.name.capitalize()}: encoding {KINDS[end]}"
    size = _part_size()
    if count > size and not items.file.exists():
        arguments = {"corpus": corpus.pk, "split": split, "end": end, "size": size, **called}
        files = [_part_of(items.file, size, part) for part in range(-(-count // size))]
        parts.do_all(
            say,
            work="encode",
            name=f"encode {end} {items.file.stem[:16]}",
            arguments=arguments,
            count=len(files),
            is_there=lambda part: items.file.exists() or files[part].exists(),
            do=partial(_encode_part, items, size),
            message=f"{message}, parts of {size:,}",
        )
        vectors.joined(items.file, files)
    if not items.file.exists():
        # They may take minutes, and only behind them is it known how many are there already.
        say(0, count, f"{machine.name.capitalize()}: the first {KINDS[end]}")
    found = vectors.computed(
        items.file, count, items.encode, lambda done: say(done, count, message)
    )
    return Encoded(np.array(items.ids, np.int64), found, items.file)


def encode_part(arguments: dict[str, Any], say: Say) -> None:
    """What a worker does that was asked for one part by another."""
    corpus = Corpus.objects.get(pk=arguments["corpus"])
    encoder, machine = machine_called(corpus, arguments["machine"], arguments["train_split"], say)
    assert isinstance(encoder, encoders.Encoder)
    items = _items(corpus, arguments["split"], arguments["end"], encoder, machine)
    _encode_part(items, arguments["size"], arguments["part"], say)


def _encode_part(items: _Items, size: int, part: int, say: Say) -> None:
    first = part * size
    count = min(size, len(items.ids) - first)
    vectors.computed(
        _part_of(items.file, size, part),
        count,
        lambda start, stop: items.encode(first + start, first + stop),
        lambda done: say(done, count, f"Encoding part {part + 1}"),
    )


def _part_size() -> int:
    """In whole batches, which begin at the same items whether there are parts or not."""
    return max(settings.PART_ITEMS // vectors.BATCH, 1) * vectors.BATCH


def _part_of(file: Path, size: int, part: int) -> Path:
    """Under its size: parts that were left from other settings do not fit."""
    return file.with_name(f"{file.stem}-{size}-{part}.f32")


def _items(
    corpus: Corpus, split: str, end: str, encoder: encoders.Encoder, machine: Machine
) -> _Items:
    of_end = _images if end == "i" else _captions
    versions, encode = of_end(corpus, split, encoder)
    ids = list(versions)
    identity = [machine.name, machine.version, machine.checksum, KINDS[end]]
    name = vectors.name_of([*identity, *(f"{pk} {versions[pk]}" for pk in ids)])
    file = Path(settings.DATA_DIR) / "vectors" / corpus.slug / f"{name}.f32"
    return _Items(ids, file, lambda start, stop: encode(ids[start:stop]))


Found = tuple[Mapping[int, Any], Callable[[list[int]], encoders.Vectors]]


def _images(corpus: Corpus, split: str, encoder: encoders.Encoder) -> Found:
    images = with_files(corpus, split)
    if isinstance(encoder, encoders.Reader):
        if not images.exists():
            images = Image.objects.filter(corpus=corpus, split=split).order_by("pk")
        texts = texts_of(images.filter(captions__isnull=False).distinct())
        return texts, lambda ids: encoder.encode_described([texts[pk] for pk in ids])

    def see(ids: list[int]) -> encoders.Vectors:
        batch = with_files(corpus, split).filter(pk__in=ids)
        return encoder.encode_images([picture(image) for image in batch])

    return dict(images.values_list("pk", "blob_id").iterator()), see


def _captions(corpus: Corpus, split: str, encoder: encoders.Encoder) -> Found:
    captions = Caption.objects.filter(corpus=corpus, image__split=split).order_by("pk")
    texts = dict(captions.values_list("pk", "text").iterator())
    if isinstance(encoder, encoders.Reader):
        return texts, lambda ids: encoder.encode_described([[texts[pk]] for pk in ids])
    return texts, lambda ids: encoder.encode_captions([texts[pk] for pk in ids])
