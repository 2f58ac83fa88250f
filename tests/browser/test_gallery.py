"""The gallery of forms, in a real browser.

With SCREENSHOTS set to a folder, forms that the documentation shows are kept there; with
THUMBNAILS, small pictures of all forms, which stand in the gallery.
"""

import os
from io import BytesIO
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from PIL import Image
from playwright.sync_api import Page, expect

from hits.models import Judgment
from hits.protocol import registry
from tests import making
from tests.browser.conftest import Visitor
from tests.browser.keyboard import press

pytestmark = pytest.mark.django_db(transaction=True)
SHOWN = ["sis", "preference", "prominence", "renovation", "bison_captions", "detectors"]


def opened(visitor: Visitor, path: str, width: int = 1440, height: int = 900) -> Page:
    page: Page = visitor(making.user(is_researcher=True), width, height).new_page()
    page.goto(path)
    return page


@pytest.mark.parametrize("width", [360, 1440])
def test_a_form_is_found_tried_by_keyboard_and_says_what_would_be_stored(
    visitor: Visitor, width: int
) -> None:
    page = opened(visitor, "/research/forms/", width)
    assert Axe().run(page).violations_count == 0
    page.get_by_role("link", name="Image-text matching").click()
    expect(page.locator("#saved")).to_contain_text("To try out")
    assert Axe().run(page).violations_count == 0
    press(page, "1")
    expect(page.locator("#q2")).to_be_visible()
    press(page, "4")
    page.locator("#submit").click()
    expect(page.get_by_text('{"choice": "yes"}')).to_be_visible()
    assert Axe().run(page).violations_count == 0
    assert not Judgment.objects.exists()


@pytest.mark.skipif("SCREENSHOTS" not in os.environ, reason="only keeps pictures")
@pytest.mark.parametrize("slug", SHOWN)
def test_pictures_of_forms_are_kept(visitor: Visitor, slug: str) -> None:
    page = opened(visitor, f"/research/forms/{slug}/", 1200, 750)
    page.wait_for_load_state("networkidle")
    page.screenshot(path=Path(os.environ["SCREENSHOTS"]) / f"form-{slug}.png")


@pytest.mark.skipif("THUMBNAILS" not in os.environ, reason="only keeps pictures")
@pytest.mark.parametrize("slug", sorted(registry()))
def test_small_pictures_of_forms_are_kept(visitor: Visitor, slug: str) -> None:
    page = opened(visitor, f"/research/forms/{slug}/", 1200, 750)
    page.wait_for_load_state("networkidle")
    with Image.open(BytesIO(page.screenshot())) as picture:
        small = picture.convert("RGB").resize((640, 400), Image.Resampling.LANCZOS)
    small.save(Path(os.environ["THUMBNAILS"]) / f"{slug}.webp", quality=80)
