"""The pages of the similarity protocols: a slider that starts empty and says no number."""

import re
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from hits.models import Account, Assignment, Judgment, Study
from hits.pipeline.draw import draw
from tests import making
from tests.browser.conftest import Visitor
from tests.browser.keyboard import press
from tests.browser.looking import violations
from tests.protocols.cases.similarity import rows_of, study_of

pytestmark = pytest.mark.django_db(transaction=True)
SLUGS = ("sts", "sis", "sits")
ENDS = {
    "sts": ("caption1", "caption2"),
    "sis": ("image1", "image2"),
    "sits": ("caption", "image"),
}
SHORT = {"units_a_page": 2, "golds_a_page": 1}


def study_for(slug: str) -> Study:
    corpus = making.corpus(images=12)
    captions = list(corpus.captions.order_by("pk").values_list("pk", flat=True))
    images = list(corpus.images.order_by("pk").values_list("pk", flat=True))
    ends = [
        (end, ids[place:])
        for place, end in enumerate(ENDS[slug])
        for ids in [captions if end.startswith("caption") else images]
    ]
    return study_of(slug, corpus, rows_of(*ends), settings=SHORT)


class Given:
    """A page of a study, and a browser window to see it in."""

    def __init__(self, slug: str, visitor: Visitor) -> None:
        self.study = study_for(slug)
        self.account: Account = making.rater(self.study)
        self.assignment: Assignment = draw(study=self.study, account=self.account)
        self.visitor = visitor

    def open(self, width: int = 1280, height: int = 800, **options: Any) -> Page:
        context = self.visitor(self.account.user, width=width, height=height, **options)
        page: Page = context.new_page()
        page.goto(f"/work/{self.assignment.key}/")
        return page


def slider(page: Page, position: int = 1) -> Locator:
    return page.locator(f"#q{position} input[type=range]")


def thumb(page: Page, position: int = 1) -> Locator:
    return page.locator(f"#q{position} .thumb")


def current(page: Page) -> int:
    return int(page.locator(".question.is-current").get_attribute("data-position") or 0)


def answers() -> dict[int, Any]:
    return dict(Judgment.objects.values_list("slot__position", "answer"))


FITS = """() => {
    const question = document.querySelector(".question.is-current");
    const bar = document.querySelector(".hit-bar").getBoundingClientRect().top;
    const all = [...question.querySelectorAll(".stage img, .caption, .anchor")];
    return scrollY === 0 && all.every((each) => each.getBoundingClientRect().bottom <= bar);
}"""


@pytest.mark.parametrize(("width", "height"), [(360, 740), (1440, 900)])
@pytest.mark.parametrize("slug", SLUGS)
def test_a_whole_page_is_done_by_keyboard(
    visitor: Visitor, slug: str, width: int, height: int
) -> None:
    page = Given(slug, visitor).open(width, height)
    expect(slider(page)).to_have_attribute("aria-valuetext", "Not set yet")
    expect(thumb(page)).to_be_hidden()
    assert page.evaluate(FITS)
    assert page.evaluate("document.documentElement.scrollWidth") == width
    press(page, "3", "ArrowRight", "ArrowRight")
    expect(thumb(page)).to_be_visible()
    assert current(page) == 1
    press(page, "u")
    expect(thumb(page)).to_be_hidden()
    expect(slider(page)).to_have_attribute("aria-valuetext", "Not set yet")
    expect(page.locator("#dots a").first).to_have_attribute(
        "aria-label", "Question 1, not answered"
    )
    press(page, "4", "ArrowLeft")
    assert violations(page) == []
    press(page, "Enter")
    expect(page.locator("#q2")).to_be_visible()
    press(page, "ArrowRight", "Enter")
    expect(page.locator("#q3")).to_be_visible()
    press(page, "ArrowLeft", "Enter")
    expect(page.locator("#submit")).to_be_focused()
    press(page, "Enter")
    page.wait_for_url("**/done/")
    assert answers() == {
        1: {"score": 3.95, "moved": ["key"]},
        2: {"score": 0, "moved": ["key"]},
        3: {"score": 5, "moved": ["key"]},
    }


@pytest.mark.deep
@pytest.mark.parametrize("slug", ["sts", "sits"])
def test_long_captions_and_the_scale_fit_on_a_phone(visitor: Visitor, slug: str) -> None:
    given = Given(slug, visitor)
    given.study.corpus.captions.update(text=("Somebody rides a bicycle along a river. " * 4)[:150])
    page = given.open(360, 740)
    expect(page.locator("#q1 .caption").first).to_contain_text("along a river. Somebody")
    assert page.evaluate(FITS)


@pytest.mark.deep
@pytest.mark.parametrize("slug", SLUGS)
def test_an_untouched_slider_cannot_be_submitted(visitor: Visitor, slug: str) -> None:
    given = Given(slug, visitor)
    page = given.open()
    press(page, "1", "Enter", "Enter", "1", "Enter")
    expect(page.locator("#missing")).to_have_text("1 answer missing: 2")
    expect(page.locator("#submit")).to_be_disabled()
    refused = page.context.request.post(
        f"/work/{given.assignment.key}/submit",
        form={"revision": "9", **{f"q{n}-score": "2.5" for n in (1, 2, 3)}},
        headers={"Accept": "application/json", "X-CSRFToken": csrf(page)},
    )
    assert refused.status == 422
    assert set(refused.json()["errors"]) == {"q1-score", "q2-score", "q3-score"}
    assert not Judgment.objects.exists()


def csrf(page: Page) -> str:
    return page.locator("[name=csrfmiddlewaretoken]").first.input_value()


@pytest.mark.deep
@pytest.mark.parametrize("slug", SLUGS)
def test_the_place_of_the_slider_is_said_in_words_only(visitor: Visitor, slug: str) -> None:
    page = Given(slug, visitor).open()
    seen = page.locator("#q1").inner_text()
    press(page, "3")
    on_it = slider(page).get_attribute("aria-valuetext")
    press(page, "PageUp", "ArrowRight")
    between = slider(page).get_attribute("aria-valuetext") or ""
    assert on_it == page.locator("#q1 .words").nth(3).inner_text()
    assert between.startswith("Between “")
    assert not re.search(r"\d", between)
    assert slider(page).get_attribute("aria-valuenow") is None
    if slug != "sits":
        assert page.locator("#q1").inner_text() == seen


@pytest.mark.deep
@pytest.mark.parametrize(("width", "means"), [(1440, "pointer"), (360, "pointer"), (360, "touch")])
def test_the_slider_follows_the_pointer_and_keeps_how_it_was_moved(
    visitor: Visitor, width: int, means: str
) -> None:
    page = Given("sis", visitor).open(width, 740, has_touch=means == "touch")
    box = page.locator("#q1 .track").bounding_box()
    assert box is not None
    upright = box["height"] > box["width"]
    assert upright == (width == 360)
    x = box["x"] + box["width"] / 2
    y = box["y"] + box["height"] * 0.2 if upright else box["y"] + 2
    x = x if upright else box["x"] + box["width"] * 0.8
    if means == "touch":
        page.touchscreen.tap(x, y)
    else:
        page.mouse.move(box["x"] + 5, box["y"] + 5)
        page.mouse.down()
        page.mouse.move(x, y, steps=4)
        page.mouse.up()
    expect(thumb(page)).to_be_visible()
    assert float(slider(page).input_value()) == pytest.approx(4, abs=0.1)
    assert page.locator("[name=q1-moved]").input_value() == means
    assert current(page) == 1
    press(page, "u")
    expect(thumb(page)).to_be_hidden()


@pytest.mark.deep
def test_undo_gives_back_the_answer_before_and_its_slider(visitor: Visitor) -> None:
    page = Given("sits", visitor).open()
    press(page, "2", "Enter", "5", "b", "4", "ArrowRight")
    assert current(page) == 1
    press(page, "u")
    assert slider(page).input_value() == "2"
    expect(slider(page)).to_have_attribute(
        "aria-valuetext", page.locator("#q1 .words").nth(2).inner_text()
    )
    press(page, "u")
    expect(page.locator("#q2")).to_be_visible()
    expect(thumb(page, 2)).to_be_hidden()


@pytest.mark.deep
def test_a_reloaded_page_has_the_slider_where_it_was(visitor: Visitor) -> None:
    page = Given("sts", visitor).open()
    with page.expect_response("**/save"):
        press(page, "4", "ArrowRight")
    page.reload()
    page.locator("#dots a").first.click()
    expect(thumb(page)).to_be_visible()
    assert slider(page).input_value() == "4.05"
    expect(thumb(page, 2)).to_be_hidden()
    press(page, "u")
    expect(thumb(page)).to_be_hidden()
    expect(page.locator("[name=q1-moved]")).to_have_value("")


@pytest.mark.deep
def test_long_descriptions_are_shown_on_hover_and_on_focus(visitor: Visitor) -> None:
    page = Given("sits", visitor).open()
    help_line = page.locator("#q1 .anchor-help")
    expect(help_line).to_be_empty()
    page.locator("#q1 .anchor").nth(5).hover()
    expect(help_line).to_have_text("The text is an almost perfect description of the image.")
    page.mouse.move(5, 300)
    expect(help_line).to_be_empty()
    page.locator("#q1 .anchor").first.focus()
    expect(help_line).to_contain_text("nothing to do with each other")
    expect(thumb(page)).to_be_hidden()


@pytest.mark.deep
def test_each_of_two_images_is_enlarged_and_each_broken_one_reported(visitor: Visitor) -> None:
    given = Given("sis", visitor)
    page = given.open()
    sources = [image.get_attribute("src") for image in page.locator("#q1 .stage img").all()]
    large = page.locator("#large img")
    press(page, "z")
    expect(large).to_have_count(2)
    expect(page.locator("#large figcaption")).to_have_text(["Image 1", "Image 2"])
    for source in sources:
        press(page, "z")
        expect(large).to_have_attribute("src", source or "")
    press(page, "z")
    expect(page.locator("#large")).to_be_hidden()
    page.locator("#q1 .stage img").last.click()
    expect(large).to_have_count(2)
    press(page, "3")
    expect(thumb(page)).to_be_attached()
    press(page, "Escape")
    expect(thumb(page)).to_be_visible()
    page.context.route(f"**{sources[1]}", lambda route: route.abort())
    page.reload()
    expect(page.locator("#q1 .stage").last).to_have_class(re.compile("is-broken"))
    expect(page.locator("#q1 .stage").first).not_to_have_class(re.compile("is-broken"))


@pytest.mark.deep
@pytest.mark.parametrize("slug", SLUGS)
def test_without_script_the_slider_must_be_said_to_be_set(visitor: Visitor, slug: str) -> None:
    page = Given(slug, visitor).open(java_script_enabled=False)
    for position in (1, 2):
        slider(page, position).fill("3.5")
        page.locator(f"#q{position} .is-set input").check()
    page.locator("#submit").click()
    expect(page.locator("#q3 .error")).to_have_text("Move the slider to where the pair belongs.")
    assert slider(page).input_value() == "3.5"
    page.locator("#q3 .is-set input").check()
    page.locator("#submit").click()
    expect(page.get_by_role("status")).to_contain_text("Your answers are stored")
    assert answers()[1] == {"score": 3.5, "moved": []}
    assert answers()[3] == {"score": 0, "moved": []}


@pytest.mark.deep
def test_a_comment_may_have_digits_and_moves_nothing(visitor: Visitor) -> None:
    page = Given("sts", visitor).open()
    page.locator("#q1-comment").click()
    page.keyboard.type("3 sheep, 4 dogs")
    expect(thumb(page)).to_be_hidden()
    press(page, "Escape", "2")
    expect(thumb(page)).to_be_visible()
    expect(page.locator("#q1-comment")).to_have_value("3 sheep, 4 dogs")


@pytest.mark.deep
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(("width", "height"), [(360, 740), (768, 1024), (1440, 900)])
@pytest.mark.parametrize("slug", SLUGS)
def test_axe_finds_nothing(
    visitor: Visitor, slug: str, width: int, height: int, scheme: str
) -> None:
    page = Given(slug, visitor).open(width, height, color_scheme=scheme)
    assert violations(page) == []
    press(page, "3")
    page.locator("#instructions summary").first.click()
    assert violations(page) == []
    press(page, "Escape", "a")
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") == width
