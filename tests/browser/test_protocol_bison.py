"""BISON's two stages, the scales and the audit, as a person meets them."""

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from hits.models import Account, Assignment, Corpus, Judgment
from hits.pipeline.draw import draw
from tests import making
from tests.browser.conftest import Visitor
from tests.browser.keyboard import press
from tests.browser.looking import violations
from tests.browser.test_hit_page import show
from tests.protocols.cases.bison import study_of_rows

pytestmark = pytest.mark.django_db(transaction=True)

PHONE, DESK = (360, 740), (1440, 900)
both_sizes = pytest.mark.parametrize("size", [PHONE, DESK], ids=["phone", "desk"])
SHORT: dict[str, Any] = {"units_a_page": 3}


@pytest.fixture
def corpus() -> Corpus:
    return making.corpus(images=4, captions_each=5)


def pairs(corpus: Corpus) -> list[dict[str, int]]:
    first, *others = corpus.images.order_by("pk")
    return [{"positive": first.pk, "negative": other.pk} for other in others]


def triples(corpus: Corpus) -> list[dict[str, int]]:
    caption = corpus.captions.order_by("pk")[0]
    return [{"caption": caption.pk, **pair} for pair in pairs(corpus)]


def captions(corpus: Corpus, *, image: bool = False) -> list[dict[str, int]]:
    found = corpus.captions.order_by("pk").values_list("image_id", "pk")[:3]
    return [
        {"image": image_id, "caption": pk} if image else {"caption": pk} for image_id, pk in found
    ]


ROWS: dict[str, Callable[[Corpus], list[dict[str, int]]]] = {
    "bison_captions": pairs,
    "bison_images": triples,
    "correctness": lambda corpus: captions(corpus, image=True),
    "detailedness": captions,
    "retrieval_audit": lambda corpus: captions(corpus, image=True),
}
every_form = pytest.mark.parametrize("slug", sorted(ROWS))


def started(corpus: Corpus, slug: str) -> tuple[Account, Assignment]:
    study = study_of_rows(slug, corpus, ROWS[slug](corpus), settings=SHORT)
    account = making.rater(study)
    return account, draw(study=study, account=account)


def answers() -> list[dict[str, Any]]:
    found = Judgment.objects.order_by("slot__position").values_list("answer", flat=True)
    return [answer for answer in found if answer is not None]


def shown(assignment: Assignment) -> list[dict[str, Any]]:
    found = assignment.slots.order_by("position").values_list("shown", flat=True)
    return [each for each in found if each is not None]


def opened(visitor: Visitor, account: Account, page: Assignment, size: tuple[int, int]) -> Page:
    return show(visitor(account.user, width=size[0], height=size[1]), page)


LONG = "A woman in a red coat walks two dogs along the harbour while boats come in"


def all_answers_are_in_sight(page: Page) -> bool:
    last = page.locator("#q1 .choice").last.bounding_box()
    bar = page.locator(".hit-bar").bounding_box()
    assert last
    assert bar
    return last["y"] + last["height"] <= bar["y"]


@both_sizes
def test_captions_are_chosen_by_keys_beside_both_images(
    visitor: Visitor, corpus: Corpus, size: tuple[int, int]
) -> None:
    account, assignment = started(corpus, "bison_captions")
    page = opened(visitor, account, assignment, size)
    left, right = page.locator("#q1 .stage").all()
    one, other = left.bounding_box(), right.bounding_box()
    assert one
    assert other
    assert (one["y"], one["width"], one["height"]) == (other["y"], other["width"], other["height"])
    assert one["x"] < other["x"]
    assert all_answers_are_in_sight(page)
    assert violations(page) == []
    press(page, "2")
    expect(page.locator("#q2")).to_be_visible()
    press(page, "u")
    expect(page.locator("#q1 input:checked")).to_have_count(0)
    press(page, "0")
    expect(page.locator("#q2")).to_be_visible()
    expect(page.locator("#where")).to_contain_text("2 of 3")
    press(page, "5", "1")
    expect(page.locator("#submit")).to_be_focused()
    press(page, "Enter")
    page.wait_for_url("**/done/")
    _, second, third = shown(assignment)
    expected = [None, second["captions"][4], third["captions"][0]]
    assert [answer.get("caption") for answer in answers()] == expected


@both_sizes
def test_images_are_chosen_by_keys_wherever_they_stand(
    visitor: Visitor, corpus: Corpus, size: tuple[int, int]
) -> None:
    account, assignment = started(corpus, "bison_images")
    page = opened(visitor, account, assignment, size)
    assert violations(page) == []
    assert all_answers_are_in_sight(page)
    press(page, "1", "2")
    expect(page.locator("#q3")).to_be_visible()
    press(page, "u")
    expect(page.locator("#q2 input:checked")).to_have_count(0)
    press(page, "2", "3")
    expect(page.locator("#submit")).to_be_focused()
    press(page, "Enter")
    page.wait_for_url("**/done/")
    first, second, _ = shown(assignment)
    turned = {"positive": "negative", "negative": "positive"}
    expected = [first["first"], turned[second["first"]], "both"]
    assert [answer["choice"] for answer in answers()] == expected


def test_a_pair_is_enlarged_together_and_then_each_image_alone(
    visitor: Visitor, corpus: Corpus
) -> None:
    account, assignment = started(corpus, "bison_captions")
    page = opened(visitor, account, assignment, DESK)

    def shown() -> list[str]:
        return [image.get_attribute("alt") or "" for image in page.locator("#large img").all()]

    left, right = "Left image of question 1", "Right image of question 1"
    for expected in ([left, right], [left], [right]):
        press(page, "z")
        expect(page.locator("#large img")).to_have_count(len(expected))
        assert shown() == expected
    press(page, "z")
    expect(page.locator("#large")).to_be_hidden()
    page.locator("#q1 .stage img").last.click()
    assert shown() == [left, right]
    expect(page.locator("#large")).to_have_attribute(
        "aria-label", "Fits this image … and … but not this one, enlarged"
    )


@both_sizes
@pytest.mark.parametrize(
    ("slug", "keys", "field", "said"),
    [
        ("correctness", "514", "score", [5, 1, 4]),
        ("detailedness", "123", "score", [1, 2, 3]),
        ("retrieval_audit", "121", "choice", ["yes", "no", "yes"]),
    ],
)
def test_a_page_of_one_choice_each_is_done_by_keys(
    visitor: Visitor,
    corpus: Corpus,
    size: tuple[int, int],
    slug: str,
    keys: str,
    field: str,
    said: list[Any],
) -> None:
    corpus.captions.update(text=LONG)
    account, assignment = started(corpus, slug)
    page = opened(visitor, account, assignment, size)
    expect(page.locator("#q1 .stage")).to_have_count(0 if slug == "detailedness" else 1)
    assert all_answers_are_in_sight(page)
    assert violations(page) == []
    press(page, keys[0], "u", *keys)
    expect(page.locator("#submit")).to_be_focused()
    press(page, "Enter")
    page.wait_for_url("**/done/")
    assert [answer[field] for answer in answers()] == said


@pytest.mark.deep
@every_form
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 768, 1440])
def test_axe_finds_nothing_on_any_form_at_any_width(
    visitor: Visitor, corpus: Corpus, slug: str, width: int, scheme: str
) -> None:
    account, assignment = started(corpus, slug)
    context = visitor(account.user, width=width, height=900, color_scheme=scheme)
    page = show(context, assignment)
    page.locator("#instructions summary").click()
    assert violations(page) == []
    press(page, "Escape", "a")
    expect(page.locator(".question:visible")).to_have_count(3)
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") == width


@pytest.mark.deep
@every_form
def test_without_script_the_form_says_what_is_missing_and_submits(
    visitor: Visitor, corpus: Corpus, slug: str
) -> None:
    account, assignment = started(corpus, slug)
    page = show(visitor(account.user, java_script_enabled=False), assignment)
    page.locator("#q1 .choice").first.click()
    page.locator("#q3 .choice").last.click()
    page.locator("#submit").click()
    expect(page.locator("#q2 .error")).to_have_count(1)
    expect(page.locator("#q3 .choice input").last).to_be_checked()
    page.locator("#q2 .choice").nth(1).click()
    page.locator("#submit").click()
    expect(page.get_by_role("status")).to_contain_text("Your answers are stored")
    assert Judgment.objects.count() == 3
