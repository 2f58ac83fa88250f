import pytest
from django.conf import LazySettings

from tests.marketplace.site import world


@pytest.fixture(autouse=True)
def _own_host(settings: LazySettings) -> None:
    settings.MARKETPLACE_HOST = world.HOST
