"""The surveys of object importance, in a real browser."""

from collections.abc import Callable
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from hits.models import Account, Assignment, Judgment, Slot, Study
from hits.pipeline.draw import draw
from tests import making
from tests.browser.conftest import Visitor
from tests.browser.keyboard import press
from tests.protocols.cases.surveys import (
    study_of_detectors,
    study_of_prominence,
    study_of_relevance,
)

pytestmark = pytest.mark.django_db(transaction=True)
SIZES = pytest.mark.parametrize("size", [(360, 740), (1440, 900)])


def opened(
    visitor: Visitor, study: Study, size: tuple[int, int], **options: object
) -> tuple[Page, Assignment]:
    account: Account = making.rater(study)
    assignment = draw(study=study, account=account)
    page: Page = visitor(account.user, *size, **options).new_page()
    page.goto(f"/work/{assignment.key}/")
    return page, assignment


def submit_by_key(page: Page) -> None:
    expect(page.locator("#submit")).to_be_focused()
    press(page, "Enter")
    page.wait_for_url("**/done/")


ALL_IN_SIGHT = """question => {
  const box = (element) => element.getBoundingClientRect();
  const top = box(question.querySelector(".plain-and-boxed")).bottom;
  const bar = box(document.querySelector(".hit-bar")).top;
  const choices = [...question.querySelectorAll(".rating .choice")];
  const beside = innerWidth >= 1024;
  return choices.length === 15 && choices.every((choice) =>
    (beside || box(choice).top >= top) && box(choice).bottom <= bar && box(choice).height >= 44 &&
    choice.scrollWidth <= choice.clientWidth);
}"""


def all_ratings_are_in_sight(page: Page) -> bool:
    return bool(page.locator("#q1").evaluate(ALL_IN_SIGHT))


def by_letter(position: int, ratings: str) -> dict[str, int]:
    shown = Slot.objects.get(position=position).shown
    assert shown is not None
    return {shown[letter]: int(each) for letter, each in zip("ABCDE", ratings, strict=True)}


@SIZES
def test_prominence_is_rated_by_keyboard_alone(visitor: Visitor, size: tuple[int, int]) -> None:
    study = study_of_prominence(making.corpus(images=6), units_a_page=1)
    page, _ = opened(visitor, study, size)
    assert Axe().run(page).violations_count == 0
    assert all_ratings_are_in_sight(page)
    press(page, "3", "2", "1", "u", "2")
    expect(page.locator("#q1 input:checked")).to_have_count(3)
    press(page, "1", "3", "Enter")
    expect(page.locator("#q2")).to_be_visible()
    press(page, "1", "1", "1", "1", "Enter")
    expect(page.locator("#q2 .error")).to_have_count(1)
    press(page, "2", "Enter")
    submit_by_key(page)
    answers = dict(Judgment.objects.values_list("slot__position", "answer"))
    assert answers == {
        1: {"ratings": by_letter(1, "32213")},
        2: {"ratings": by_letter(2, "11112")},
    }


@SIZES
def test_objects_are_shown_when_the_caption_is_finished_and_it_stays_then(
    visitor: Visitor, size: tuple[int, int]
) -> None:
    study = study_of_relevance(making.corpus(images=6), units_a_page=1, golds_a_page=0)
    page, _ = opened(visitor, study, size)
    ratings, boxed = page.locator("#q1 .ratings"), page.locator("#q1 .marked")
    caption = page.locator("#q1 textarea").first
    expect(ratings).to_be_hidden()
    expect(boxed).to_be_hidden()
    expect(caption).to_be_focused()
    press(page, "Escape", "z", "z")
    expect(page.locator("#large")).to_be_hidden()
    expect(caption).to_be_focused()
    page.keyboard.type("Squares")
    press(page, "Enter")
    expect(page.locator("#q1 .error")).to_have_text("Write at least 2 words, then go on.")
    expect(ratings).to_be_hidden()
    page.keyboard.type(" on a plain ground")
    press(page, "Enter")
    expect(ratings).to_be_visible()
    assert all_ratings_are_in_sight(page)
    expect(boxed).to_be_visible()
    expect(caption).not_to_be_editable()
    assert Axe().run(page).violations_count == 0
    for key in ("u", "c"):
        press(page, key)
        expect(ratings).to_be_visible()
        expect(caption).not_to_be_editable()
    expect(page.locator("#announcer")).to_have_text("There is nothing to undo.")
    press(page, "3", "3", "2", "1", "1", "Enter")
    submit_by_key(page)
    answer = Judgment.objects.get().answer
    expected = by_letter(1, "33211")
    assert answer == {"caption": "Squares on a plain ground", "ratings": expected}


def test_without_a_script_the_caption_and_the_ratings_are_both_there(visitor: Visitor) -> None:
    study = study_of_relevance(making.corpus(images=6), units_a_page=1, golds_a_page=0)
    page, _ = opened(visitor, study, (360, 740), java_script_enabled=False)
    expect(page.locator("#q1 .marked")).to_be_visible()
    page.locator("#q1 textarea").first.fill("Squares on a plain ground")
    for letter in "ABCDE":
        page.locator(f"[name=q1-{letter}][value='2']").check()
    page.locator("#submit").click()
    page.wait_for_url("**/done/")
    answer: Any = Judgment.objects.get().answer
    assert answer["caption"] == "Squares on a plain ground"


@SIZES
def test_detectors_are_compared_by_keyboard_alone(visitor: Visitor, size: tuple[int, int]) -> None:
    study = study_of_detectors(making.corpus(images=6), units_a_page=2)
    page, _ = opened(visitor, study, size)
    assert Axe().run(page).violations_count == 0
    press(page, "1")
    expect(page.locator("#q2")).to_be_visible()
    press(page, "u", "2")
    expect(page.locator("#q2")).to_be_visible()
    press(page, "2")
    expect(page.locator("#q3")).to_be_visible()
    press(page, "1")
    submit_by_key(page)
    answers = dict(Judgment.objects.values_list("slot__position", "answer"))
    shown: dict[int, Any] = dict(Slot.objects.values_list("position", "shown"))
    sides = {1: "right", 2: "right", 3: "left"}
    assert answers == {place: {"chosen": shown[place][side]} for place, side in sides.items()}


@pytest.mark.deep
@pytest.mark.parametrize("of", [study_of_prominence, study_of_detectors])
@pytest.mark.parametrize("width", [360, 768, 1440])
def test_boxes_lie_on_their_picture_also_when_it_is_enlarged(
    visitor: Visitor, of: Callable[..., Study], width: int
) -> None:
    study = of(making.corpus(images=6), units_a_page=1)
    page, _ = opened(visitor, study, (width, 800))
    assert _drawn_on_the_picture(page, "#q1 .marked")
    page.locator("#q1 .marked img").first.click()
    expect(page.locator("#large .marks").first).to_be_visible()
    assert _drawn_on_the_picture(page, "#large .marked")
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def _drawn_on_the_picture(page: Page, where: str) -> bool:
    """Whether the drawing covers exactly what the image covers, and all its plates lie in it."""
    return bool(
        page.locator(where).first.evaluate(
            """(marked) => {
              const box = (element) => element.getBoundingClientRect();
              const image = box(marked.querySelector("img"));
              const marks = box(marked.querySelector("svg"));
              const plates = [...marked.querySelectorAll(".plate rect")].map(box);
              const near = (one, two) => Math.abs(one - two) < 1.5;
              return near(image.left, marks.left) && near(image.top, marks.top) &&
                near(image.width, marks.width) && near(image.height, marks.height) &&
                plates.length > 0 && plates.every((plate) =>
                  plate.left >= marks.left - 1.5 && plate.right <= marks.right + 1.5 &&
                  plate.top >= marks.top - 1.5 && plate.bottom <= marks.bottom + 1.5);
            }"""
        )
    )
