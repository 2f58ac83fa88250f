from collections.abc import Iterator
from copy import deepcopy

import pytest
from django.conf import LazySettings
from pytest_django import DjangoDbBlocker

from tests import balance
from tests.api import world as worlds
from tests.api.world import World
from tests.undoing import undone_at_the_end


@pytest.fixture(scope="module")
def _made_once(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[World]:
    with undone_at_the_end(django_db_blocker):
        yield worlds.make()


@pytest.fixture
def world(_made_once: World, db: None) -> World:
    return deepcopy(_made_once)


@pytest.fixture(scope="session")
def rich_marketplace() -> Iterator[str]:
    with balance.marketplace_with("10000.00") as address:
        yield address


@pytest.fixture(autouse=True)
def _a_channel(settings: LazySettings, rich_marketplace: str) -> None:
    """One marketplace, whose account can pay for what the requests of the matrix ask for."""
    settings.CHANNELS = balance.channels(rich_marketplace)
