"""A page as people look at it, on a phone by day and at a desk by night: what does not fit, and
what is in somebody's way."""

from collections.abc import Iterator
from typing import Literal

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Frame, Page

Scheme = Literal["light", "dark"]
SCREENS: tuple[tuple[int, Scheme], ...] = ((360, "light"), (1440, "dark"))
BETWEEN = 768


def violations(page: Page | Frame) -> list[str]:
    found = Axe().run(page).response["violations"]
    return [f"{each['id']}: {[node['html'] for node in each['nodes']]}" for each in found]


def overflow(page: Page | Frame) -> int:
    return max(0, int(page.evaluate("document.documentElement.scrollWidth - innerWidth")))


def screens(page: Page) -> Iterator[str]:
    """The page as it stands, on one screen after the other."""
    for width, scheme in SCREENS:
        page.set_viewport_size({"width": width, "height": 800})
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        yield f"{width} {scheme}"


def assert_accessible_and_fits(page: Page, name: str) -> None:
    page.set_viewport_size({"width": BETWEEN, "height": 800})
    assert (name, overflow(page)) == (name, 0)
    for screen in screens(page):
        assert (name, screen, overflow(page), violations(page)) == (name, screen, 0, [])
