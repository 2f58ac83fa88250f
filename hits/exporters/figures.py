"""Charts of tables as SVG, PDF and PNG: the same table gives the same bytes.

Figures are made without pyplot, so that no figure outlives its request and threads share none.
Colours are those of Okabe and Ito, which people with any colour vision tell apart.
"""

import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, PercentFormatter

from hits.exporters.figure_size import MOST_ROWS, SIDEWAYS, inches_of
from hits.records import Cell, Chart, Table

Form = Literal["svg", "pdf", "png"]
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9", "#F0E442", "#666666")
HATCHES = ("", "//", "..", "xx", "\\\\", "++", "oo", "--")
MARKS = ("o", "s", "^", "D", "v", "P", "X", "*")
MOST_SERIES = 2 * len(COLOURS)
LONGEST_NAME, LONGEST_SERIES = 28, 60
LEGEND_LETTERS = 80
LETTERS_ALONG = 75
METADATA: dict[Form, dict[str, None]] = {
    "svg": {"Date": None, "Creator": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
    "png": {"Software": None},
}

# Ids in an SVG would else be drawn by chance.
mpl.rcParams["svg.hashsalt"] = "annotation"


@dataclass(frozen=True)
class _Ground:
    """What a figure stands on: paper, or a dark page."""

    face: str
    ink: str
    grid: str


PAPER = _Ground("#ffffff", "#1a1a1a", "#d9d9d9")
DARK = _Ground("#16181c", "#e6e6e6", "#3a3f47")


def draw(table: Table, form: Form, *, dark: bool = False) -> bytes:
    assert table.chart is not None
    ground = DARK if dark else PAPER
    figure = Figure(inches_of(table), dpi=150, facecolor=ground.face, layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot(facecolor=ground.face)
    _DRAWN[table.chart.kind](axes, table, ground)
    _dress(figure, axes, table, ground)
    file = io.BytesIO()
    figure.savefig(file, format=form, metadata=METADATA[form], facecolor=ground.face)
    return file.getvalue()


def _names(table: Table, chart: Chart) -> list[str]:
    return [_name([str(row[place]) for place in chart.names]) for row in table.rows[:MOST_ROWS]]


def _name(parts: Sequence[str]) -> str:
    """Of a long one the first part is cut: of one machine's names, the rank tells which it is."""
    rest = "".join(f", {part}" for part in parts[1:])
    return _short(parts[0], LONGEST_NAME - len(rest)) + _short(rest, len(rest))


def _short(text: str, longest: int) -> str:
    """As it stands; a dollar would begin a formula."""
    shown = text if len(text) <= longest else f"{text[: longest - 1]}…"
    return shown.replace("$", r"\$")


def _series(table: Table, chart: Chart) -> list[tuple[str, list[float]]]:
    return [
        (
            _short(table.columns[place].name, LONGEST_SERIES),
            [
                np.nan if row[place] is None else float(row[place] or 0)
                for row in table.rows[:MOST_ROWS]
            ],
        )
        for place in chart.values[:MOST_SERIES]
    ]


def _value(cell: Cell) -> float:
    return float(cell) if isinstance(cell, int | float) else np.nan


def _filled(place: int) -> dict[str, Any]:
    """Past the last colour, the first ones with another pattern."""
    turn, colour = divmod(place, len(COLOURS))
    return {"color": COLOURS[colour], "hatch": HATCHES[(colour + turn) % len(HATCHES)]}


def _bars(axes: Axes, table: Table, ground: _Ground) -> None:
    chart = _chart(table)
    series, names = _series(table, chart), _names(table, chart)
    width = 0.8 / len(series)
    for place, (name, values) in enumerate(series):
        left = np.arange(len(names)) - 0.4 + width * (place + 0.5)
        axes.bar(
            left, values, width, label=name, edgecolor=ground.face, linewidth=0.5,
            **_filled(place),
        )  # fmt: skip
    turn = 35 if sum(map(len, names)) > LETTERS_ALONG else 0
    axes.set_xticks(
        range(len(names)), names, rotation=turn, ha="right" if turn else "center", fontsize=8
    )


def _stacked(axes: Axes, table: Table, ground: _Ground) -> None:
    chart = _chart(table)
    names = _names(table, chart)
    start = np.zeros(len(names))
    for place, (name, values) in enumerate(_series(table, chart)):
        known = np.nan_to_num(values)
        axes.barh(
            range(len(names)), known, 0.8, left=start, label=name, edgecolor=ground.face,
            linewidth=0.5, **_filled(place),
        )  # fmt: skip
        start += known
    axes.set_yticks(range(len(names)), names, fontsize=8)
    axes.invert_yaxis()


def _points(axes: Axes, table: Table, ground: _Ground) -> None:
    chart = _chart(table)
    names = _names(table, chart)
    ((_, values),) = _series(table, chart)
    axes.plot(values, range(len(names)), "o", color=COLOURS[0])
    if chart.ends is not None:
        for place, row in enumerate(table.rows[:MOST_ROWS]):
            low, high = (row[end] for end in chart.ends)
            if isinstance(low, int | float) and isinstance(high, int | float):
                axes.plot([low, high], [place, place], color=COLOURS[0], linewidth=1.5)
    axes.set_yticks(range(len(names)), names, fontsize=8)
    axes.set_ylim(len(names) - 0.5, -0.5)


def _lines(axes: Axes, table: Table, ground: _Ground) -> None:
    chart = _chart(table)
    names = _names(table, chart)
    for place, (name, values) in enumerate(_series(table, chart)):
        axes.plot(
            range(len(names)), values, color=COLOURS[place % len(COLOURS)], label=name,
            marker=MARKS[place % len(MARKS)], linewidth=1.5, markersize=5,
        )  # fmt: skip
    axes.set_xticks(range(len(names)), names, fontsize=8)


_DRAWN = {"bars": _bars, "stacked": _stacked, "points": _points, "lines": _lines}


def _chart(table: Table) -> Chart:
    assert table.chart is not None
    return table.chart


def _dress(figure: Figure, axes: Axes, table: Table, ground: _Ground) -> None:
    """Names of the axes, what is counted, and what the colours mean."""
    chart = _chart(table)
    sideways = chart.kind in SIDEWAYS
    along, up = (chart.up, chart.along) if sideways else (chart.along, chart.up)
    axes.set_xlabel(along, color=ground.ink, fontsize=9)
    axes.set_ylabel(up, color=ground.ink, fontsize=9)
    values = axes.xaxis if sideways else axes.yaxis
    if table.columns[chart.values[0]].kind == "share":
        values.set_major_formatter(PercentFormatter(1, decimals=0))
    elif table.columns[chart.values[0]].kind == "count":
        values.set_major_locator(MaxNLocator(integer=True))
    axes.set_title(_noted(table, chart), loc="left", fontsize=9, color=ground.ink)
    axes.tick_params(colors=ground.ink, labelsize=8)
    axes.grid(axis="x" if sideways else "y", color=ground.grid, linewidth=0.6)
    axes.set_axisbelow(True)
    for name, spine in axes.spines.items():
        spine.set_visible(name in ("left", "bottom"))
        spine.set_color(ground.ink)
    if len(chart.values) > 1:
        longest = max(len(name) for name, _ in _series(table, chart))
        columns = max(1, min(4, len(chart.values), LEGEND_LETTERS // (longest + 4)))
        figure.legend(
            loc="outside lower center", ncols=columns, fontsize=8, frameon=False,
            labelcolor=ground.ink,
        )  # fmt: skip


def _noted(table: Table, chart: Chart) -> str:
    left_out = _left_out(len(table.rows) - MOST_ROWS, "rows") + _left_out(
        len(chart.values) - MOST_SERIES, "columns"
    )
    ends = "; lines are 95% intervals" if chart.ends is not None else ""
    return f"n: {chart.of}{ends}{left_out}".replace("$", r"\$")


def _left_out(number: int, what: str) -> str:
    return f"; {number:,} {what} not drawn" if number > 0 else ""
