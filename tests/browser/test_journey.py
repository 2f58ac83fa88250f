"""The whole journey on the demo as a newcomer starts it: rater, reviewer, researcher.

With SCREENSHOTS set to a folder, what each of them sees is kept there.
"""

import json
import os
import re
from pathlib import Path

from eccv_caption import Metrics
from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests.browser.running_demo import Demo

STUDY = "photographs"


def keep(page: Page, name: str) -> None:
    if folder := os.environ.get("SCREENSHOTS"):
        page.screenshot(path=Path(folder) / f"{name}.png")


def reach(page: Page, text: str) -> None:
    """Move the focus with Tab alone until it is on what says this."""
    for _ in range(120):
        page.keyboard.press("Tab")
        focused = "document.activeElement.innerText || document.activeElement.value || ''"
        if text in str(page.evaluate(focused)):
            return
    raise AssertionError(f"{text!r} cannot be reached by Tab on {page.url}")


def log_in(context: BrowserContext, demo: Demo, role: str) -> Page:
    page = context.new_page()
    page.goto("/login/")
    page.locator("[name=username]").focus()
    page.keyboard.type(f"{role}@demo.example")
    page.keyboard.press("Tab")
    page.keyboard.type(demo.password)
    page.keyboard.press("Enter")
    page.wait_for_url(lambda url: "/login/" not in url)
    return page


def context_of(chromium: Browser, demo: Demo) -> BrowserContext:
    context = chromium.new_context(
        base_url=demo.url, viewport={"width": 1280, "height": 860}, accept_downloads=True
    )
    context.set_default_timeout(30_000)
    return context


def current(page: Page) -> int:
    return int(page.locator(".question.is-current").get_attribute("data-position") or 0)


def test_from_a_rater_to_a_dataset(chromium: Browser, demo: Demo, tmp_path: Path) -> None:
    rate_a_page(chromium, demo)
    review_it(chromium, demo)
    release_it(chromium, demo, tmp_path)


def rate_a_page(chromium: Browser, demo: Demo) -> None:
    """Consent and twenty answers by keyboard alone, the tab closed in the middle. Everything is
    called right, so the true negative is missed."""
    context = context_of(chromium, demo)
    page = log_in(context, demo, "rater")
    keep(page, "rater-home")
    reach(page, "Read the information")
    page.keyboard.press("Enter")
    page.wait_for_url("**/consent/")
    keep(page, "consent")
    reach(page, "I agree")
    page.keyboard.press("Enter")
    page.wait_for_url("**/work/**")
    page.keyboard.press("Escape")
    page.keyboard.press("2")
    page.keyboard.press("e")
    expect(page.locator("#q1 .part-c")).to_be_visible()
    page.keyboard.press(page.locator("#q1 [value=quantity]").get_attribute("data-key") or "")
    keep(page, "hit")
    page.keyboard.press("Enter")
    for number in range(2, 9):
        expect(page.locator(f"#q{number}")).to_be_visible()
        page.keyboard.press("1")
    expect(page.locator("#saved")).to_have_text(re.compile(r"Saved \d\d:\d\d"))
    page.wait_for_timeout(1500)
    page.close()

    page = context.new_page()
    page.goto("/")
    reach(page, "Go on")
    page.keyboard.press("Enter")
    page.wait_for_url("**/work/**")
    expect(page.locator("#q9")).to_be_visible()
    assert current(page) == 9
    assert page.locator("#q1 [value=partial_yes]").is_checked()
    for number in range(9, 21):
        expect(page.locator(f"#q{number}")).to_be_visible()
        page.keyboard.press("1")
    expect(page.locator("#submit")).to_be_focused()
    page.keyboard.press("Enter")
    page.wait_for_url("**/done/")
    keep(page, "submitted")
    context.close()


def review_it(chromium: Browser, demo: Demo) -> None:
    context = context_of(chromium, demo)
    page = log_in(context, demo, "reviewer")
    waiting = page.get_by_text(re.compile(r"golds? failed")).first
    for _ in range(90):
        page.goto(f"/review/{STUDY}/")
        if waiting.is_visible():
            break
        page.wait_for_timeout(1000)
    expect(waiting).to_be_visible()
    keep(page, "review")
    page.keyboard.press("d")
    expect(page.get_by_text(re.compile(r"\d+ units went out again"))).to_be_visible()
    keep(page, "reviewed")
    context.close()


def release_it(chromium: Browser, demo: Demo, tmp_path: Path) -> None:
    context = context_of(chromium, demo)
    page = log_in(context, demo, "researcher")
    page.goto("/research/studies/scenes-image-to-caption/")
    keep(page, "study")
    page.goto("/research/studies/scenes-image-to-caption/results/")
    keep(page, "results")
    page.goto("/research/studies/scenes-image-to-caption/releases/")
    page.get_by_label("Scenes: caption to image").check()
    page.get_by_role("button", name="Make the release").click()
    link = page.get_by_role("link", name="eccv_image_to_caption.json")
    for _ in range(120):
        page.goto("/research/studies/scenes-image-to-caption/releases/")
        if link.count():
            break
        page.wait_for_timeout(1000)
    keep(page, "release")
    files = []
    for name in ("eccv_image_to_caption.json", "eccv_caption_to_image.json"):
        with page.expect_download() as download:
            page.get_by_role("link", name=name).first.click()
        download.value.save_as(tmp_path / name)
        files.append(str(tmp_path / name))
        assert json.loads((tmp_path / name).read_text())
    metrics = Metrics()
    metrics.set_eccv_gts(*files)
    assert all(metrics.eccv_gts.values())
    context.close()
