from collections.abc import Iterator

import pytest
from django.conf import LazySettings
from django.core.cache import cache

LOCAL = {
    "kind": "mturk",
    "region": "us-east-1",
    "url": "http://market.example",
    "submit": "http://market.example",
    "access_key": "KEY",
    "secret_key": "SECRET",
}


@pytest.fixture(autouse=True)
def _plain_static_files(settings: LazySettings) -> None:
    """Tests render pages without collectstatic's manifest, and no client scans for files."""
    settings.WHITENOISE_AUTOREFRESH = True
    settings.STORAGES = settings.STORAGES | {
        "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
    }


@pytest.fixture(autouse=True)
def _a_marketplace(settings: LazySettings) -> None:
    settings.CHANNELS = {"local": LOCAL}


@pytest.fixture(autouse=True)
def _fast_passwords(settings: LazySettings) -> None:
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


@pytest.fixture(autouse=True)
def _empty_cache() -> Iterator[None]:
    yield
    cache.clear()
