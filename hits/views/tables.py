"""Tables on a page, and each as a file."""

from datetime import datetime
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse

from hits.exporters.figure_size import pixels_of
from hits.exporters.files import FORMS, TYPES, file_among
from hits.exporters.tables import as_read
from hits.records import Cell, Column, Table

Lines = list[list[tuple[Column, Cell, str]]]


def table_context(tables: list[Table], at: datetime) -> dict[str, Any]:
    """Figures in the page are named by when they were computed, so that browsers may keep them."""
    return {
        "tables": [(table, lines_of(table), pixels_of(table)) for table in tables],
        "forms": FORMS.items(),
        "drawn_of": f"{at:%Y%m%d%H%M%S%f}",
    }


def lines_of(table: Table) -> Lines:
    """Each cell with its column and as people read it."""
    return [
        [
            (column, "" if cell is None else cell, as_read(column, cell))
            for column, cell in zip(table.columns, row, strict=True)
        ]
        for row in table.rows
    ]


def file_of(
    request: HttpRequest, tables: list[Table], slug: str, form: str, stem: str
) -> HttpResponse:
    """A table of these as a file. On a page a figure is shown, in the page's own light."""
    made = file_among(tables, slug, form, dark="dark" in request.GET)
    if made is None:
        raise Http404("There is no such table or figure.")
    response = HttpResponse(made, content_type=TYPES[form])
    shown = "inline" if "shown" in request.GET else "attachment"
    response.headers["Content-Disposition"] = f'{shown}; filename="{stem}-{slug}.{form}"'
    if "shown" in request.GET:
        response.headers["Cache-Control"] = "private, max-age=86400"
    return response
