"""Encoder machines: one vector an item, images and captions in one space.

A new kind is one module here and one line in KINDS. Modules are imported when their kind is asked
for, so that a worker without torch can use the machines that do not need it.
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
}


class BadMachineFile(ValueError):
    pass


class UnknownMachine(ValueError):
    pass


class Encoder(ABC):
    kind: ClassVar[str]
    version: ClassVar[str]
    defaults: ClassVar[Mapping[str, Setting]]

    def __init__(self, name: str, settings: Mapping[str, Setting] | None = None) -> None:
        given = dict(settings or {})
        unknown = sorted(given.keys() - self.defaults.keys())
        if unknown:
            raise ValueError(f"{self.kind} has no settings {', '.join(unknown)}")
        self.name = name
        self.settings: dict[str, Setting] = {**self.defaults, **given}

    @abstractmethod
    def fit(self, images: Iterable[Image.Image], captions: Iterable[Iterable[str]]) -> None:
        """Learn from a training split; a kind that comes trained has nothing to do."""

    @abstractmethod
    def encode_images(self, images: Sequence[Image.Image]) -> Vectors:
        """(n, d), rows of norm 1."""

    @abstractmethod
    def encode_captions(self, captions: Sequence[str]) -> Vectors:
        """(n, d), rows of norm 1."""

    @abstractmethod
    def learned(self) -> Arrays:
        """What fit found, as arrays without Python objects."""

    @abstractmethod
    def restore(self, arrays: Arrays) -> None:
        """Take back what learned() gave."""


def create(kind: str, name: str, settings: Mapping[str, Setting] | None = None) -> Encoder:
    if kind not in KINDS:
        raise UnknownMachine(f"There is no machine {kind!r}. There are {', '.join(KINDS)}.")
    module, _, attribute = KINDS[kind].partition(":")
    encoder: Encoder = getattr(import_module(module), attribute)(name, settings)
    return encoder


def save(encoder: Encoder, path: Path) -> str:
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


def load(path: Path, checksum: str | None = None) -> Encoder:
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
