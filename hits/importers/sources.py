"""Where the files of a corpus lie: one file, a folder, a zip or S3."""

import os
import re
import zipfile
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

from hits.importers import s3, zips
from hits.importers.entries import Entry, OpenSource, opener
from hits.importers.formats import SUFFIXES, detect
from hits.importers.records import Bad, Refusal, plain_text, shown

MOST_PATH = 4096
UNREADABLE = (OSError, *s3.UNREADABLE, *zips.UNREADABLE)

_SPLIT_IN_NAME = re.compile(r"(?:^|[_-])(train|val|test|dev|unlabeled)\d*\.\w+$")


def open_source(address: str, endpoint_url: str | None = None) -> OpenSource:
    if address.startswith(s3.SCHEME):
        return nullcontext(s3.S3Source(address, endpoint_url))
    path = Path(address)
    if path.is_dir():
        return nullcontext(FolderSource(path))
    if not path.is_file():
        raise Bad("not-found", f"There is no file or folder {shown(address)}.")
    if zipfile.is_zipfile(path):
        return zips.opened(path)
    return nullcontext(FileSource(path))


@dataclass(frozen=True, slots=True)
class FileSource:
    path: Path

    def entries(self) -> Iterator[Entry | Refusal]:
        yield _entry(self.path, self.path.name)


@dataclass(frozen=True, slots=True)
class FolderSource:
    root: Path

    def entries(self) -> Iterator[Entry | Refusal]:
        root = self.root.resolve()
        for folder, below, names in os.walk(root):
            below.sort()
            for name in sorted(names):
                path = Path(folder, name)
                relative = path.relative_to(root).as_posix()
                if not path.resolve().is_relative_to(root):
                    bad = Bad("link", "This is a link that leads out of the folder.")
                    yield bad.refusal("file", shown(relative))
                elif not path.is_file():
                    yield Bad("link", "This is not a file.").refusal("file", shown(relative))
                else:
                    yield _entry(path, relative)


def _entry(path: Path, name: str) -> Entry:
    return Entry(name=name, size=path.stat().st_size, open=opener(path))


def holds_records(entry: Entry, *, alone: bool) -> bool:
    """Among others a file's name decides, so that images are not all opened to see."""
    if entry.name.lower().endswith(SUFFIXES):
        return True
    if not alone:
        return False
    try:
        return detect(entry.name, entry.open) != ""
    except Bad:
        # Its reader says what is wrong with it.
        return True


def with_readable_name(entry: Entry) -> Entry | Refusal:
    """Names on a disk are bytes, and not always a text."""
    try:
        plain_text(entry.name, "file name", MOST_PATH)
    except Bad as bad:
        return bad.refusal("file", shown(entry.name))
    return entry


def is_clutter(entry: Entry) -> bool:
    """What file managers leave behind."""
    parts = entry.name.split("/")
    return any(part.startswith(".") or part == "__MACOSX" for part in parts) or (
        parts[-1] in {"Thumbs.db", "desktop.ini"}
    )


def split_in_name(name: str) -> str:
    """captions_val2017.json is of the split "val"."""
    found = _SPLIT_IN_NAME.search(name)
    return found[1] if found else ""
