"""Every route of the project, read from its URL configuration."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from django.urls import URLPattern, URLResolver, get_resolver
from django.urls.resolvers import RegexPattern

PARAMETER = re.compile(r"<(?:(\w+):)?(\w+)>")
GROUP = re.compile(r"\(\?P<(\w+)>[^)]*\)")
METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"]


@dataclass(frozen=True)
class Route:
    path: str
    view: Callable[..., Any]

    @property
    def is_api(self) -> bool:
        return hasattr(self.view, "cls")

    @property
    def methods(self) -> list[str]:
        """Those that an API view has; a page does not tell its own."""
        if not self.is_api:
            return ["GET", "POST"]
        view = self.view.cls  # type: ignore[attr-defined]
        return [name for name in METHODS if hasattr(view, name.lower())]


def all_routes() -> list[Route]:
    return list(_below(get_resolver().url_patterns, ""))


def _below(patterns: Any, prefix: str) -> Iterator[Route]:
    for pattern in patterns:
        path = prefix + _plain(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from _below(pattern.url_patterns, path)
        elif isinstance(pattern, URLPattern):
            yield Route(path, pattern.callback)


def _plain(pattern: Any) -> str:
    text = str(pattern)
    if isinstance(pattern, RegexPattern):
        text = GROUP.sub(r"<\1>", text).strip("^$").replace(r"\Z", "")
    return text
