"""Tables of a report as text: for people, for spreadsheets and for papers."""

import re
from collections.abc import Iterator

from hits.exporters.streams import as_csv
from hits.records import Cell, Column, Table

NONE = "–"

_SPECIAL = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "–": "--",
    "’": "'",
    "ρ": r"$\rho$",
    # After the end of a line it would begin what the line's end is told.
    "[": "{[}",
    "\n": " ",
    **{each: f"\\{each}" for each in "&%$#_{}"},
}
_TO_ESCAPE = re.compile("|".join(map(re.escape, _SPECIAL)))


def as_read(column: Column, cell: Cell) -> str:
    if cell is None:
        return NONE
    if isinstance(cell, str):
        return cell
    if column.kind == "share":
        return f"{cell:.1%}"
    return f"{cell:,}" if column.kind == "count" else f"{cell:.3f}"


def table_as_csv(table: Table) -> Iterator[str]:
    """Shares and numbers with all their digits."""
    names = [column.name for column in table.columns]
    return as_csv(names, (["" if cell is None else cell for cell in row] for row in table.rows))


def table_as_latex(table: Table) -> str:
    """For booktabs, with its title and note as the caption."""
    sides = "".join("l" if column.kind == "text" else "r" for column in table.columns)
    head = [column.name for column in table.columns]
    body = [
        [as_read(column, cell) for column, cell in zip(table.columns, row, strict=True)]
        for row in table.rows
    ]
    return "\n".join(
        [
            r"\begin{table}",
            r"  \centering",
            rf"  \caption{{{_escaped(f'{table.title}. {table.note}'.strip())}}}",
            rf"  \begin{{tabular}}{{{sides}}}",
            r"    \toprule",
            _line(head),
            r"    \midrule",
            *map(_line, body),
            r"    \bottomrule",
            r"  \end{tabular}",
            r"\end{table}",
            "",
        ]
    )


def _line(cells: list[str]) -> str:
    return f"    {' & '.join(map(_escaped, cells))} \\\\"


def _escaped(text: str) -> str:
    return _TO_ESCAPE.sub(lambda found: _SPECIAL[found[0]], text)
