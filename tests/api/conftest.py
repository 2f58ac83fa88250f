from collections.abc import Iterator

import pytest
from django.conf import LazySettings

from tests import balance


@pytest.fixture(scope="session")
def rich_marketplace() -> Iterator[str]:
    with balance.marketplace_with("10000.00") as address:
        yield address


@pytest.fixture(autouse=True)
def _a_channel(settings: LazySettings, rich_marketplace: str) -> None:
    """One marketplace, whose account can pay for what the requests of the matrix ask for."""
    settings.CHANNELS = balance.channels(rich_marketplace)
