from collections.abc import Iterator

import pytest
from django.conf import LazySettings
from pytest_django.live_server_helper import LiveServer

from hits.marketplace.models import Requester
from tests.marketplace import world
from tests.marketplace.asking import Client, connected


@pytest.fixture
def market(live_server: LiveServer, settings: LazySettings) -> str:
    """The marketplace's address; the annotation app is on the same port at localhost."""
    port = live_server.thread.port
    settings.MARKETPLACE_HOST = f"127.0.0.1:{port}"
    return f"http://127.0.0.1:{port}"


@pytest.fixture
def owner(market: str) -> Requester:
    return world.requester()


@pytest.fixture
def client(market: str, owner: Requester) -> Iterator[Client]:
    made = connected(market, owner)
    yield made
    made.close()
