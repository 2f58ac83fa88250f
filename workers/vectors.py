"""Vectors on disk, computed once, a batch at a time, and mapped into memory by whoever reads them.

A file without its last batches is as good as one: whoever comes next goes on behind the last whole
batch. Batches begin at the same items always, so that the file is the same byte for byte however
often its making was interrupted.
"""

import fcntl
import hashlib
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from hits.pipeline.errors import Refused
from workers.encoders import Vectors

BATCH = 256
NUMBER = np.dtype("<f4")
NOT_FINITE = "The machine gives numbers that are not finite: its weights are broken."


def name_of(parts: Iterable[str]) -> str:
    """One name for one machine on the same versions of the same items."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode()
        digest.update(len(data).to_bytes(8, "little") + data)
    return digest.hexdigest()


def computed(
    path: Path, count: int, encode: Callable[[int, int], Vectors], say: Callable[[int], Any]
) -> Vectors:
    """`encode(start, stop)` gives the vectors of these items; it is asked for what is missing."""
    if not count:
        return np.empty((0, 0), np.float32)
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists():
        partial = path.with_suffix(".partial")
        with partial.open("a+b") as file:
            # Another job that needs the same waits here, and then finds it done.
            fcntl.flock(file, fcntl.LOCK_EX)
            if path.exists():
                partial.unlink(missing_ok=True)
            else:
                _complete(file, count, encode, say)
                partial.replace(path)
    return mapped(path, count)


def mapped(path: Path, count: int) -> Vectors:
    return np.memmap(path, NUMBER, "r").reshape(count, -1)


def _complete(
    file: Any, count: int, encode: Callable[[int, int], Vectors], say: Callable[[int], Any]
) -> None:
    """The first batch that is computed tells how long a vector is, and so what is there."""
    size = os.fstat(file.fileno()).st_size
    probe = _finite(encode(0, min(BATCH, count)))
    row = probe[0].nbytes
    done = min(size // row, count) // BATCH * BATCH
    if size >= probe.nbytes and os.pread(file.fileno(), probe.nbytes, 0) != probe.tobytes():
        done = 0
    file.truncate(done * row)
    say(done)
    for start in range(done, count, BATCH):
        stop = min(start + BATCH, count)
        file.write(probe if start == 0 else _finite(encode(start, stop)))
        file.flush()
        say(stop)
    os.fsync(file.fileno())


def _finite(rows: Vectors) -> Vectors:
    if not np.isfinite(rows).all():
        raise Refused(NOT_FINITE)
    return rows.astype(NUMBER)


@contextmanager
def written_whole(path: Path) -> Iterator[BinaryIO]:
    """A file that is there when it is whole, whoever else writes the same."""
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with partial.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def joined(path: Path, parts: Sequence[Path]) -> None:
    """The file that one worker alone would have made, of what several made."""
    joining = path.with_suffix(".joining")
    with joining.open("a+b") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        if path.exists():
            joining.unlink(missing_ok=True)
            return
        file.truncate(0)
        for part in parts:
            with part.open("rb") as source:
                shutil.copyfileobj(source, file, 1 << 20)
        file.flush()
        os.fsync(file.fileno())
        joining.replace(path)
    for part in parts:
        part.unlink(missing_ok=True)
