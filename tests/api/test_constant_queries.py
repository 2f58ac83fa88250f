"""Every page and every endpoint takes as many statements for a thousand rows as for ten."""

from typing import Any

import pytest
from django.core.cache import cache
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from tests.api.growing import Grown
from tests.api.matrix import rows
from tests.api.requests_for import answer_to, asked
from tests.api.routes import all_routes
from tests.api.world import World

pytestmark = pytest.mark.django_db

WHO_SEES_MOST = ("researcher", "rater", "reviewer", "admin", "anonymous")
FEW, MANY = 10, 1_000


def everything_that_is_read() -> list[tuple[str, str]]:
    """Every route that answers a GET, with who sees most there."""
    found = []
    for row in rows():
        seers = [name for name in WHO_SEES_MOST if row.expected[name] == "200"]
        if row.method == "GET" and seers and not _is_one_row_of_the_admin_site(row.route):
            found += [(route.path, seers[0]) for route in all_routes() if row.is_of(route.path)]
    return found


def _is_one_row_of_the_admin_site(route: str) -> bool:
    return route.startswith("admin/") and "<path:object_id>" in route


def statements(world: World, path: str, name: str) -> int:
    """As if nothing were kept from before, with what it changed undone."""
    request = asked(world, path, "GET")
    cache.clear()
    with transaction.atomic():
        with CaptureQueriesContext(connection) as queries:
            response: Any = answer_to(world, name, request, "GET")
            if response.streaming:
                b"".join(response.streaming_content)
        transaction.set_rollback(True)
    assert response.status_code == 200, (path, name, response.status_code)
    return len(queries)


def test_every_page_and_endpoint_takes_as_many_statements_for_a_thousand_rows_as_for_ten(
    world: World,
) -> None:
    world.log_in()
    read = everything_that_is_read()
    assert len(read) > 100
    Grown(world, FEW)
    # What a connection or a process prepares at its first use is not counted.
    for path, name in read:
        statements(world, path, name)
    few = {path: statements(world, path, name) for path, name in read}
    Grown(world, MANY)
    many = {path: statements(world, path, name) for path, name in read}
    assert many == few
