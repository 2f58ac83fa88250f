"""The files in a zip, read in place: nothing is ever extracted under a name of its own."""

import lzma
import re
import stat
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from hits.importers.entries import Entry
from hits.importers.records import Bad, Refusal, shown

MOST_RATIO = 100
RATIO_MATTERS_FROM = 10 * 1024 * 1024
MOST_MEMBER_BYTES = 8 * 1024**3
UNREADABLE = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, NotImplementedError)

_DRIVE = re.compile(r"^[A-Za-z]:")
_ENCRYPTED = 0x1


@dataclass(frozen=True, slots=True)
class ZipSource:
    archive: zipfile.ZipFile

    def entries(self) -> Iterator[Entry | Refusal]:
        for member in sorted(self.archive.infolist(), key=lambda each: each.filename):
            if member.is_dir() and not _is_unsafe(member.orig_filename):
                continue
            try:
                _check(member)
            except Bad as bad:
                yield bad.refusal("file", shown(member.orig_filename))
            else:
                yield Entry(
                    name=member.filename,
                    size=member.file_size,
                    open=partial(self.archive.open, member),
                )


@contextmanager
def opened(path: Path) -> Iterator[ZipSource]:
    try:
        archive = zipfile.ZipFile(path)
    except (*UNREADABLE, UnicodeDecodeError) as fault:
        raise Bad("not-zip", f"The zip is broken: {fault}.") from None
    with archive:
        _check_whole(archive, path.stat().st_size)
        yield ZipSource(archive)


def _check_whole(archive: zipfile.ZipFile, size: int) -> None:
    """Against members that share the same bytes, which each look harmless."""
    unpacked = sum(member.file_size for member in archive.infolist())
    if unpacked > RATIO_MATTERS_FROM and unpacked > size * MOST_RATIO:
        raise Bad("zip-bomb", f"The zip of {size:,} bytes would unpack to {unpacked:,}.")


def _check(member: zipfile.ZipInfo) -> None:
    kind = stat.S_IFMT(member.external_attr >> 16)
    if _is_unsafe(member.orig_filename):
        raise Bad("unsafe-name", "The name leads out of the zip.")
    if kind not in {0, stat.S_IFREG}:
        raise Bad("link", "This is a link or a device, not a file.")
    if member.flag_bits & _ENCRYPTED:
        raise Bad("encrypted", "The file is encrypted.")
    if member.file_size > MOST_MEMBER_BYTES:
        raise Bad("too-large", f"The file would unpack to {member.file_size:,} bytes.")
    if (
        member.file_size > RATIO_MATTERS_FROM
        and member.file_size > member.compress_size * MOST_RATIO
    ):
        raise Bad(
            "zip-bomb",
            f"{member.compress_size:,} bytes would unpack to {member.file_size:,}.",
        )


def _is_unsafe(name: str) -> bool:
    return (
        not name
        or name.startswith("/")
        or "\\" in name
        or "\0" in name
        or ".." in name.split("/")
        or _DRIVE.match(name) is not None
    )
