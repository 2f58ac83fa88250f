"""Reading settings from the environment: what is missing or unsafe stops the start, by name."""

import os
from collections.abc import Mapping

from django.core.exceptions import ImproperlyConfigured

DEVELOPMENT_SECRET_KEY = "development-only-not-a-secret"  # noqa: S105
TRUE = {"1", "true", "yes", "on"}
FALSE = {"0", "false", "no", "off", ""}


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
        value = self.values.get(name, str(default))
        try:
            return int(value)
        except ValueError:
            raise ImproperlyConfigured(f"{name} must be a whole number, not {value!r}.") from None

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
