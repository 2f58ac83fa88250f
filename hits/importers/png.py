"""Whether a PNG has all the pixels that it says it has: the decoder takes black for the rest."""

import struct
import zlib
from collections.abc import Iterator

SIGNATURE_LENGTH = 8
AT_ONCE = 1 << 20
CHANNELS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}
# Of each pass of an interlaced image: its first column and row, and the steps between them.
PASSES = (
    (0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)
)  # fmt: skip


def has_all_pixels(data: bytes) -> bool:
    wanted = _length(next(_named(b"IHDR", data), b""))
    unpacking = zlib.decompressobj()
    for packed in _named(b"IDAT", data):
        rest, came = packed, AT_ONCE
        while came == AT_ONCE and wanted > 0:
            came = len(unpacking.decompress(rest, AT_ONCE))
            wanted, rest = wanted - came, unpacking.unconsumed_tail
    return wanted <= 0


def _named(wanted: bytes, data: bytes) -> Iterator[bytes]:
    at = SIGNATURE_LENGTH
    while at + 8 <= len(data):
        length, name = struct.unpack_from(">I4s", data, at)
        if name == wanted:
            yield data[at + 8 : at + 8 + length]
        at += length + 12


def _length(header: bytes) -> int:
    """Of the unpacked data: every row begins with a byte that names its filter."""
    width, height, depth, colours, _, _, interlaced = struct.unpack_from(">IIBBBBB", header)
    bits = depth * CHANNELS[colours]
    passes = PASSES if interlaced else ((0, 0, 1, 1),)
    sizes = [
        (len(range(column, width, across)), len(range(row, height, down)))
        for column, row, across, down in passes
    ]
    return sum(rows * (1 + (bits * columns + 7) // 8) for columns, rows in sizes if columns)
