import pytest
from playwright.sync_api import expect

from hits.models import Account, Assignment, Judgment, Study
from hits.pipeline.draw import draw
from tests import making
from tests.browser.conftest import Visitor
from tests.browser.keyboard import press
from tests.browser.looking import violations
from tests.browser.test_hit_page import show
from tests.protocols.cases.refinement import study_of_rows

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def study() -> Study:
    corpus = making.corpus(images=3)
    rows = [
        {"image": image.pk, "wrong": "a red bus in a street", "right": "a blue bus in a street"}
        for image in corpus.images.all()
    ]
    return study_of_rows("right_text", corpus, rows, settings={"units_a_page": 3})


@pytest.fixture
def account(study: Study) -> Account:
    return making.rater(study)


@pytest.fixture
def assignment(study: Study, account: Account) -> Assignment:
    return draw(study=study, account=account)


@pytest.mark.parametrize(("width", "height"), [(360, 740), (1440, 900)])
def test_a_page_is_decided_by_keyboard_alone(
    visitor: Visitor, account: Account, assignment: Assignment, width: int, height: int
) -> None:
    page = show(visitor(account.user, width=width, height=height), assignment)
    first = page.locator("#q1 .choice").first.inner_text()
    assert violations(page) == []
    press(page, "2")
    expect(page.locator("#q2")).to_be_visible()
    press(page, "u")
    expect(page.locator("#q1")).to_be_visible()
    expect(page.locator("#q1 input:checked")).to_have_count(0)
    press(page, "1", "2", "1")
    expect(page.locator("#submit")).to_be_focused()
    assert page.evaluate("document.documentElement.scrollWidth") == width
    press(page, "Enter")
    page.wait_for_url("**/done/")
    chosen = Judgment.objects.get(slot__position=1)
    assert chosen.answer == {"choice": "corrected" if "blue" in first else "proposed"}
    assert Judgment.objects.count() == 3
