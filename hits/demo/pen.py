"""A pen for flat illustrations: drawn large, made smooth by shrinking."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PIL import Image, ImageChops, ImageDraw, ImageFilter

Point = tuple[float, float]
Colour = tuple[int, int, int]

SMOOTHING = 4


def mix(one: Colour, other: Colour, share: float) -> Colour:
    return (
        round(one[0] + (other[0] - one[0]) * share),
        round(one[1] + (other[1] - one[1]) * share),
        round(one[2] + (other[2] - one[2]) * share),
    )


def curve(points: Sequence[Point], *, closed: bool = True, steps: int = 10) -> list[Point]:
    """A Catmull-Rom spline through the points."""
    knots = np.asarray(points, dtype=float)
    if closed:
        knots = np.vstack([knots[-1], knots, knots[:2]])
    else:
        knots = np.vstack([knots[0], knots, knots[-1]])
    t = np.linspace(0, 1, steps, endpoint=False)[:, None]
    pieces = []
    for a, b, c, d in zip(knots, knots[1:], knots[2:], knots[3:], strict=False):
        pieces.append(
            0.5
            * (
                2 * b
                + (c - a) * t
                + (2 * a - 5 * b + 4 * c - d) * t**2
                + (3 * b - a - 3 * c + d) * t**3
            )
        )
    if not closed:
        pieces.append(knots[-1:])
    return [(float(x), float(y)) for x, y in np.concatenate(pieces)]


class Pen:
    """Draws in units of its own, `unit` pixels each, on a sheet that is shrunk when taken."""

    def __init__(self, width: int, height: int, unit: float, colour: Colour | None = None) -> None:
        self.width, self.height = width, height
        self.unit = unit * SMOOTHING
        self.sheet = Image.new(
            "RGBA", (width * SMOOTHING, height * SMOOTHING), (*colour, 255) if colour else 0
        )
        self._draw = ImageDraw.Draw(self.sheet)

    def _scaled(self, points: Sequence[Point]) -> list[Point]:
        return [(x * self.unit, y * self.unit) for x, y in points]

    def shape(self, points: Sequence[Point], fill: Colour) -> None:
        self._draw.polygon(self._scaled(points), fill=fill)

    def blob(self, points: Sequence[Point], fill: Colour) -> None:
        self.shape(curve(points), fill)

    def oval(self, x: float, y: float, rx: float, ry: float, fill: Colour) -> None:
        self._draw.ellipse(self._scaled([(x - rx, y - ry), (x + rx, y + ry)]), fill=fill)

    def hole(self, x: float, y: float, rx: float, ry: float) -> None:
        self._draw.ellipse(self._scaled([(x - rx, y - ry), (x + rx, y + ry)]), fill=0)

    def tilted_oval(self, centre: Point, radii: Point, degrees: float, fill: Colour) -> None:
        turn = np.radians(degrees)
        t = np.linspace(0, 2 * np.pi, 48, endpoint=False)
        x, y = radii[0] * np.cos(t), radii[1] * np.sin(t)
        xs = centre[0] + x * np.cos(turn) - y * np.sin(turn)
        ys = centre[1] + x * np.sin(turn) + y * np.cos(turn)
        self.shape(list(zip(xs.tolist(), ys.tolist(), strict=True)), fill)

    def box(self, left: float, top: float, right: float, bottom: float, fill: Colour,
            radius: float = 0) -> None:  # fmt: skip
        self._draw.rounded_rectangle(
            self._scaled([(left, top), (right, bottom)]), radius * self.unit, fill=fill
        )

    def line(self, points: Sequence[Point], width: float, fill: Colour) -> None:
        """With round ends and joints."""
        scaled = self._scaled(points)
        half = width * self.unit / 2
        self._draw.line(scaled, fill=fill, width=max(1, round(2 * half)), joint="curve")
        for x, y in (scaled[0], scaled[-1]):
            self._draw.ellipse((x - half, y - half, x + half, y + half), fill=fill)

    def stroke(self, points: Sequence[Point], width: float, fill: Colour) -> None:
        self.line(curve(points, closed=False), width, fill)

    def tint(self, points: Sequence[Point], fill: Colour, strength: float) -> None:
        """Colours what is drawn already, inside the shape only."""
        mask = Image.new("L", self.sheet.size, 0)
        ImageDraw.Draw(mask).polygon(self._scaled(points), fill=round(255 * strength))
        mask = ImageChops.multiply(mask, self.sheet.getchannel("A"))
        self.sheet.paste(Image.composite(_plain(self.sheet, fill), self.sheet, mask))
        self._draw = ImageDraw.Draw(self.sheet)

    def glow(self, x: float, y: float, radius: float, fill: Colour, strength: float) -> None:
        mask = Image.new("L", self.sheet.size, 0)
        core = radius / 2
        corners = self._scaled([(x - core, y - core), (x + core, y + core)])
        ImageDraw.Draw(mask).ellipse(corners, fill=round(255 * strength))
        mask = mask.filter(ImageFilter.GaussianBlur(radius * self.unit / 3))
        self.sheet.paste(Image.composite(_plain(self.sheet, fill), self.sheet, mask))
        self._draw = ImageDraw.Draw(self.sheet)

    def outline(self, width: float, colour: Colour) -> None:
        """A rim around everything drawn so far."""
        alpha = self.sheet.getchannel("A")
        wider = alpha
        for turn in np.linspace(0, 2 * np.pi, 16, endpoint=False):
            across, down = width * self.unit * np.cos(turn), width * self.unit * np.sin(turn)
            moved = Image.new("L", alpha.size, 0)
            moved.paste(alpha, (round(across), round(down)))
            wider = ImageChops.lighter(wider, moved)
        rim = Image.new("RGBA", self.sheet.size, 0)
        rim.paste((*colour, 255), mask=wider)
        rim.alpha_composite(self.sheet)
        self.sheet = rim
        self._draw = ImageDraw.Draw(self.sheet)

    def light_from_above(self, strength: float) -> None:
        """Brighter above and darker below, which takes the flatness off."""
        pixels = np.asarray(self.sheet, dtype=np.float32).copy()
        ramp = np.linspace(strength, -strength, pixels.shape[0], dtype=np.float32)[:, None, None]
        pixels[..., :3] += np.where(ramp > 0, 255 - pixels[..., :3], pixels[..., :3]) * ramp
        self.sheet = Image.fromarray(pixels.round().astype(np.uint8), "RGBA")
        self._draw = ImageDraw.Draw(self.sheet)

    def take(self) -> Image.Image:
        return self.sheet.reduce(SMOOTHING)


def _plain(like: Image.Image, colour: Colour) -> Image.Image:
    return Image.new("RGBA", like.size, (*colour, 255))
