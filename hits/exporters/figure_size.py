"""How large a figure is, known before it is drawn: a page leaves room for it, and nothing jumps."""

from hits.records import Table

WIDTH, HEIGHT = 6.5, 3.6
FRAME, ROW = 1.4, 0.28
MOST_ROWS = 60
SIDEWAYS = ("stacked", "points")
PIXELS_AN_INCH = 96


def inches_of(table: Table) -> tuple[float, float]:
    """Of a table with a chart; one whose names stand at the left is as high as they need."""
    assert table.chart is not None
    if table.chart.kind not in SIDEWAYS:
        return WIDTH, HEIGHT
    rows = min(len(table.rows), MOST_ROWS) + len(table.chart.values) // 2
    return WIDTH, FRAME + ROW * rows


def pixels_of(table: Table) -> tuple[int, int] | None:
    """None without a chart."""
    if table.chart is None:
        return None
    width, height = inches_of(table)
    return round(PIXELS_AN_INCH * width), round(PIXELS_AN_INCH * height)
