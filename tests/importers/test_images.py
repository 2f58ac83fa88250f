import io
import random
import struct
import zlib

import pytest
from PIL import Image as Picture

from hits.importers.images import check
from hits.importers.records import Bad
from tests.importers.files import picture

MOST_PIXELS = 1_000_000


def reason(data: bytes) -> str:
    with pytest.raises(Bad) as caught:
        check(data, MOST_PIXELS)
    return caught.value.reason


def saved(made: Picture.Image, format_name: str, **options: object) -> bytes:
    file = io.BytesIO()
    made.save(file, format_name, **options)
    return file.getvalue()


def png_that_says_it_is(width: int, height: int) -> bytes:
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = [(b"IHDR", header), (b"IDAT", zlib.compress(b"\0" * 1000)), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))
        for name, body in chunks
    )


@pytest.mark.parametrize(
    ("format_name", "content_type"),
    [("JPEG", "image/jpeg"), ("PNG", "image/png"), ("WEBP", "image/webp")],
)
def test_the_type_comes_from_the_content(format_name: str, content_type: str) -> None:
    found = check(picture(format_name=format_name), MOST_PIXELS)
    assert (found.content_type, found.width, found.height) == (content_type, 64, 48)


@pytest.mark.parametrize("format_name", ["GIF", "BMP", "TIFF", "ICO", "PPM"])
def test_other_types_are_refused(format_name: str) -> None:
    assert reason(picture(format_name=format_name)) == "not-an-image"


@pytest.mark.parametrize(
    "data",
    [
        b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>",
        b"<!doctype html><script>alert(1)</script>",
        b"%PDF-1.4",
        b"\xff\xd8\xff",
        b"\x89PNG\r\n\x1a\n",
        b"no image",
    ],
)
def test_what_is_no_image_is_refused(data: bytes) -> None:
    assert reason(data) in {"not-an-image", "broken-image"}


@pytest.mark.parametrize("format_name", ["JPEG", "PNG", "WEBP"])
@pytest.mark.parametrize("share", [0.3, 0.6, 0.9])
def test_a_truncated_image_is_refused(format_name: str, share: float) -> None:
    data = picture(format_name=format_name, size=(200, 200))
    assert reason(data[: int(len(data) * share)]) in {"not-an-image", "broken-image"}


def test_a_truncated_progressive_image_is_refused() -> None:
    data = saved(Picture.effect_noise((200, 200), 40), "JPEG", progressive=True)
    assert check(data, MOST_PIXELS).width == 200
    assert reason(data[: len(data) * 3 // 4]) == "broken-image"


@pytest.mark.parametrize(("width", "height"), [(1001, 1000), (30_000, 30_000), (2**31 - 1, 8)])
def test_a_decompression_bomb_is_refused_before_it_is_decoded(width: int, height: int) -> None:
    assert reason(png_that_says_it_is(width, height)) == "too-many-pixels"


def test_a_moving_image_is_refused() -> None:
    frames = [Picture.new("RGB", (20, 20), colour) for colour in ("red", "green")]
    for format_name in ("PNG", "WEBP"):
        data = saved(frames[0], format_name, save_all=True, append_images=frames[1:])
        assert reason(data) == "animated"


def test_width_and_height_are_as_a_browser_shows_them() -> None:
    exif = Picture.Exif()
    exif[0x0112] = 6
    found = check(saved(Picture.new("RGB", (30, 20)), "JPEG", exif=exif), MOST_PIXELS)
    assert (found.width, found.height) == (20, 30)


@pytest.mark.parametrize("format_name", ["JPEG", "PNG", "WEBP"])
def test_bytes_turned_at_random_are_taken_or_refused_but_never_break_the_check(
    format_name: str,
) -> None:
    dice = random.Random(format_name)
    whole = picture(format_name=format_name)
    outcomes = set()
    for _ in range(400):
        data = bytearray(whole)
        for _ in range(dice.randint(1, 8)):
            data[dice.randrange(len(data))] = dice.randrange(256)
        try:
            check(bytes(data), MOST_PIXELS)
        except Bad as bad:
            outcomes.add(bad.reason)
    assert "broken-image" in outcomes
