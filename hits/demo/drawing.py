"""Draws a scene: its backdrop, then what stands on the ground or hangs in the air."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import lru_cache

import numpy as np
from PIL import Image, ImageDraw, ImageFilter

from hits.demo.pen import Colour, Pen, Point, curve, mix
from hits.demo.scenes import HEIGHT, WIDTH, Scene, Thing
from hits.demo.sprites import WHITE, sprite

HORIZON = 196


def draw(scene: Scene, size: tuple[int, int] = (WIDTH, HEIGHT)) -> Image.Image:
    """The picture of a scene. Other sizes than the usual one must keep its proportions."""
    unit = size[0] / WIDTH
    if round(HEIGHT * unit) != size[1]:
        raise ValueError(f"A scene is four wide and three high, not {size[0]} by {size[1]}.")
    picture = _backdrop(scene.setting, scene.backdrop, size).copy()
    pairs = [(group, thing) for group in scene.groups for thing in group.things]
    for group, thing in sorted(pairs, key=lambda pair: pair[1].bottom):
        if group.zone == "ground":
            _stand(picture, scene.setting, thing, unit)
        width, height = round(thing.width * unit), round(thing.height * unit)
        image = sprite(group.kind, group.colour, group.pose, group.facing, width, height)
        picture.paste(image, (round(thing.left * unit), round(thing.top * unit)), image)
        if group.zone == "ground" and scene.setting == "lake":
            _wet(picture, thing, unit)
    return picture


def _stand(picture: Image.Image, setting: str, thing: Thing, unit: float) -> None:
    shadow = _shadow(round(thing.width * unit * 1.15), _SHADOWS[setting])
    centre = round((thing.left + thing.width / 2) * unit)
    at = (centre - shadow.width // 2, round((thing.bottom - 2) * unit) - shadow.height // 2)
    picture.paste(shadow, at, shadow)


def _wet(picture: Image.Image, thing: Thing, unit: float) -> None:
    wave = _wave(round(thing.width * unit * 1.1))
    centre = round((thing.left + thing.width / 2) * unit)
    at = (centre - wave.width // 2, round(thing.bottom * unit) - wave.height * 2 // 3)
    picture.paste(wave, at, wave)


_SHADOWS: dict[str, Colour] = {
    "meadow": (38, 92, 52),
    "beach": (150, 112, 70),
    "snow": (112, 136, 176),
    "night": (14, 22, 44),
    "lake": (30, 96, 138),
    "table": (92, 54, 30),
}


@lru_cache(maxsize=512)
def _shadow(width: int, colour: Colour) -> Image.Image:
    height = max(6, width // 5)
    mask = Image.new("L", (width * 2, height * 2), 0)
    edge = width // 5, height // 3
    ImageDraw.Draw(mask).ellipse((*edge, width * 2 - edge[0], height * 2 - edge[1]), fill=125)
    mask = mask.filter(ImageFilter.GaussianBlur(height / 4)).reduce(2)
    shadow = Image.new("RGBA", mask.size, (*colour, 0))
    shadow.putalpha(mask)
    return shadow


@lru_cache(maxsize=256)
def _wave(width: int) -> Image.Image:
    """Water in front of what floats, with its light edge."""
    height = max(9, width // 7)
    pen = Pen(width, height, width / 100)
    low = 100 * height / width
    crest = [(x, low * (0.34 + 0.16 * np.sin(x / 5.6))) for x in range(0, 101, 4)]
    pen.shape([*crest, (88, low), (12, low)], (92, 170, 208))
    pen.line([(float(x), float(y)) for x, y in crest], 2.2, (226, 244, 250))
    wave = pen.take()
    fade = np.asarray(wave).copy()
    across = np.linspace(0, 1, width)[None, :]
    down = np.linspace(1, 0, height)[:, None]
    soft = np.clip(6 * np.minimum(across, 1 - across), 0, 1) * np.clip(1.8 * down, 0, 1)
    fade[..., 3] = (fade[..., 3] * soft).astype(np.uint8)
    return Image.fromarray(fade, "RGBA")


@lru_cache(maxsize=48)
def _backdrop(setting: str, variant: int, size: tuple[int, int]) -> Image.Image:
    rng = random.Random(f"backdrop {setting} {variant}")
    pen = Pen(size[0], size[1], size[0] / WIDTH)
    _PAINTED[setting](pen, rng)
    return pen.take().convert("RGB")


def _fade(pen: Pen, top: float, bottom: float, upper: Colour, lower: Colour) -> None:
    """A smooth passage from one colour to another between two heights."""
    rows = range(round(top * pen.unit), round(bottom * pen.unit))
    ramp = np.linspace(np.array(upper), np.array(lower), len(rows)).round().astype(np.uint8)
    strip = Image.fromarray(ramp[:, None, :], "RGB").resize((pen.sheet.width, len(rows)))
    pen.sheet.paste(strip, (0, rows.start))


def _hills(pen: Pen, rng: random.Random, height: float, swing: float, fill: Colour) -> None:
    ridge: list[Point] = [(-60, height), (-30, height)]
    ridge += [(x, height - rng.uniform(-swing, swing)) for x in range(0, WIDTH + 90, 70)]
    pen.shape([*curve(ridge, closed=False), (WIDTH + 60, HEIGHT), (-60, HEIGHT)], fill)


def _cloud(pen: Pen, x: float, y: float, scale: float, fill: Colour) -> None:
    for dx, dy, rx, ry in ((0, 0, 30, 9), (-14, -6, 14, 11), (5, -11, 17, 14), (20, -4, 12, 9)):
        pen.oval(x + dx * scale, y + dy * scale, rx * scale, ry * scale, fill)


def _clouds(pen: Pen, rng: random.Random, fill: Colour) -> None:
    for x in (rng.randint(30, 170), rng.randint(210, 330), rng.randint(360, 460)):
        _cloud(pen, x, rng.randint(36, 150), rng.uniform(0.6, 1.2), fill)


def _sun(pen: Pen, rng: random.Random) -> None:
    x, y = rng.choice((52, 428)) + rng.randint(-14, 14), rng.randint(38, 64)
    pen.glow(x, y, 58, (255, 250, 214), 0.75)
    pen.oval(x, y, 21, 21, (255, 244, 190))


def _tufts(pen: Pen, rng: random.Random, number: int, fill: Colour) -> None:
    for _ in range(number):
        x, y = rng.uniform(0, WIDTH), rng.uniform(HORIZON + 36, HEIGHT - 4)
        blade = 4 + (y - HORIZON) / 28
        for lean in (-0.5, 0, 0.5):
            pen.line([(x, y), (x + lean * blade, y - blade)], 1.4, fill)


def _meadow(pen: Pen, rng: random.Random) -> None:
    _fade(pen, 0, 240, (150, 207, 240), (226, 243, 248))
    _sun(pen, rng)
    _clouds(pen, rng, (250, 253, 255))
    _hills(pen, rng, HORIZON - 12, 16, (176, 216, 172))
    _hills(pen, rng, HORIZON + 4, 10, (156, 206, 142))
    _fade_ground(pen, rng, (166, 214, 128), (126, 186, 100))
    _tufts(pen, rng, 46, (112, 172, 92))


def _fade_ground(pen: Pen, rng: random.Random, upper: Colour, lower: Colour) -> None:
    before = pen.sheet.copy()
    _fade(pen, HORIZON, HEIGHT, upper, lower)
    after = pen.sheet.copy()
    mask = Image.new("L", pen.sheet.size, 0)
    ridge: list[Point] = [(-60.0, HORIZON + 26.0), (-30.0, HORIZON + 26.0)]
    ridge += [(x, HORIZON + 24 - rng.uniform(-7, 7)) for x in range(0, WIDTH + 90, 90)]
    outline = [*curve(ridge, closed=False), (WIDTH + 60.0, HEIGHT), (-60.0, HEIGHT)]
    ImageDraw.Draw(mask).polygon([(x * pen.unit, y * pen.unit) for x, y in outline], fill=255)
    pen.sheet.paste(Image.composite(after, before, mask))


def _beach(pen: Pen, rng: random.Random) -> None:
    _fade(pen, 0, HORIZON - 20, (142, 208, 240), (236, 246, 244))
    _sun(pen, rng)
    _clouds(pen, rng, (252, 254, 255))
    _fade(pen, HORIZON - 24, HORIZON + 40, (84, 172, 206), (150, 214, 222))
    for _ in range(14):
        x, y = rng.uniform(0, WIDTH), rng.uniform(HORIZON - 18, HORIZON + 12)
        pen.line([(x, y), (x + rng.uniform(10, 34), y)], 1.2, (178, 226, 234))
    _fade_ground(pen, rng, (250, 232, 190), (238, 208, 156))
    for _ in range(70):
        x, y = rng.uniform(0, WIDTH), rng.uniform(HORIZON + 44, HEIGHT)
        pen.oval(x, y, 1.5, 0.9, (226, 192, 138))


def _snow(pen: Pen, rng: random.Random) -> None:
    _fade(pen, 0, 250, (176, 200, 228), (232, 240, 247))
    _clouds(pen, rng, (238, 243, 249))
    _hills(pen, rng, HORIZON - 22, 26, (206, 219, 236))
    _hills(pen, rng, HORIZON + 2, 12, (220, 230, 243))
    _fade_ground(pen, rng, (246, 249, 253), (222, 232, 245))
    for _ in range(60):
        x, y = rng.uniform(0, WIDTH), rng.uniform(0, HORIZON + 10)
        pen.oval(x, y, 1.3, 1.3, (250, 252, 255))
    for _ in range(26):
        x, y = rng.uniform(0, WIDTH), rng.uniform(HORIZON + 46, HEIGHT)
        pen.line([(x, y), (x + rng.uniform(8, 26), y)], 1.4, (208, 221, 239))


def _night(pen: Pen, rng: random.Random) -> None:
    _fade(pen, 0, 250, (44, 54, 104), (108, 118, 168))
    for _ in range(70):
        size = rng.uniform(0.5, 1.0)
        star = rng.uniform(0, WIDTH), rng.uniform(0, HORIZON - 30)
        pen.oval(*star, size, size, (206, 210, 236))
    x, y = float(rng.choice((56, 424)) + rng.randint(-14, 14)), float(rng.randint(36, 56))
    pen.glow(x, y, 52, (196, 200, 232), 0.5)
    pen.oval(x, y, 19, 19, (250, 244, 214))
    for dx, dy, r in ((-6, -5, 4), (6, 4, 5), (-5, 8, 2.6)):
        pen.oval(x + dx, y + dy, r, r, (234, 226, 194))
    _hills(pen, rng, HORIZON - 14, 18, (84, 106, 140))
    _hills(pen, rng, HORIZON + 2, 10, (84, 116, 130))
    _fade_ground(pen, rng, (118, 156, 146), (88, 126, 128))
    _tufts(pen, rng, 46, (78, 114, 116))


def _lake(pen: Pen, rng: random.Random) -> None:
    _fade(pen, 0, HORIZON, (158, 210, 238), (236, 246, 248))
    _sun(pen, rng)
    _clouds(pen, rng, (252, 254, 255))
    _hills(pen, rng, HORIZON - 22, 18, (166, 200, 190))
    _hills(pen, rng, HORIZON - 6, 9, (138, 186, 158))
    _fade(pen, HORIZON, HEIGHT, (150, 208, 228), (84, 160, 202))
    for _ in range(44):
        y = rng.uniform(HORIZON + 8, HEIGHT - 4)
        x, length = rng.uniform(-20, WIDTH), rng.uniform(0.1, 0.34) * (y - HORIZON + 50)
        water = mix((150, 208, 228), (84, 160, 202), (y - HORIZON) / (HEIGHT - HORIZON))
        wave = [(x, y), (x + length / 2, y - 2), (x + length, y)]
        pen.stroke(wave, 1.5, mix(water, WHITE, 0.35))


def _table(pen: Pen, rng: random.Random) -> None:
    wall = rng.choice(((236, 226, 212), (218, 228, 226), (232, 218, 218), (222, 222, 236)))
    _fade(pen, 0, HORIZON + 40, mix(wall, WHITE, 0.3), wall)
    for stripe in range(-12, WIDTH, 36):
        pen.box(stripe, 0, stripe + 14, HORIZON + 30, mix(wall, WHITE, 0.28))
    pen.glow(rng.randint(120, 360), 40, 150, WHITE, 0.35)
    top = HORIZON + 24
    _fade(pen, top, HEIGHT, (222, 172, 122), (192, 134, 86))
    pen.box(0, top, WIDTH, top + 3, (236, 194, 148))
    for seam in (top + 22, top + 56, top + 102):
        pen.line([(-5, seam), (WIDTH + 5, seam)], 1.3, (176, 122, 78))
    for _ in range(26):
        x, y = rng.uniform(-20, WIDTH), rng.uniform(top + 8, HEIGHT)
        grain = [(x, y), (x + rng.uniform(20, 50), y + rng.uniform(-1, 1)), (x + 80, y)]
        pen.stroke(grain, 0.9, (186, 132, 86))


_PAINTED: dict[str, Callable[[Pen, random.Random], None]] = {
    "meadow": _meadow,
    "beach": _beach,
    "snow": _snow,
    "night": _night,
    "lake": _lake,
    "table": _table,
}
