import re
from pathlib import Path

import pytest
from django.conf import settings

TABLE = re.compile(r'<table class="table stacks".*?</table>', re.DOTALL)
FIGURE = re.compile(r'<td class="num[ "][^>]*>')
TEMPLATES = sorted((Path(settings.BASE_DIR) / "templates").rglob("*.html"))
STACKED = [path for path in TEMPLATES if TABLE.search(path.read_text())]


def tables_of(path: Path) -> list[str]:
    """Those with a head; a table without one names its figures at the beginning of each row."""
    return [table for table in TABLE.findall(path.read_text()) if "<thead" in table]


@pytest.mark.parametrize("path", STACKED, ids=lambda path: path.stem)
def test_a_figure_is_named_where_its_column_has_no_head_to_be_seen(path: Path) -> None:
    """On a phone the head of such a table is hidden, and a row is a list of its cells."""
    cells = [cell for table in tables_of(path) for cell in FIGURE.findall(table)]
    assert [cell for cell in cells if "data-label=" not in cell] == []
