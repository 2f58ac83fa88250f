"""Machines: encoders give one vector an item, pair scorers one score a pair.

A new kind is one module here and one line in KINDS. Modules are imported when their kind is asked
for, so that a worker without torch can use the machines that do not need it.

    Encoder     images and captions become vectors in one space
    Reader      an encoder of texts alone: an image is known by its captions
    Learner     an encoder that learns on a split, and keeps what it learned in a file of its own
    PairScorer  an image and a caption together become one score
    Captioner   texts about an image are completed

Those that come trained are given a folder or a file by `open_installed`.
"""

import hashlib
import json
import os
import zipfile
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from PIL import Image

Vectors = NDArray[np.float32]
Arrays = dict[str, NDArray[Any]]
Setting = int | float | str

KINDS = {
    "palette": "workers.encoders.palette:Palette",
    "layout": "workers.encoders.layout:Layout",
    "caption_mean": "workers.encoders.caption_mean:CaptionMean",
    "tfidf": "workers.encoders.tfidf:TfIdf",
    "small_dual": "workers.encoders.small_dual:SmallDual",
}
# What comes trained, in a folder or a file of MODELS_DIR.
INSTALLED = {
    "dual": "workers.encoders.dual:DualEncoder",
    "sentence": "workers.encoders.sentence:SentenceEncoder",
    "pairs": "workers.encoders.pairs:VisionLanguageScorer",
    "words": "workers.encoders.word_vectors:WordVectors",
    "captioner": "workers.encoders.captioner:PromptedCaptioner",
}


class BadMachineFile(ValueError):
    pass


class UnknownMachine(ValueError):
    pass


class Encoder(ABC):
    kind: ClassVar[str]
    name: str
    settings: dict[str, Setting]

    @abstractmethod
    def encode_images(self, images: Sequence[Image.Image]) -> Vectors:
        """(n, d), rows of norm 1."""

    @abstractmethod
    def encode_captions(self, captions: Sequence[str]) -> Vectors:
        """(n, d), rows of norm 1."""


class Reader(Encoder):
    """An encoder of texts: it never sees an image."""

    @abstractmethod
    def encode_described(self, groups: Sequence[Sequence[str]]) -> Vectors:
        """One vector for all captions of an image: (n, d), rows of norm 1."""

    def encode_captions(self, captions: Sequence[str]) -> Vectors:
        return self.encode_described([[caption] for caption in captions])

    def encode_images(self, images: Sequence[Image.Image]) -> Vectors:
        raise NotImplementedError(f"{self.kind} reads captions, and sees no images.")


class Learner(Encoder):
    version: ClassVar[str]
    defaults: ClassVar[Mapping[str, Setting]]
    learns_from_images: ClassVar[bool] = True

    def __init__(self, name: str, settings: Mapping[str, Setting] | None = None) -> None:
        given = dict(settings or {})
        unknown = sorted(given.keys() - self.defaults.keys())
        if unknown:
            raise ValueError(f"{self.kind} has no settings {', '.join(unknown)}")
        self.name = name
        self.settings = {**self.defaults, **given}

    @abstractmethod
    def fit(self, images: Iterable[Image.Image], captions: Iterable[Iterable[str]]) -> None:
        """Learn from a training split."""

    @abstractmethod
    def learned(self) -> Arrays:
        """What fit found, as arrays without Python objects."""

    @abstractmethod
    def restore(self, arrays: Arrays) -> None:
        """Take back what learned() gave."""


class PairScorer(ABC):
    kind: ClassVar[str]
    name: str
    settings: dict[str, Setting]

    @abstractmethod
    def score(self, image: Image.Image, captions: Sequence[str]) -> Vectors:
        """How well each caption describes the image: (n,), higher is better."""


class Captioner(ABC):
    kind: ClassVar[str]
    name: str
    settings: dict[str, Setting]

    @abstractmethod
    def complete(self, image: Image.Image, texts: Sequence[str]) -> list[str]:
        """What follows each text, which is about the image and breaks off; nothing, perhaps."""


Machine = Encoder | PairScorer | Captioner


def create(kind: str, name: str, settings: Mapping[str, Setting] | None = None) -> Learner:
    if kind not in KINDS:
        raise UnknownMachine(f"There is no machine {kind!r}. There are {', '.join(KINDS)}.")
    encoder: Learner = _imported(KINDS[kind])(name, settings)
    return encoder


def open_installed(kind: str, name: str, path: Path) -> Machine:
    machine: Machine = _imported(INSTALLED[kind])(name, path)
    return machine


def _imported(place: str) -> Any:
    module, _, attribute = place.partition(":")
    return getattr(import_module(module), attribute)


def save(encoder: Learner, path: Path) -> str:
    """Write the machine's file, whole or not at all, and return its checksum."""
    header = json.dumps(
        {
            "kind": encoder.kind,
            "version": encoder.version,
            "name": encoder.name,
            "settings": encoder.settings,
        },
        sort_keys=True,
    )
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with partial.open("wb") as file:
            np.savez(file, allow_pickle=False, header=np.array(header), **encoder.learned())
        checksum = file_checksum(partial)
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
    return checksum


def load(path: Path, checksum: str | None = None) -> Learner:
    """Read a machine's file; with a checksum, refuse any other file."""
    if checksum not in (None, file_checksum(path)):
        raise BadMachineFile(f"{path.name} is not the file that was recorded")
    try:
        with np.load(path, allow_pickle=False) as stored:
            arrays = {key: stored[key] for key in stored.files}
        header = json.loads(str(arrays.pop("header")))
        encoder = create(header["kind"], header["name"], header["settings"])
        if header["version"] != encoder.version:
            raise BadMachineFile(
                f"{path.name} is of version {header['version']} of {encoder.kind},"
                f" this is version {encoder.version}"
            )
        encoder.restore(arrays)
    except BadMachineFile:
        raise
    except (AttributeError, EOFError, KeyError, TypeError, ValueError, zipfile.BadZipFile) as error:
        raise BadMachineFile(f"{path.name} is not a machine's file: {error}") from error
    return encoder


def file_checksum(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def checksum_of(path: Path) -> str:
    """Of a file, or of all that a folder holds under its names."""
    if path.is_file():
        return file_checksum(path)
    digest = hashlib.sha256()
    for file in sorted(each for each in path.rglob("*") if each.is_file()):
        digest.update(f"{file.relative_to(path).as_posix()}\0{file_checksum(file)}\n".encode())
    return digest.hexdigest()


def unit_rows(rows: NDArray[Any]) -> Vectors:
    """A row of zeros stays one."""
    wide = rows.astype(np.float64)
    lengths = np.linalg.norm(wide, axis=1, keepdims=True)
    unit: NDArray[np.float64] = wide / np.where(lengths > 0, lengths, 1)
    return unit.astype(np.float32)
