"""Reading settings from the environment: what is missing or unsafe stops the start, by name."""

import os
import re
from collections.abc import Mapping, Sequence
from urllib.parse import urlsplit

from django.core.exceptions import ImproperlyConfigured

DEVELOPMENT_SECRET_KEY = "development-only-not-a-secret"  # noqa: S105
TRUE = {"1", "true", "yes", "on"}
FALSE = {"0", "false", "no", "off", ""}
MOST_DIGITS = 18
# What is known of marketplaces by their names; CHANNEL_<NAME>_… of the environment overrides it.
MARKETPLACES: Mapping[str, Mapping[str, str]] = {
    "production": {
        "url": "https://mturk-requester.us-east-1.amazonaws.com",
        "submit": "https://www.mturk.com",
        "frames": "https://worker.mturk.com,https://www.mturk.com",
        "masters": "2F1QJWKUDD8XADTFD2Q0G6UTO95ALH",
        "events": "sns.us-east-1.amazonaws.com",
    },
    "sandbox": {
        "url": "https://mturk-requester-sandbox.us-east-1.amazonaws.com",
        "submit": "https://workersandbox.mturk.com",
        "masters": "2ARFPLSP75KLA8M8DH1HTEQVJT3SY6",
        "events": "sns.us-east-1.amazonaws.com",
    },
    "local": {
        "url": "http://127.0.0.1:8001",
        "submit": "http://127.0.0.1:8001",
        "events": "127.0.0.1:8001",
    },
}

NEEDED: Mapping[str, Sequence[str]] = {"mturk": ("url", "submit", "access_key", "secret_key")}


class Environment:
    def __init__(self, values: Mapping[str, str] = os.environ) -> None:
        self.values = values
        self.is_production = self.text("ENVIRONMENT", "production") != "development"

    def text(self, name: str, default: str | None = None) -> str:
        value = self.values.get(name, default)
        if value is None:
            raise ImproperlyConfigured(f"Set the environment variable {name}.")
        return value

    def flag(self, name: str, default: bool = False) -> bool:
        value = self.values.get(name, "on" if default else "off").strip().lower()
        if value not in TRUE | FALSE:
            raise ImproperlyConfigured(f"{name} must be on or off, not {value!r}.")
        return value in TRUE

    def number(self, name: str, default: int) -> int:
        value = self.values.get(name, str(default)).strip()
        if not value.isdecimal() or len(value) > MOST_DIGITS:
            raise ImproperlyConfigured(f"{name} must be a whole number, not {value[:50]!r}.")
        return int(value)

    def names(self, name: str, default: str = "") -> list[str]:
        return [part.strip() for part in self.text(name, default).split(",") if part.strip()]

    def pairs(self, name: str) -> dict[str, str]:
        parts = [part.partition("=") for part in self.names(name)]
        if not all(key and value for key, _, value in parts):
            raise ImproperlyConfigured(f"{name} must be name=value, separated by commas.")
        return {key.strip(): value.strip() for key, _, value in parts}

    def debug(self) -> bool:
        debug = self.flag("DEBUG")
        if debug and self.is_production:
            raise ImproperlyConfigured("DEBUG must be off when ENVIRONMENT is production.")
        return debug

    def secret_key(self) -> str:
        if not self.is_production:
            return self.text("SECRET_KEY", DEVELOPMENT_SECRET_KEY)
        key = self.text("SECRET_KEY")
        if key == DEVELOPMENT_SECRET_KEY or len(key) < 32:
            raise ImproperlyConfigured(
                "SECRET_KEY must be a secret of at least 32 characters in production."
            )
        return key

    def allowed_hosts(self) -> list[str]:
        hosts = self.names("ALLOWED_HOSTS", "" if self.is_production else "127.0.0.1,localhost")
        if not hosts:
            raise ImproperlyConfigured("ALLOWED_HOSTS must name at least one host in production.")
        return hosts

    def database_url(self) -> str:
        url = self.text("DATABASE_URL")
        if not url.startswith(("postgresql://", "postgres://")):
            raise ImproperlyConfigured("DATABASE_URL must be postgresql://…, no other.")
        return _with_sound_port("DATABASE_URL", url)

    def redis_url(self) -> str:
        url = self.text("REDIS_URL")
        if not url.startswith(("redis://", "rediss://")):
            raise ImproperlyConfigured("REDIS_URL must be redis://… or rediss://…, no other.")
        return _with_sound_port("REDIS_URL", url)

    def site_url(self) -> str:
        url = self.text("SITE_URL", "http://127.0.0.1:8000").rstrip("/")
        if not re.fullmatch(r"https?://[^/?#\s]+", url):
            raise ImproperlyConfigured(
                f"SITE_URL must be https://host or http://host without a path, not {url!r}."
            )
        return _with_sound_port("SITE_URL", url)

    def channels(self) -> dict[str, dict[str, str]]:
        """The marketplaces that CHANNELS names, each with its settings."""
        return {name: self._channel(name) for name in self.names("CHANNELS")}

    def _channel(self, name: str) -> dict[str, str]:
        if not name.replace("_", "").isalnum() or not name.islower() or len(name) > 20:
            raise ImproperlyConfigured(
                f"CHANNELS: {name!r} must be small letters, digits and _, at most 20."
            )
        prefix = f"CHANNEL_{name.upper()}_"
        own = {
            key.removeprefix(prefix).lower(): value.strip()
            for key, value in self.values.items()
            if key.startswith(prefix) and value.strip()
        }
        found = {"kind": "mturk", "region": "us-east-1", **MARKETPLACES.get(name, {}), **own}
        for needed in NEEDED.get(found["kind"], ()):
            if needed not in found:
                raise ImproperlyConfigured(
                    f"Set the environment variable {prefix}{needed.upper()}."
                )
        return found


def _with_sound_port(name: str, url: str) -> str:
    """The address itself is not told: it may hold a password."""
    try:
        _ = urlsplit(url).port
    except ValueError:
        raise ImproperlyConfigured(
            f"{name}: a port must be a number, and signs in a password quoted for URLs."
        ) from None
    return url
