"""Image files: what they are by their content, and whether they can be shown."""

import hashlib
import io
import struct
import zlib
from dataclasses import dataclass

from PIL import Image, UnidentifiedImageError

from hits.importers.entries import Entry
from hits.importers.records import Bad, shown

# MPO is what cameras call a JPEG with further pictures behind the first.
CONTENT_TYPES = {
    "JPEG": "image/jpeg",
    "MPO": "image/jpeg",
    "PNG": "image/png",
    "WEBP": "image/webp",
}
FORMATS = ("JPEG", "PNG", "WEBP")
BROKEN = (OSError, SyntaxError, ValueError, EOFError, IndexError, struct.error, zlib.error)
ORIENTATION = 0x0112
ON_ITS_SIDE = {5, 6, 7, 8}


@dataclass(frozen=True, slots=True)
class ImageFile:
    """Width and height are as a browser shows it."""

    sha256: str
    content_type: str
    size: int
    width: int
    height: int


def read_bytes(entry: Entry, most_bytes: int) -> bytes:
    _check_bytes(entry.size, most_bytes)
    with entry.open() as file:
        data = file.read(most_bytes + 1)
    _check_bytes(len(data), most_bytes)
    return data


def _check_bytes(size: int, most: int) -> None:
    if size == 0:
        raise Bad("empty", "The file is empty.")
    if size > most:
        raise Bad("too-large", f"The file has more than {most:,} bytes.")


def sha256_of(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def check(data: bytes, most_pixels: int) -> ImageFile:
    """Decodes all of it once, after its size in pixels was found to be bearable."""
    try:
        with Image.open(io.BytesIO(data), formats=FORMATS) as image:
            width, height = _checked_size(image, most_pixels)
            content_type = CONTENT_TYPES[image.format or ""]
            _decode(image)
    except (Image.DecompressionBombError, Image.DecompressionBombWarning):
        raise _too_many_pixels(most_pixels) from None
    except UnidentifiedImageError:
        raise Bad("not-an-image", "The content is not a JPEG, PNG or WebP image.") from None
    except BROKEN as fault:
        raise Bad("broken-image", f"The image is broken: {shown(str(fault))}") from None
    return ImageFile(sha256_of(data), content_type, len(data), width, height)


def _checked_size(image: Image.Image, most_pixels: int) -> tuple[int, int]:
    width, height = image.size
    if width * height > most_pixels:
        raise _too_many_pixels(most_pixels)
    if image.format != "MPO" and getattr(image, "is_animated", False):
        raise Bad("animated", "The image moves.")
    if image.getexif().get(ORIENTATION) in ON_ITS_SIDE:
        return height, width
    return width, height


def _decode(image: Image.Image) -> None:
    if image.format in {"JPEG", "MPO"}:
        # All of the file is still read, into an eighth of the width and height.
        image.draft("RGB", (max(image.width // 8, 1), max(image.height // 8, 1)))
    image.load()


def _too_many_pixels(most: int) -> Bad:
    return Bad("too-many-pixels", f"The image has more than {most:,} pixels.")
