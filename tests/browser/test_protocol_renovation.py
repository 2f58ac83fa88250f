"""Renovation as a person meets it; and the browser's differences beside the server's."""

import json
import random

import pytest
from playwright.sync_api import Page, expect

from hits.models import Account, Assignment, Corpus, Judgment, Study
from hits.pipeline.draw import draw
from hits.word_diff import edit, pieces, size
from tests import making
from tests.browser.conftest import Visitor
from tests.browser.keyboard import press
from tests.browser.looking import violations
from tests.browser.test_hit_page import saved, show
from tests.protocols.cases.refinement import study_of_rows

pytestmark = pytest.mark.django_db(transaction=True)

PROPOSED = "three chairs under a window on a orange train."
RIGHT = "three orange chairs under a window on a train."


@pytest.fixture
def corpus() -> Corpus:
    return making.corpus(images=4, captions_each=1)


@pytest.fixture
def study(corpus: Corpus) -> Study:
    corpus.captions.update(text="three chairs under a window on a train.")
    rows = [
        {"image": image.pk, "caption": image.captions.get().pk, "proposed": PROPOSED}
        for image in corpus.images.all()
    ]
    return study_of_rows("renovation", corpus, rows, settings={"units_a_page": 3})


@pytest.fixture
def account(study: Study) -> Account:
    return making.rater(study)


@pytest.fixture
def assignment(study: Study, account: Account) -> Assignment:
    return draw(study=study, account=account)


@pytest.fixture
def page(visitor: Visitor, account: Account, assignment: Assignment) -> Page:
    return show(visitor(account.user), assignment)


SEEN_TOGETHER = """question => {
  const box = (element) => element.getBoundingClientRect();
  const [image, text] = [".stage", "textarea"].map((each) => box(question.querySelector(each)));
  const head = box(document.querySelector(".hit-head"));
  const bar = box(document.querySelector(".hit-bar"));
  const isBeside = image.right <= text.left;
  return image.top >= head.bottom - 1 && text.bottom <= bar.top &&
    (isBeside || image.bottom <= text.top);
}"""


def retype(page: Page, text: str) -> None:
    press(page, "Control+a")
    page.keyboard.type(text)


@pytest.mark.parametrize(("width", "height"), [(360, 740), (1440, 900)])
def test_a_page_is_renovated_by_keyboard_alone(
    visitor: Visitor, account: Account, assignment: Assignment, width: int, height: int
) -> None:
    page = show(visitor(account.user, width=width, height=height), assignment)
    expect(page.locator("#q1 .caption ins")).to_have_text("added: orange")
    assert violations(page) == []
    press(page, "1")
    expect(page.locator("#q2")).to_be_visible()
    press(page, "2")
    expect(page.locator("#q2-text")).to_be_focused()
    expect(page.locator("#q2-text")).to_have_value(PROPOSED)
    expect(page.locator("#q2 .diff-none")).to_be_visible()
    assert page.locator("#q2").evaluate(SEEN_TOGETHER)
    retype(page, RIGHT)
    expect(page.locator("#q2 .diff-text")).to_have_text(
        "three orange chairs under a window on a orange train."
    )
    expect(page.locator("#q2 .diff-text ins")).to_have_text("orange")
    expect(page.locator("#q2 .diff-text del")).to_have_text("orange")
    expect(page.locator("#q2 .diff-size")).to_have_text("2")
    expect(page.locator("#q2 .diff-none")).to_be_hidden()
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") == width
    press(page, "Enter", "3")
    expect(page.locator("#submit")).to_be_focused()
    press(page, "Enter")
    page.wait_for_url("**/done/")
    answers = dict(Judgment.objects.values_list("slot__position", "answer"))
    assert answers == {
        1: {"choice": "confirm", "text": PROPOSED, "edit": [], "size": 0},
        2: {"choice": "correct", "text": RIGHT, "edit": edit(PROPOSED, RIGHT), "size": 2},
        3: {"choice": "hopeless"},
    }


@pytest.mark.deep
def test_undo_puts_the_text_back_and_what_is_said_of_it(page: Page) -> None:
    press(page, "2")
    retype(page, "3 uneasy zebras")
    expect(page.locator("#q1 .diff-size")).to_have_text("9")
    press(page, "Escape", "u")
    expect(page.locator("#q1-text")).to_have_value(PROPOSED)
    expect(page.locator("#q1 .diff-size")).to_have_text("0")
    expect(page.locator("#q1 .diff-text")).to_have_text(PROPOSED)
    expect(page.locator("#q1 [value=correct]")).to_be_checked()
    press(page, "u")
    expect(page.locator("#q1 input:checked")).to_have_count(0)


@pytest.mark.deep
def test_what_was_typed_outlives_another_choice_and_a_reload(
    page: Page, assignment: Assignment
) -> None:
    press(page, "2")
    retype(page, RIGHT)
    press(page, "Escape", "3")
    expect(page.locator("#q2")).to_be_visible()
    assert saved(page, assignment, "q1-text") == [RIGHT]
    page.reload()
    press(page, "ArrowLeft")
    expect(page.locator("#q1 [value=hopeless]")).to_be_checked()
    press(page, "2")
    expect(page.locator("#q1-text")).to_have_value(RIGHT)
    expect(page.locator("#q1 .diff-size")).to_have_text("2")


@pytest.mark.deep
def test_walking_through_the_choices_does_not_end_in_the_text(page: Page) -> None:
    page.locator("#q1 input[type=radio]").first.focus()
    press(page, "Space", "ArrowDown")
    expect(page.locator("#q1-text")).to_be_visible()
    expect(page.locator("#q1 [value=correct]")).to_be_focused()
    press(page, "ArrowDown")
    expect(page.locator("#q1 [value=hopeless]")).to_be_checked()


@pytest.mark.deep
def test_an_empty_text_is_asked_for(page: Page) -> None:
    press(page, "2", "Control+a", "Delete", "Enter")
    expect(page.locator("#q1 .error")).to_have_text(
        "Write the corrected text, or choose another answer."
    )
    expect(page.locator("#q1-text")).to_be_focused()


@pytest.mark.deep
def test_without_script_it_is_a_plain_form(
    visitor: Visitor, account: Account, assignment: Assignment
) -> None:
    page = show(visitor(account.user, java_script_enabled=False), assignment)
    expect(page.locator("#q1-text")).to_be_hidden()
    for position, choice in enumerate(["confirm", "correct", "correct"], 1):
        page.locator(f"#q{position} .choice:has([value={choice}])").click()
    expect(page.locator("#q2-text")).to_have_value(PROPOSED)
    page.locator("#q2-text").fill(RIGHT)
    page.locator("#q3-text").fill(" ")
    page.locator("#submit").click()
    expect(page.locator("#q3 .error")).to_contain_text("Write the corrected text")
    expect(page.locator("#q2-text")).to_have_value(RIGHT)
    page.locator("#q3-text").fill(PROPOSED)
    page.locator("#submit").click()
    expect(page.get_by_role("status")).to_contain_text("Your answers are stored")
    choices = Judgment.objects.order_by("slot__position").values_list("answer__choice", flat=True)
    assert list(choices) == ["confirm", "correct", "confirm"]


WORDS = [
    "a", "A", "the", "dog", "dog's", "dogs’", "t-shirt", "12.5", "1,000", "12:30", "red", "Red",
    "-", "–", ".", ",", "...", "“red”", "(red)", "dog,cat", "naïve", "cafe\u0301", "狗", "🐕", "x",
    "\u00a0", "\u2003", "\ufeff", "\x1c", "\x85", "\t", "\n", "_", "&", "'", "$5", "mid-", "]",
]  # fmt: skip
COMPARE = """async (pairs) => {
    const { edit, pieces, size } = await import("/static/js/protocols/diff.js");
    return JSON.stringify(pairs.map(([one, two]) => [
        edit(one, two), size(one, two),
        pieces(one, two).map(({ kind, text, spaced }) => [kind, text, spaced])]));
}"""


def some_text(chance: random.Random) -> str:
    chosen = chance.choices(WORDS, k=chance.randrange(14))
    return "".join(word + chance.choice([" ", " ", "", "  "]) for word in chosen)


def test_the_browser_finds_the_same_differences_as_the_server(visitor: Visitor) -> None:
    chance = random.Random(5)
    pairs = [
        (PROPOSED, RIGHT),
        ("", ""),
        *((some_text(chance), some_text(chance)) for _ in range(3000)),
    ]
    page = visitor().new_page()
    page.goto("/login/")
    theirs = json.loads(page.evaluate(COMPARE, pairs))
    ours = [
        [edit(one, two), size(one, two), [list(piece) for piece in pieces(one, two)]]
        for one, two in pairs
    ]
    assert [pair for pair, a, b in zip(pairs, theirs, ours, strict=True) if a != b] == []
