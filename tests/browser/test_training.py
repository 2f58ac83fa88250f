"""Training failed, tried again and passed, then the first page: on a phone and on a wide screen.

With SCREENSHOTS set to a folder, what the rater and the researcher see is kept there.
"""

import os
from pathlib import Path
from urllib.parse import urlencode

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from hits.models import Assignment, Membership, Role, Slot, Study
from tests import making
from tests.browser.conftest import Visitor
from tests.browser.keyboard import press
from tests.framed import Worker

pytestmark = pytest.mark.django_db(transaction=True)

SCREENS = pytest.mark.parametrize(("width", "scheme"), [(360, "light"), (1440, "dark")])
KEYS = {True: "1", False: "4"}


@pytest.fixture
def study() -> Study:
    made = making.study(
        making.corpus(images=14),
        settings={"candidates_a_page": 4, "justification": False},
        pay="0.65",
        expected_minutes=4,
        training_units=3,
        training_accuracy=100,
        most_units_a_day=4,
    )
    why = "The colour of the image is the one that the text names."
    making.explain_golds(made, lambda unit: why)
    made.corpus.captions.update(text=f"A {'seagreen' * 20} image.")
    return made


def look_at(page: Page, name: str) -> None:
    """It fits, axe is content, and it is kept to be looked at."""
    wide = "document.documentElement.scrollWidth > document.documentElement.clientWidth"
    assert (name, page.evaluate(wide)) == (name, False)
    found = Axe().run(page).response["violations"]
    assert (name, [each["id"] for each in found]) == (name, [])
    if folder := os.environ.get("SCREENSHOTS"):
        width = page.viewport_size["width"] if page.viewport_size else 0
        page.screenshot(path=Path(folder) / f"{name}-{width}.png", full_page=True)


def answer_by_keyboard(page: Page, *, well: bool) -> None:
    """Each question by its key; well or the other way round, units with a yes."""
    key = page.url.split("/work/")[1].split("/")[0]
    slots = Slot.objects.filter(assignment__key=key).order_by("position")
    for position, gold in slots.values_list("position", "unit__gold"):
        expect(page.locator(f"#q{position}")).to_be_visible()
        press(page, KEYS[gold is None or gold["positive"] == well])
    expect(page.locator("#submit")).to_be_focused()
    page.keyboard.press("Enter")
    page.wait_for_url("**/done/")


@SCREENS
def test_training_is_failed_tried_again_and_passed(
    visitor: Visitor, study: Study, width: int, scheme: str
) -> None:
    user = making.user("newcomer")
    Membership.objects.create(study=study, user=user, role=Role.RATER)
    page = visitor(user, width=width, color_scheme=scheme).new_page()
    page.goto(f"/studies/{study.slug}/consent/")
    expect(page.get_by_text("First comes a training page of 3 questions")).to_be_visible()
    look_at(page, "training-consent")
    page.get_by_role("button", name="I agree").click()
    page.wait_for_url("**/work/**")
    expect(page.get_by_text("This page is training.")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator(".hit-head .tag")).to_have_text("Training")
    look_at(page, "training-page")

    answer_by_keyboard(page, well=False)
    expect(page.get_by_text("0 of 3 answers were right; 3 have to be.")).to_be_visible()
    expect(page.locator(".feedback > li")).to_have_count(3)
    expect(page.get_by_text("The colour of the image is the one").first).to_be_visible()
    look_at(page, "training-failed")
    page.get_by_role("button", name="Try again").click()
    page.wait_for_url(lambda url: "/done/" not in url)

    answer_by_keyboard(page, well=True)
    expect(page.get_by_text("You qualified.")).to_be_visible()
    look_at(page, "training-passed")
    page.keyboard.press("Enter")
    page.wait_for_url(lambda url: "/done/" not in url)

    expect(page.locator(".question")).to_have_count(6)
    expect(page.locator(".hit-head .tag")).to_have_count(0)
    answer_by_keyboard(page, well=True)
    expect(page.get_by_text("You can go on from 00:00 UTC")).to_be_visible()
    look_at(page, "limit-done")
    page.goto("/")
    look_at(page, "limit-home")
    page.goto("/work/")
    look_at(page, "training-own-work")
    assert Assignment.objects.filter(is_training=True, state="submitted").count() == 2


@SCREENS
def test_a_worker_reads_what_was_right_before_handing_over(
    visitor: Visitor, study: Study, width: int, scheme: str
) -> None:
    worker = Worker(making.offered(study)).accept()
    worker.fetch("submit", **making.answers(3))
    page = visitor(width=width, color_scheme=scheme).new_page()
    page.goto(f"{worker.path}?{urlencode(worker.query)}")
    expect(page.locator(".feedback > li")).to_have_count(3)
    expect(page.get_by_role("button", name="Hand over")).to_be_visible()
    look_at(page, "training-worker")


@SCREENS
def test_the_researcher_s_pages_about_it_fit(
    visitor: Visitor, study: Study, width: int, scheme: str
) -> None:
    for _ in range(2):
        making.work(study, making.rater(study))
    making.rater(study)
    page = visitor(study.corpus.owner, width=width, color_scheme=scheme).new_page()
    page.goto(f"/research/studies/{study.slug}/people/")
    look_at(page, "training-people")
    page.get_by_role("button", name="Let in").click()
    expect(page.get_by_text("can go on without more training")).to_be_visible()
    page.goto(f"/research/studies/{study.slug}/settings/")
    expect(page.get_by_role("heading", name="Limits and training")).to_be_visible()
    look_at(page, "training-settings")
