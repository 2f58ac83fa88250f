import os
from collections.abc import Iterator

import hypothesis
import pytest
from django.conf import LazySettings
from django.conf import settings as django_settings
from django.core.cache import cache
from django.test import TransactionTestCase, override_settings
from pytest_django.live_server_helper import LiveServer

from hits.marketplace.models import Requester
from tests import live, selling
from tests.emptying import empty_the_database
from tests.marketplace import world

# A crowded machine is slow, not wrong.
hypothesis.settings.register_profile("patient", deadline=None)
hypothesis.settings.load_profile("patient")

# What takes long begins first, so that no process is left alone with it at the end.
LONGEST = (
    "tests/launcher/test_demo.py",
    "tests/faults/test_marketplace_faults.py",
    "tests/browser/test_journeys.py",
    "tests/browser/",
    "tests/faults/",
    "tests/api/test_permission_matrix.py",
    "tests/concurrency/",
)

LOCAL = {
    "kind": "mturk",
    "region": "us-east-1",
    "url": "http://market.example",
    "submit": "http://market.example",
    "access_key": "KEY",
    "secret_key": "SECRET",
}


def pytest_xdist_auto_num_workers() -> int:
    """One more than there are cores: somebody always waits for a browser or a server."""
    return (os.cpu_count() or 1) + 1


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: _place(item.nodeid))


def _place(name: str) -> int:
    places = (place for place, start in enumerate(LONGEST) if name.startswith(start))
    return next(places, len(LONGEST))


@pytest.fixture(autouse=True, scope="session")
def _settings_of_tests() -> Iterator[None]:
    """Pages are rendered without collectstatic's manifest, and no client scans for files."""
    plain = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    with override_settings(
        WHITENOISE_AUTOREFRESH=True,
        STORAGES=django_settings.STORAGES | {"staticfiles": plain},
        CHANNELS={"local": LOCAL},
        PASSWORD_HASHERS=["django.contrib.auth.hashers.MD5PasswordHasher"],
    ):
        yield


@pytest.fixture(autouse=True)
def _empty_cache() -> Iterator[None]:
    yield
    cache.clear()


@pytest.fixture(autouse=True, scope="session")
def _rows_are_deleted_after_a_test_that_commits() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TransactionTestCase, "_fixture_teardown", lambda _: empty_the_database())
        yield


@pytest.fixture(scope="session")
def live_server() -> Iterator[LiveServer]:
    server = live.started("localhost")
    yield server
    server.stop()


@pytest.fixture(autouse=True)
def _no_request_outlives_its_test(request: pytest.FixtureRequest) -> Iterator[None]:
    """Before the database is emptied, so that nobody waits for anybody there."""
    yield
    if "live_server" in request.fixturenames:
        request.getfixturevalue("live_server").thread.httpd.hang_up()


@pytest.fixture
def market(live_server: LiveServer, settings: LazySettings) -> str:
    """The marketplace's address; the annotation app is on the same port at localhost."""
    port = live_server.thread.port
    settings.MARKETPLACE_HOST = f"127.0.0.1:{port}"
    settings.MARKETPLACE_FAULTS = True
    return f"http://127.0.0.1:{port}"


@pytest.fixture
def requester(market: str, settings: LazySettings) -> Requester:
    """Our account at the marketplace, which is configured as the channel "local". Its key is
    always the same, so that a channel, which takes long to open, is opened once."""
    made = world.requester(access_key="AKIAREQUESTEROFALLTESTS")
    settings.CHANNELS = {"local": selling.channel_values(market, made)}
    settings.PAY_AFTER_SECONDS = 0
    return made
