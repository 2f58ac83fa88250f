"""A table as a file: its numbers, a piece of a paper, or its chart."""

from collections.abc import Iterable, Mapping

from hits.exporters.tables import table_as_csv, table_as_latex
from hits.records import Table

TYPES: Mapping[str, str] = {
    "csv": "text/csv; charset=utf-8",
    "tex": "application/x-tex; charset=utf-8",
    "svg": "image/svg+xml",
    "pdf": "application/pdf",
    "png": "image/png",
}
FORMS: Mapping[str, str] = {
    "csv": "CSV",
    "tex": "LaTeX",
    "svg": "SVG",
    "pdf": "PDF",
    "png": "PNG",
}


def file_among(
    tables: Iterable[Table], slug: str, form: str, *, dark: bool = False
) -> bytes | None:
    """The table of this name; None where there is none with rows, or no such form of it."""
    found = next((table for table in tables if table.slug == slug and table.rows), None)
    return None if found is None else as_file(found, form, dark=dark)


def as_file(table: Table, form: str, *, dark: bool = False) -> bytes | None:
    """Its bytes; None where there is no such form of it."""
    if form == "csv":
        return "".join(table_as_csv(table)).encode()
    if form == "tex":
        return table_as_latex(table).encode()
    if table.chart is None:
        return None
    # matplotlib takes a second to import, and only who wants a figure should wait for it.
    from hits.exporters import figures

    match form:
        case "svg" | "pdf" | "png":
            return figures.draw(table, form, dark=dark)
    return None
