"""Preference between systems, in a real browser."""

from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from hits.models import Account, Assignment, Judgment, Slot
from hits.pipeline.draw import draw
from tests import making
from tests.browser.conftest import Visitor
from tests.browser.keyboard import press
from tests.protocols.cases.surveys import study_of_preference

pytestmark = pytest.mark.django_db(transaction=True)
QUESTIONS = 4


@pytest.fixture
def account() -> Account:
    study = study_of_preference(making.corpus(images=12), units_a_page=QUESTIONS - 1)
    return making.rater(study)


@pytest.fixture
def assignment(account: Account) -> Assignment:
    return draw(study=account.person.participations.get().study, account=account)


def opened(visitor: Visitor, account: Account, assignment: Assignment, *size: int) -> Page:
    page: Page = visitor(account.user, *size).new_page()
    page.goto(f"/work/{assignment.key}/")
    press(page, "Escape")
    return page


@pytest.mark.parametrize("size", [(360, 740), (1440, 900)])
def test_a_whole_page_is_done_by_keyboard_alone(
    visitor: Visitor, account: Account, assignment: Assignment, size: tuple[int, int]
) -> None:
    page = opened(visitor, account, assignment, *size)
    assert Axe().run(page).violations_count == 0
    expect(page.locator("#q1 .choice").last).to_be_in_viewport()
    press(page, "2")
    expect(page.locator("#q2")).to_be_visible()
    press(page, "u")
    expect(page.locator("#q1 input:checked")).to_have_count(0)
    for position in range(1, QUESTIONS + 1):
        expect(page.locator(f"#q{position}")).to_be_visible()
        press(page, "1")
    expect(page.locator("#submit")).to_be_focused()
    press(page, "Enter")
    page.wait_for_url("**/done/")
    said = dict(Judgment.objects.values_list("slot__position", "answer"))
    shown: dict[int, Any] = dict(Slot.objects.values_list("position", "shown"))
    assert said == {position: {"chosen": sides["left"]} for position, sides in shown.items()}


@pytest.mark.deep
@pytest.mark.parametrize("width", [360, 1440])
def test_images_of_the_same_place_are_enlarged_together_and_say_which_they_are(
    visitor: Visitor, account: Account, assignment: Assignment, width: int
) -> None:
    page = opened(visitor, account, assignment, width, 740)
    images, names = page.locator("#large img"), page.locator("#large figcaption")
    for place in range(1, 6):
        press(page, "z")
        expect(names).to_have_text([f"First, {place} of 5", f"Second, {place} of 5"])
        assert [image.get_attribute("alt") for image in images.all()] == names.all_inner_texts()
    assert Axe().run(page).violations_count == 0
    press(page, "Escape")
    expect(page.locator("#large")).to_be_hidden()
    page.locator("#q1 .ranking img").nth(6).click()
    expect(names.last).to_have_text("Second, 2 of 5")
    one, other = (image.bounding_box() for image in images.all())
    assert one
    assert other
    assert one["width"] == other["width"] >= min(width, 700)


@pytest.mark.deep
@pytest.mark.parametrize("width", [360, 768, 1440])
def test_both_lists_have_the_same_space(
    visitor: Visitor, account: Account, assignment: Assignment, width: int
) -> None:
    page = opened(visitor, account, assignment, width, 900)
    first, second = (page.locator("#q1 .side").nth(place).bounding_box() for place in (0, 1))
    assert first
    assert second
    assert (first["width"], first["height"]) == (second["width"], second["height"])
    assert page.evaluate("document.documentElement.scrollWidth") <= width
