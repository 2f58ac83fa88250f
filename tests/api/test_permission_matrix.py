"""Nobody gets past what the matrix says, and no route is missing from it."""

from typing import Any

import pytest
from django.db import transaction

from tests.api.matrix import Row, rows
from tests.api.requests_for import Asked, answer_to, asked
from tests.api.routes import Route, all_routes
from tests.api.world import PEOPLE, World
from tests.framed import refuses_to_be_framed

pytestmark = pytest.mark.django_db

OF_WORKERS = "hit/"
SOMEBODY = ["rater", "reviewer", "researcher", "admin"]


def _answer(world: World, name: str, request: Asked, method: str) -> Any:
    """With what was changed undone."""
    with transaction.atomic():
        response = answer_to(world, name, request, method)
        transaction.set_rollback(True)
    return response


def _outcome(response: Any) -> str:
    to_login = response.get("Location", "").startswith(("/login/", "/admin/login/"))
    return "log" if to_login else str(response.status_code)


def _checks() -> list[tuple[str, Row, list[str]]]:
    """Every route with its row, asked by everybody; of the admin site's models only the first
    by everybody, since all others differ for admins alone."""
    found = []
    for row in rows():
        paths = sorted({route.path for route in all_routes() if row.is_of(route.path)})
        found += [(path, row, PEOPLE if path == paths[0] else ["admin"]) for path in paths]
    return found


def test_everybody_gets_the_status_that_the_matrix_says_and_nothing_to_be_framed(
    world: World,
) -> None:
    world.log_in()
    wrong = []
    for path, row, people in _checks():
        request = asked(world, path, row.method)
        for name in people:
            response = _answer(world, name, request, row.method)
            outcome, expected = _outcome(response), row.expected[name]
            what = f"{row.method} /{path} as {name}"
            if outcome != expected:
                wrong.append(f"{what}: {outcome}, not {expected}")
            if not path.startswith(OF_WORKERS) and not refuses_to_be_framed(response):
                wrong.append(f"{what}: may be framed")
    assert not wrong, "\n" + "\n".join(wrong)


def _does_something(world: World, route: Route, method: str) -> bool:
    request = asked(world, route, method)
    outcomes = {_outcome(_answer(world, name, request, method)) for name in SOMEBODY}
    return bool(outcomes - {"403", "404", "405"})


def test_every_route_and_method_has_its_row(world: World) -> None:
    world.log_in()
    there = rows()
    missing = [
        f"{route.path} {method}"
        for route in all_routes()
        for method in route.methods
        if not any(row.method == method and row.is_of(route.path) for row in there)
        and (route.is_api or _does_something(world, route, method))
    ]
    assert not missing, "\n" + "\n".join(missing)


def test_every_route_has_a_row_at_all() -> None:
    there = rows()
    assert not [
        route.path for route in all_routes() if not any(row.is_of(route.path) for row in there)
    ]


def test_every_row_is_of_a_route() -> None:
    paths = [route.path for route in all_routes()]
    assert not [row.route for row in rows() if not any(map(row.is_of, paths))]


def test_no_row_is_there_twice() -> None:
    keys = [(row.route, row.method) for row in rows()]
    assert len(keys) == len(set(keys))
