"""How each kind of object looks, in a box of about a hundred units, facing right."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from PIL import Image, ImageOps

from hits.demo.pen import Colour, Pen, Point, curve, mix
from hits.demo.scenes import KINDS

WHITE: Colour = (255, 255, 255)
INK: Colour = (38, 34, 48)
CLAY: Colour = (196, 116, 78)
WOOD: Colour = (150, 104, 68)
LEAF: Colour = (74, 150, 84)
BLUSH: Colour = (240, 150, 150)
RIM = 1.6

PAINT: dict[str, Colour] = {
    "red": (222, 62, 62),
    "yellow": (250, 204, 52),
    "green": (56, 164, 92),
    "blue": (54, 122, 214),
    "purple": (140, 84, 190),
    "orange": (236, 142, 58),
    "black": (62, 60, 72),
    "white": (250, 248, 244),
    "grey": (152, 156, 168),
}


@dataclass(frozen=True, slots=True)
class Tone:
    base: Colour
    light: Colour
    dark: Colour
    rim: Colour


def tone(colour: str) -> Tone:
    base = PAINT[colour]
    return Tone(
        base=base,
        light=mix(base, WHITE, 0.38),
        dark=mix(base, (44, 30, 74), 0.14 if colour == "white" else 0.26),
        rim=mix(base, (40, 30, 60), 0.5 if colour == "white" else 0.62),
    )


@lru_cache(maxsize=2048)
def sprite(kind: str, colour: str, pose: str | None, facing: str | None,
           width: int, height: int) -> Image.Image:  # fmt: skip
    box = KINDS[kind]
    pen = Pen(width, height, width / box.width)
    colours = tone(colour)
    _DRAWN[kind, pose](pen, colours)
    pen.light_from_above(0.07)
    pen.outline(RIM, colours.rim)
    taken = pen.take()
    return ImageOps.mirror(taken) if facing == "left" else taken


def _eyes(pen: Pen, y: float, *xs: float, r: float = 2.6, fill: Colour = INK) -> None:
    for x in xs:
        pen.oval(x, y, r, r * 1.15, fill)
        pen.oval(x + r * 0.3, y - r * 0.4, r * 0.35, r * 0.35, WHITE)


def _face_ink(c: Tone) -> Colour:
    dark = sum(c.base) < 240
    return (250, 214, 90) if dark else INK


def _sitting_cat(pen: Pen, c: Tone) -> None:
    pen.stroke([(56, 74), (72, 76), (79, 66), (74, 54), (77, 46)], 8, c.dark)
    pen.blob([(42, 34), (56, 42), (62, 62), (62, 80), (42, 81), (22, 80), (22, 62), (28, 42)],
             c.base)  # fmt: skip
    pen.tint(curve([(54, 42), (70, 60), (68, 84), (50, 84), (56, 64)]), c.dark, 0.6)
    pen.oval(42, 62, 10, 15, c.light)
    pen.line([(36, 58), (36, 76)], 1.2, c.dark)
    pen.line([(48, 58), (48, 76)], 1.2, c.dark)
    pen.oval(34, 78, 8, 4.4, c.light)
    pen.oval(50, 78, 8, 4.4, c.light)
    for side in (-1, 1):
        pen.shape([(42 + side * 24, 5), (42 + side * 6, 14), (42 + side * 23, 29)], c.base)
        pen.shape([(42 + side * 21, 10), (42 + side * 11, 16), (42 + side * 20, 24)], BLUSH)
    pen.oval(42, 28, 25, 20, c.base)
    _cat_face(pen, c, 42, 29)


def _cat_face(pen: Pen, c: Tone, x: float, y: float) -> None:
    pen.oval(x, y + 8, 10, 7, c.light)
    _eyes(pen, y - 1, x - 11, x + 11, r=3.3, fill=_face_ink(c))
    pen.shape([(x - 3, y + 4), (x + 3, y + 4), (x, y + 7.5)], BLUSH)
    pen.stroke([(x - 5, y + 10), (x - 2.4, y + 11.4), (x, y + 8)], 1.1, INK)
    pen.stroke([(x + 5, y + 10), (x + 2.4, y + 11.4), (x, y + 8)], 1.1, INK)
    for side in (-1, 1):
        for rise in (3, 8):
            pen.line([(x + side * 13, y + 4 + rise / 2), (x + side * 23, y + rise)], 0.8, c.rim)


def _sleeping_cat(pen: Pen, c: Tone) -> None:
    pen.blob([(12, 62), (22, 46), (44, 39), (66, 46), (78, 62), (74, 78), (44, 81), (14, 78)],
             c.base)  # fmt: skip
    pen.tint(curve([(8, 72), (40, 74), (80, 66), (78, 84), (40, 86), (8, 84)]), c.dark, 0.6)
    pen.stroke([(76, 66), (72, 77), (56, 78.5), (44, 76)], 6.5, c.light)
    pen.stroke([(50, 46), (56, 50), (58, 56)], 1.2, c.dark)
    pen.stroke([(60, 46), (66, 50), (68, 56)], 1.2, c.dark)
    pen.oval(26, 62, 20.5, 16.5, c.dark)
    for side in (-1, 1):
        pen.shape([(25 + side * 19, 35), (25 + side * 3, 48), (25 + side * 19, 58)], c.dark)
        pen.shape([(24 + side * 18, 36), (24 + side * 3, 49), (24 + side * 18, 58)], c.base)
        pen.shape([(24 + side * 15.5, 41), (24 + side * 8, 48), (24 + side * 15.5, 54)], BLUSH)
    pen.oval(24, 62, 20, 16, c.base)
    pen.oval(24, 68, 8, 5.4, c.light)
    ink = _face_ink(c)
    pen.stroke([(11, 60), (15, 63), (19, 60)], 1.5, ink)
    pen.stroke([(29, 60), (33, 63), (37, 60)], 1.5, ink)
    pen.shape([(21.6, 65), (26.4, 65), (24, 68)], BLUSH)


def _dog_head(pen: Pen, c: Tone, x: float, y: float) -> None:
    pen.blob([(x - 14, y - 8), (x, y - 16), (x + 14, y - 8), (x + 26, y + 1), (x + 26, y + 9),
              (x + 10, y + 14), (x - 10, y + 12)], c.base)  # fmt: skip
    pen.blob([(x + 12, y), (x + 26, y + 2), (x + 26, y + 9), (x + 10, y + 12)], c.light)
    pen.blob([(x - 14, y - 12), (x - 4, y - 12), (x - 3, y + 2), (x - 9, y + 14), (x - 16, y + 6)],
             c.dark)  # fmt: skip
    pen.oval(x + 26, y + 1.5, 3.8, 3.2, INK)
    _eyes(pen, y - 4, x + 9, r=3, fill=_face_ink(c))
    pen.stroke([(x + 25, y + 7), (x + 19, y + 9.4), (x + 13, y + 8)], 1.2, INK)


def _collar(pen: Pen, c: Tone, points: list[Point]) -> None:
    red: Colour = (206, 70, 66)
    pen.line(points, 4.4, red)
    pen.oval(points[1][0], points[1][1] + 3.4, 2.6, 2.6, (250, 206, 80))


def _standing_dog(pen: Pen, c: Tone) -> None:
    pen.stroke([(18, 46), (8, 38), (6, 26)], 6, c.base)
    for x in (26, 60):
        pen.box(x - 5, 54, x + 4, 81, c.dark, 4)
    pen.blob([(14, 46), (30, 40), (56, 40), (70, 36), (72, 52), (62, 64), (40, 62), (20, 64)],
             c.base)  # fmt: skip
    pen.tint(curve([(16, 58), (40, 56), (66, 54), (60, 70), (20, 70)]), c.dark, 0.5)
    for x in (19, 68):
        pen.box(x - 5, 50, x + 4.5, 82, c.base, 4)
        pen.oval(x + 1, 80, 6.2, 3, c.light)
    pen.line([(58, 44), (66, 30)], 20, c.base)
    _collar(pen, c, [(56, 36), (74, 45)])
    _dog_head(pen, c, 66, 22)


def _sitting_dog(pen: Pen, c: Tone) -> None:
    pen.stroke([(26, 76), (12, 74), (7, 62)], 6, c.base)
    pen.blob([(52, 30), (66, 38), (68, 58), (64, 80), (36, 81), (20, 76), (24, 58), (38, 44)],
             c.base)  # fmt: skip
    pen.tint(curve([(16, 70), (40, 70), (56, 66), (54, 86), (16, 86)]), c.dark, 0.4)
    pen.oval(34, 69, 13, 11.5, c.base)
    pen.oval(40, 79, 11, 3.4, c.light)
    pen.box(55, 48, 66, 82, c.base, 5)
    pen.line([(55, 56), (55, 76)], 1.2, c.dark)
    pen.oval(62.5, 80, 7.4, 3.2, c.light)
    _collar(pen, c, [(45, 37), (67, 42)])
    _dog_head(pen, c, 56, 22)


def _duck(pen: Pen, c: Tone) -> None:
    orange: Colour = (242, 140, 48)
    pen.blob([(66, 16), (78, 21), (78, 26), (64, 27)], orange)
    pen.blob([(4, 34), (18, 40), (36, 38), (50, 34), (66, 40), (68, 54), (56, 67), (28, 67),
              (10, 56)], c.base)  # fmt: skip
    pen.tint(curve([(4, 56), (36, 58), (72, 50), (60, 72), (20, 72)]), c.dark, 0.6)
    pen.oval(55, 20, 15, 15, c.base)
    pen.shape([(46, 24), (66, 30), (66, 44), (40, 44)], c.base)
    pen.blob([(20, 42), (38, 41), (50, 46), (42, 57), (28, 57)], c.dark)
    pen.blob([(22, 42), (38, 41), (48, 45), (40, 53), (29, 53)], c.light)
    _eyes(pen, 17, 60, r=2.8)


def _ball(pen: Pen, c: Tone) -> None:
    pen.oval(33, 33, 31, 31, c.base)
    pale = mix(c.base, WHITE, 0.82)
    band = [(-4, 36), (16, 25), (44, 23), (70, 31), (72, 41), (44, 34), (18, 36), (-4, 48)]
    pen.tint(curve(band), pale, 1)
    pen.tint(curve([(60, 4), (72, 40), (40, 72), (4, 62), (36, 60), (56, 40)]), c.dark, 0.75)
    pen.tilted_oval((21, 14), (8, 4.6), -36, mix(c.light, WHITE, 0.6))


def _gift(pen: Pen, c: Tone) -> None:
    ribbon: Colour = (250, 216, 110) if c.base != PAINT["yellow"] else (226, 92, 92)
    shade = mix(ribbon, INK, 0.18)
    pen.box(7, 34, 65, 74, c.base, 3)
    pen.tint([(48, 30), (70, 30), (70, 76), (48, 76)], c.dark, 0.55)
    pen.box(30, 34, 42, 74, ribbon)
    pen.box(3, 22, 69, 37, c.light, 3)
    pen.box(30, 22, 42, 37, mix(ribbon, WHITE, 0.25))
    for side in (-1, 1):
        pen.blob([(36, 21), (36 + side * 9, 7), (36 + side * 22, 5), (36 + side * 22, 16)], ribbon)
        pen.blob([(36 + side * 6, 17), (36 + side * 12, 10), (36 + side * 18, 13)], shade)
    pen.oval(36, 19, 6, 5, shade)


def _mug(pen: Pen, c: Tone) -> None:
    pen.oval(52, 35, 17, 17, c.dark)
    pen.hole(52, 35, 10, 10)
    pen.box(4, 8, 52, 62, c.base, 9)
    pen.box(4, 6, 52, 30, c.base)
    pen.tint([(40, 6), (56, 6), (56, 64), (38, 64), (42, 50)], c.dark, 0.6)
    pen.box(10, 18, 15, 50, c.light, 2.5)
    pen.oval(28, 8.5, 24, 6.5, c.light)
    pen.oval(28, 9, 20.5, 4.6, (104, 64, 44))


def _tulip(pen: Pen, c: Tone) -> None:
    pen.stroke([(27, 30), (26, 50), (27, 72)], 4, mix(LEAF, INK, 0.1))
    pen.blob([(26, 70), (12, 56), (6, 40), (18, 48), (27, 62)], LEAF)
    pen.blob([(27, 70), (40, 58), (48, 42), (36, 48), (28, 60)], mix(LEAF, WHITE, 0.15))
    pen.blob([(27, 38), (12, 30), (11, 8), (20, 14), (27, 4), (34, 14), (43, 8), (42, 30)], c.base)
    pen.blob([(34, 16), (43, 8), (42, 30), (29, 37)], c.dark)
    pen.blob([(27, 8), (35, 22), (27, 37), (19, 22)], c.light)
    pen.shape([(12, 72), (42, 72), (38, 95), (16, 95)], CLAY)
    pen.tint([(34, 70), (46, 70), (46, 96), (32, 96)], mix(CLAY, INK, 0.4), 0.5)
    pen.box(9, 66, 45, 75, mix(CLAY, WHITE, 0.18), 2)


def _umbrella(pen: Pen, c: Tone) -> None:
    pale = mix(c.base, WHITE, 0.82)
    pen.line([(50, 8), (50, 97)], 4, WOOD)
    rim = [(3, 50), (11, 46), (19, 46), (26, 51), (34, 46), (42, 46), (50, 51), (58, 46), (66, 46),
           (74, 51), (81, 46), (89, 46), (97, 50)]  # fmt: skip
    top = [(94, 36), (84, 22), (70, 13), (50, 9), (30, 13), (16, 22), (6, 36)]
    pen.shape([*rim, *curve(top, closed=False)], c.base)
    for left, right in ((26, 50), (74, 97)):
        edge = curve(
            [(50, 9), ((50 + left) / 2 + (left - 50) * 0.12, 22), (left, 51)], closed=False
        )
        back = curve([(right, 51), ((50 + right) / 2 + (right - 50) * 0.12, 22), (50, 9)],
                     closed=False)  # fmt: skip
        pen.tint([*edge, *back], pale, 1)
    pen.tint(curve([(70, 8), (104, 40), (96, 60), (76, 56), (84, 36)]), c.dark, 0.4)
    pen.oval(50, 8, 3.4, 4, WOOD)


def _house(pen: Pen, c: Tone) -> None:
    cream: Colour = (253, 243, 222)
    pen.box(66, 12, 78, 40, mix(CLAY, INK, 0.15))
    pen.box(12, 44, 86, 96, c.base)
    pen.tint([(62, 40), (90, 40), (90, 98), (62, 98)], c.dark, 0.5)
    roof: Colour = (112, 84, 84)
    pen.shape([(49, 6), (97, 50), (1, 50)], roof)
    pen.shape([(49, 6), (97, 50), (64, 50)], mix(roof, INK, 0.25))
    pen.box(40, 64, 57, 96, mix(WOOD, INK, 0.1), 3)
    pen.oval(53, 81, 1.8, 1.8, (250, 216, 110))
    for x in (19, 64):
        pen.box(x, 60, x + 15, 78, cream, 1.5)
        pen.box(x + 2, 62, x + 13, 76, (158, 208, 232))
        pen.line([(x + 7.5, 62), (x + 7.5, 76)], 1.4, cream)
        pen.line([(x + 2, 69), (x + 13, 69)], 1.4, cream)
    pen.oval(49, 35, 6.4, 6.4, cream)
    pen.oval(49, 35, 4.2, 4.2, (158, 208, 232))


def _car(pen: Pen, c: Tone) -> None:
    glass: Colour = (190, 226, 242)
    pen.blob([(22, 28), (30, 9), (44, 5), (62, 7), (74, 16), (82, 29), (52, 34)], c.base)
    pen.shape([(29, 26), (35, 13), (50, 11), (50, 26)], glass)
    pen.shape([(55, 11), (65, 13), (75, 26), (55, 26)], glass)
    pen.shape([(40, 12), (46, 11.5), (39, 26), (33, 26)], WHITE)
    pen.blob([(5, 30), (20, 25), (60, 25), (88, 28), (102, 33), (105, 44), (98, 51), (50, 52),
              (8, 51), (3, 42)], c.base)  # fmt: skip
    pen.tint(curve([(0, 44), (50, 43), (108, 44), (108, 58), (0, 58)]), c.dark, 0.65)
    pen.oval(100, 37, 4, 4.6, (255, 240, 170))
    pen.box(3, 33, 8, 40, (214, 74, 70), 2)
    pen.line([(52, 30), (52, 47)], 1.1, c.dark)
    pen.line([(56, 33), (62, 33)], 1.8, c.rim)
    for x in (26, 82):
        pen.oval(x, 49, 12, 12, INK)
        pen.oval(x, 49, 6, 6, (206, 208, 216))
        pen.oval(x, 49, 2.2, 2.2, INK)


def _boat(pen: Pen, c: Tone) -> None:
    cream: Colour = (252, 246, 232)
    pen.line([(44, 5), (44, 76)], 3.4, WOOD)
    pen.shape(curve([(48, 8), (66, 34), (80, 64), (64, 66), (48, 66)], steps=6), cream)
    pen.shape([(48, 8), *curve([(50, 12), (68, 36), (80, 66)], closed=False), (48, 66)], cream)
    pen.tint([(48, 48), (90, 48), (90, 58), (48, 58)], c.base, 1)
    pen.shape([(40, 18), *curve([(40, 20), (24, 44), (14, 66)], closed=False), (40, 66)],
              mix(cream, INK, 0.08))  # fmt: skip
    pen.shape([(44, 3), (44, 13), (30, 8)], c.base)
    hull = [(4, 72), (88, 72), *curve([(86, 78), (78, 92), (68, 96), (24, 96), (14, 90), (6, 78)],
                                      closed=False)]  # fmt: skip
    pen.shape(hull, c.base)
    pen.tint([(0, 86), (92, 86), (92, 98), (0, 98)], c.dark, 0.7)
    pen.tint([(0, 70), (92, 70), (92, 76), (0, 76)], c.light, 0.9)


def _kite(pen: Pen, c: Tone) -> None:
    tail = curve([(31, 60), (38, 70), (26, 78), (34, 90)], closed=False)
    pen.line(tail, 1.4, INK)
    pen.shape([(31, 2), (60, 26), (31, 62), (2, 26)], c.base)
    pen.shape([(31, 2), (60, 26), (31, 26)], c.light)
    pen.shape([(31, 62), (2, 26), (31, 26)], c.dark)
    pen.line([(31, 3), (31, 61)], 1.2, c.rim)
    pen.line([(3, 26), (59, 26)], 1.2, c.rim)
    for x, y in ((36, 70), (28, 79)):
        pen.shape([(x - 7, y - 4), (x, y), (x - 7, y + 4)], c.light)
        pen.shape([(x + 7, y - 4), (x, y), (x + 7, y + 4)], c.base)


def _balloon(pen: Pen, c: Tone) -> None:
    pen.stroke([(27, 64), (30, 72), (24, 80), (28, 90)], 1.4, mix(INK, WHITE, 0.25))
    pen.shape([(27, 58), (33, 67), (21, 67)], c.dark)
    pen.blob([(27, 2), (46, 10), (52, 28), (43, 49), (27, 62), (11, 49), (2, 28), (8, 10)], c.base)
    pen.tint(curve([(46, 4), (58, 30), (40, 62), (22, 66), (38, 50), (45, 28)]), c.dark, 0.6)
    pen.tilted_oval((16, 19), (9, 4.6), -58, mix(c.light, WHITE, 0.55))


def _bird(pen: Pen, c: Tone) -> None:
    pen.blob([(38, 28), (24, 14), (8, 4), (14, 24), (30, 40)], c.dark)
    pen.shape([(68, 26), (75, 31), (67, 35)], (242, 150, 48))
    pen.shape([(16, 40), (1, 36), (3, 44), (0, 50), (18, 48)], c.dark)
    pen.blob([(12, 42), (30, 34), (48, 24), (60, 19), (70, 26), (68, 38), (54, 52), (30, 54)],
             c.base)  # fmt: skip
    pen.blob([(66, 36), (54, 52), (34, 53), (50, 44)], c.light)
    pen.blob([(48, 36), (40, 16), (24, 3), (22, 24), (30, 44)], c.base)
    pen.blob([(44, 34), (36, 18), (26, 8), (26, 24), (32, 38)], c.light)
    _eyes(pen, 27, 62, r=2.6, fill=_face_ink(c))


def _butterfly(pen: Pen, c: Tone) -> None:
    for side in (-1, 1):
        upper = [(36, 28), (36 + side * 12, 8), (36 + side * 28, 4), (36 + side * 33, 16),
                 (36 + side * 24, 30)]  # fmt: skip
        lower = [(36, 30), (36 + side * 18, 31), (36 + side * 25, 42), (36 + side * 16, 55),
                 (36 + side * 6, 46)]  # fmt: skip
        pen.blob(lower, c.dark)
        pen.blob(upper, c.base)
        pen.tilted_oval((36 + side * 22, 15), (6, 4), side * -24, c.light)
        pen.oval(36 + side * 15, 43, 4, 4.4, c.light)
        pen.stroke([(36, 14), (36 + side * 4, 6), (36 + side * 9, 4)], 1.3, INK)
    pen.box(33.4, 12, 38.6, 50, INK, 2.6)
    pen.oval(36, 13, 3.8, 3.8, INK)


_DRAWN: dict[tuple[str, str | None], Callable[[Pen, Tone], None]] = {
    ("cat", "sitting"): _sitting_cat,
    ("cat", "sleeping"): _sleeping_cat,
    ("dog", "standing"): _standing_dog,
    ("dog", "sitting"): _sitting_dog,
    ("duck", None): _duck,
    ("ball", None): _ball,
    ("gift", None): _gift,
    ("mug", None): _mug,
    ("tulip", None): _tulip,
    ("umbrella", None): _umbrella,
    ("house", None): _house,
    ("car", None): _car,
    ("boat", None): _boat,
    ("kite", None): _kite,
    ("balloon", None): _balloon,
    ("bird", None): _bird,
    ("butterfly", None): _butterfly,
}
