"""Charts of tables, drawn without pyplot, the same bytes each time."""

import re
import sys
from typing import get_args

import pytest

from hits.exporters.figure_size import MOST_ROWS, pixels_of
from hits.exporters.figures import Form, draw
from hits.exporters.files import FORMS, TYPES, as_file
from hits.records import Cell, Chart, Column, Table

COLUMNS = [Column("Name"), Column("One", "share"), Column("Two", "share")]
ROWS: list[list[Cell]] = [["a $x_1$ & <b>", 0.2, 0.8], ["b", None, 0.4], ["c" * 80, 1.0, 0.0]]
BEGIN = {"svg": b"<?xml", "pdf": b"%PDF", "png": b"\x89PNG"}
KINDS = get_args(Chart.__annotations__["kind"])


def charted(kind: str, rows: list[list[Cell]] = ROWS) -> Table:
    values, ends = ((1,), (1, 2)) if kind == "points" else ((1, 2), None)
    chart = Chart(kind, (0,), values, "Along", "Up", "3 of them", ends)  # type: ignore[arg-type]
    return Table("t", "T", "", COLUMNS, rows, chart=chart)


@pytest.mark.parametrize("kind", KINDS)
def test_every_chart_is_drawn_alike_each_time(kind: str) -> None:
    for form in get_args(Form):
        drawn = draw(charted(kind), form)
        assert drawn.startswith(BEGIN[form])
        assert draw(charted(kind), form) == drawn
    assert "matplotlib.pyplot" not in sys.modules


def test_a_dark_figure_has_another_ground() -> None:
    assert b"#ffffff" in draw(charted("bars"), "svg")
    assert b"#16181c" in draw(charted("bars"), "svg", dark=True)


def test_a_long_table_is_drawn_in_part() -> None:
    rows: list[list[Cell]] = [[f"r{n}", 0.1, 0.2] for n in range(MOST_ROWS + 7)]
    assert draw(charted("bars", rows), "svg") != draw(charted("bars", rows[:MOST_ROWS]), "svg")


def test_a_name_of_two_parts_shows_where_the_second_begins_however_long_the_first_is() -> None:
    columns = [Column("Machine"), Column("Rank"), Column("Yes", "share")]
    rows: list[list[Cell]] = [["layout 1", "2", 0.5], ["m" * 80, "4", 0.5]]
    chart = Chart("bars", (0, 1), (2,), "Machine and rank", "Share", "2")
    drawn = draw(Table("t", "T", "", columns, rows, chart=chart), "svg").decode()
    assert "<!-- layout 1, 2 -->" in drawn
    assert "m…, 4 -->" in drawn


@pytest.mark.parametrize("kind", KINDS)
def test_a_figure_is_as_large_as_is_known_before_it_is_drawn(kind: str) -> None:
    table = charted(kind)
    points = re.search(rb'width="([\d.]+)pt" height="([\d.]+)pt"', draw(table, "svg"))
    assert points is not None
    assert pixels_of(table) == tuple(round(float(each) * 96 / 72) for each in points.groups())


def test_a_table_without_a_chart_has_no_figure() -> None:
    plain = Table("t", "T", "", COLUMNS, ROWS)
    assert pixels_of(plain) is None
    assert FORMS.keys() == TYPES.keys()
    assert [form for form in FORMS if as_file(plain, form)] == ["csv", "tex"]
    assert as_file(charted("bars"), "exe") is None
