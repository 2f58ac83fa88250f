"""What a newcomer does, from logging in to a study that people work on, told by the pages alone."""

import re
from collections.abc import Callable
from urllib.parse import urlsplit

from playwright.sync_api import Page, expect

from tests.browser.keyboard import press

NAME = "My first study"
Keep = Callable[[Page, str], None]


def make_a_draft(page: Page, keep: Keep) -> None:
    keep(page, "research")
    page.get_by_role("link", name="New study").click()
    page.get_by_label("Matching, image to captions").check()
    page.get_by_label("Corpus", exact=True).select_option("Rendered scenes")
    page.get_by_label("Name", exact=True).fill(NAME)
    page.evaluate("scrollTo(0, 0)")
    keep(page, "new-study")
    page.get_by_role("button", name="Make a draft").click()
    told = "Let machines propose captions for images, and choose their proposals."
    expect(page.get_by_text(told)).to_be_visible()


def choose_what_is_asked_about(page: Page, keep: Keep) -> None:
    expect(page.get_by_role("button", name="Open the study")).to_be_disabled()
    for machine in ("palette", "layout"):
        expect(page.get_by_label(re.compile(f"{machine}.*image to caption"))).to_be_checked()
        expect(page.get_by_label(re.compile(f"{machine}.*caption to image"))).not_to_be_checked()
    page.get_by_role("heading", name="What it is asked about").scroll_into_view_if_needed()
    keep(page, "proposals")
    page.get_by_role("button", name="Keep this choice").click()
    cost = page.locator("#plan-figures")
    expect(cost).to_contain_text("Cost in-house")
    expect(cost).to_contain_text("$1.40 a page")
    cost.scroll_into_view_if_needed()
    keep(page, "cost")


def look_at_the_first_page(page: Page, keep: Keep) -> None:
    page.get_by_role("link", name="See the first page").click()
    expect(page.get_by_text("Is the image correctly described?").first).to_be_visible()
    keep(page, "first-page")
    page.go_back()


def open_it(page: Page, keep: Keep) -> None:
    page.get_by_role("button", name="Open the study").click()
    expect(page.get_by_text("No rater has joined yet.")).to_be_visible()
    keep(page, "opened")


def invite_somebody(page: Page, keep: Keep) -> str:
    page.get_by_role("link", name="Invite raters").click()
    page.get_by_role("button", name="Make a link").click()
    link = page.get_by_label("Link for raters")
    expect(link).to_be_visible()
    keep(page, "invite")
    return link.input_value()


def join_and_work(page: Page, link: str) -> None:
    page.goto(urlsplit(link).path)
    page.get_by_role("button", name="Join").click()
    page.get_by_role("button", name="I agree").click()
    page.wait_for_url("**/work/**")
    page.keyboard.press("Escape")
    say_yes_to_the_end(page, first=1)


def say_yes_to_the_end(page: Page, *, first: int) -> None:
    for number in range(first, 21):
        expect(page.locator(f"#q{number}.is-current")).to_be_visible()
        press(page, "1")
    expect(page.locator("#submit")).to_be_focused()
    page.keyboard.press("Enter")
    page.wait_for_url("**/done/")


def from_login_to_a_running_study(log_in: Callable[[str], Page], keep: Keep) -> None:
    page = log_in("researcher")
    make_a_draft(page, keep)
    choose_what_is_asked_about(page, keep)
    look_at_the_first_page(page, keep)
    open_it(page, keep)
    link = invite_somebody(page, keep)
    join_and_work(log_in("rater"), link)
    page.get_by_role("link", name="Overview").click()
    expect(page.get_by_text(re.compile(r"^18 of \d+ judgments"))).to_be_visible()
    keep(page, "running")
