"""ROC curves side by side, as SVG."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from hits.analysis.arrays import Floats

SIZE, LEFT, TOP, GAP = 320, 60, 44, 70
COLUMNS = 2
TICKS = (0, 0.25, 0.5, 0.75, 1)
STYLES = (("#b45309", "2 4"), ("#1d4ed8", "7 4"), ("#0f172a", "none"))
MOST_POINTS = 200


class Curve(NamedTuple):
    """From (0, 0) to (1, 1), and the point at which the rules flag."""

    false: Floats
    true: Floats
    threshold: tuple[float, float]


def drawn(panels: Mapping[str, Mapping[str, Curve]]) -> str:
    across, down = SIZE + GAP, TOP + SIZE + 60
    width, height = LEFT + COLUMNS * across, -(-len(panels) // COLUMNS) * down
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        'font-family="sans-serif" font-size="12" role="img" aria-labelledby="title">',
        '<title id="title">Share of bad pages flagged against share of good pages flagged</title>',
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
    ]
    for place, (title, curves) in enumerate(panels.items()):
        row, column = divmod(place, COLUMNS)
        lines.append(f'<g transform="translate({LEFT + column * across} {TOP + row * down})">')
        lines += _panel(title, curves)
        lines.append("</g>")
    return "\n".join([*lines, "</svg>", ""])


def _panel(title: str, curves: Mapping[str, Curve]) -> Iterator[str]:
    yield f'<text x="0" y="-16" font-size="15" font-weight="bold">{title}</text>'
    for tick in TICKS:
        x, y = _at(tick, tick)
        yield f'<path d="M{x} 0V{SIZE}M0 {y}H{SIZE}" stroke="#e2e8f0"/>'
        yield f'<text x="{x}" y="{SIZE + 18}" text-anchor="middle">{tick:.0%}</text>'
        yield f'<text x="-8" y="{y + 4}" text-anchor="end">{tick:.0%}</text>'
    yield f'<text x="{SIZE / 2}" y="{SIZE + 40}" text-anchor="middle">good pages flagged</text>'
    yield (
        f'<text transform="translate(-46 {SIZE / 2}) rotate(-90)" text-anchor="middle">'
        "bad pages flagged</text>"
    )
    for place, (name, curve) in enumerate(curves.items()):
        colour, dashes = STYLES[place]
        points = " ".join(f"{x},{y}" for x, y in _points(curve))
        stroke = f'stroke="{colour}" stroke-width="2" stroke-dasharray="{dashes}"'
        yield f'<polyline points="{points}" fill="none" {stroke}/>'
        x, y = _at(*curve.threshold)
        yield f'<circle cx="{x}" cy="{y}" r="5" fill="{colour}"/>'
        line = SIZE - 64 + 22 * place
        yield f'<path d="M150 {line}h30" {stroke}/>'
        yield f'<text x="188" y="{line + 4}">{name}</text>'


def _points(curve: Curve) -> list[tuple[float, float]]:
    """At most so many, the ends among them."""
    step = max(1, len(curve.true) // MOST_POINTS)
    kept = sorted({*range(0, len(curve.true), step), len(curve.true) - 1})
    return [_at(float(curve.false[place]), float(curve.true[place])) for place in kept]


def _at(false: float, true: float) -> tuple[float, float]:
    return round(false * SIZE, 1), round((1 - true) * SIZE, 1)
