import os
import shutil
from collections.abc import Callable, Iterator

import pytest
from django.conf import settings as django_settings
from django.db import connections
from django.test import Client
from playwright.sync_api import Browser, BrowserContext, Playwright, expect, sync_playwright
from pytest_django.live_server_helper import LiveServer

from hits.models import User
from tests.browser.running_demo import Demo, running_demo

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]

# Playwright keeps an event loop in this thread, which Django takes for asynchronous code.
os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"

# A crowded machine is slow, not wrong.
expect.set_options(timeout=60_000)

Visitor = Callable[..., BrowserContext]


def chromium_path() -> str:
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    assert path is not None, "Browser tests need Chromium: apt-get install chromium"
    return path


@pytest.fixture(scope="session")
def playwright_started() -> Iterator[Playwright]:
    """While its event loop is there, this thread has other connections than before and after."""
    connections.close_all()
    with sync_playwright() as playwright:
        yield playwright
        connections.close_all()


@pytest.fixture(scope="session")
def chromium(playwright_started: Playwright) -> Iterator[Browser]:
    browser = playwright_started.chromium.launch(executable_path=chromium_path(), args=ARGUMENTS)
    yield browser
    browser.close()


@pytest.fixture
def visitor(chromium: Browser, live_server: LiveServer) -> Iterator[Visitor]:
    """Opens a browser context of its own, logged in as a user where one is given."""
    opened: list[BrowserContext] = []

    def visit(user: User | None = None, width: int = 1280, height: int = 800, **options: object):  # type: ignore[no-untyped-def]
        context = chromium.new_context(
            base_url=live_server.url,
            viewport={"width": width, "height": height},
            **options,  # type: ignore[arg-type]
        )
        context.set_default_timeout(60_000)
        opened.append(context)
        if user is not None:
            context.add_cookies([session_cookie(user, live_server.url)])  # type: ignore[list-item]
        return context

    yield visit
    for context in opened:
        context.close()


def session_cookie(user: User, url: str) -> dict[str, str]:
    client = Client()
    client.force_login(user)
    name = django_settings.SESSION_COOKIE_NAME
    return {"name": name, "value": client.cookies[name].value, "url": url}


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Demo]:
    with running_demo(tmp_path_factory.mktemp("demo") / "var") as started:
        yield started
