"""Who may frame a worker's routes, and that no cookie goes over them. That all others refuse to be
framed is seen where everybody asks for them, by the permission matrix."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.conf import LazySettings
from django.db import transaction
from django.test import Client

from hits.models import Study, User
from tests import making
from tests.api import world as worlds
from tests.api.requests_for import answer_to, asked
from tests.api.routes import Route, all_routes
from tests.api.world import World
from tests.framed import Worker, directive, refuses_to_be_framed

pytestmark = pytest.mark.django_db

ANYBODY = ["anonymous", "admin", "researcher", "rater"]
MARKETS = {
    "local": {"submit": "http://market.example"},
    "production": {
        "submit": "https://submit.example",
        "frames": "https://worker.example,https://other.example",
    },
}


@pytest.fixture(autouse=True)
def _marketplaces(settings: LazySettings) -> None:
    plain = settings.CHANNELS["local"]
    settings.CHANNELS = {name: plain | values for name, values in MARKETS.items()}


def is_framed(route: Route) -> bool:
    return route.path.startswith("hit/")


def answers(world: World) -> Iterator[tuple[str, Any]]:
    """What people get from every route of a worker, with what it changed undone."""
    for route in filter(is_framed, all_routes()):
        for method in route.methods:
            request = asked(world, route, method)
            for name in ANYBODY:
                with transaction.atomic():
                    response = answer_to(world, name, request, method)
                    transaction.set_rollback(True)
                yield f"{method} /{route.path} as {name}", response


def test_a_workers_routes_may_be_framed_by_the_configured_marketplaces_alone() -> None:
    world = worlds.make()
    world.log_in()
    frames = {"http://market.example", "https://worker.example", "https://other.example"}
    seen = 0
    for what, response in answers(world):
        seen += 1
        assert set(directive(response, "frame-ancestors")) == frames, what
        posts_to = {"'self'", "https://submit.example", *frames}
        assert set(directive(response, "form-action")) == posts_to, what
        assert "X-Frame-Options" not in response, what
    assert seen > 40


def test_without_a_marketplace_nothing_may_be_framed(settings: LazySettings) -> None:
    settings.CHANNELS = {}
    response = Client().get("/hit/x/")
    assert refuses_to_be_framed(response)


def test_no_cookie_leaves_a_workers_route_and_none_makes_a_difference() -> None:
    world = worlds.make()
    world.log_in()
    got: dict[str, list[Any]] = {}
    for what, response in answers(world):
        assert not response.cookies, what
        assert "cookie" not in response.get("Vary", "").lower(), what
        got.setdefault(what.partition(" as ")[0], []).append(response)
    assert len(got) > 10
    for what, responses in got.items():
        assert len({response.status_code for response in responses}) == 1, what


@pytest.fixture
def study() -> Study:
    return making.study(making.corpus(images=15), settings={"candidates_a_page": 4})


def client_with_cookies(user: User) -> Client:
    client = Client(enforce_csrf_checks=True)
    client.force_login(user)
    client.cookies["csrftoken"] = "not a token"
    client.cookies["messages"] = "nonsense"
    return client


def test_a_whole_page_is_done_with_cookies_as_without_them(study: Study) -> None:
    plain = Worker(making.offered(study))
    laden = Worker(
        making.offered(study), "WORKER2", "ASSIGNMENT2", client_with_cookies(making.user())
    )
    for worker in [plain, laden]:
        before = dict(worker.client.cookies)
        token = worker.accept().token()
        steps = [
            worker.preview(),
            worker.open(),
            worker.fetch("save", token, revision="0", **{"q1-choice": "yes"}),
            worker.do(),
            worker.open(),
            worker.fetch("handed-over", token),
        ]
        assert [step.status_code for step in steps] == [200, 200, 200, 200, 200, 204]
        for step in steps:
            assert not step.cookies
            assert "Vary" not in step
        assert dict(worker.client.cookies) == before
        assert worker.claim.account.user is None


def test_a_login_shows_nothing_of_itself_in_the_frame(study: Study) -> None:
    user = making.user(first_name="Planted")
    worker = Worker(making.offered(study), client=client_with_cookies(user))
    for page in [worker.preview(), worker.open(), worker.accept().open()]:
        assert "Planted" not in page.content.decode()
        assert "Log out" not in page.content.decode()
