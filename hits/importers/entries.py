"""A file of a corpus, wherever it lies."""

from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from hits.importers.json_stream import Open
from hits.importers.records import Refusal


@dataclass(frozen=True, slots=True)
class Entry:
    """`name` is the path below the source, with slashes; bucket and key say that it is in S3."""

    name: str
    size: int
    open: Open
    bucket: str = ""
    object_key: str = ""

    @property
    def base(self) -> str:
        return self.name.rsplit("/", 1)[-1]


class Source(Protocol):
    def entries(self) -> Iterator[Entry | Refusal]:
        """Every file in a fixed order; can be asked for again."""
        ...


def opener(path: Path) -> Open:
    return lambda: path.open("rb")


OpenSource = AbstractContextManager[Source]
