"""Whole journeys on the demo as a newcomer starts it, in one file so that it is started once: from
a rater by a reviewer to a researcher's dataset; and the life of a HIT, published, found, previewed,
accepted, done in a frame of another site, handed over, reviewed, paid.

With SCREENSHOTS set to a folder, what each of them sees is kept there.
"""

import json
import os
import re
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import boto3
import pytest
from eccv_caption import Metrics
from playwright.sync_api import (
    Browser,
    BrowserContext,
    Error,
    FrameLocator,
    Locator,
    Page,
    Request,
    Response,
    expect,
)

from annotation_app.demo_marketplace import marketplace_environment
from tests.browser.keyboard import press
from tests.browser.newcomer import from_login_to_a_running_study, say_yes_to_the_end
from tests.browser.running_demo import Demo

RATED = "photographs"
PUBLISHED = "scenes-caption-to-image"
TITLE = "Do these captions fit their images?"
QUESTIONS = 20
# A cookie that goes wherever cookies go at all, in frames too.
COOKIE = "a_cookie=1; SameSite=None; Secure; Path=/"


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


def come_about(page: Page, address: str, seen: Locator) -> None:
    """Load the page until what a process in the background does is seen on it."""
    for _ in range(120):
        try:
            page.goto(address)
        except Error as interrupted:
            # The page reloads itself when a job ends, also while we load it.
            if "ERR_ABORTED" not in interrupted.message:
                raise
        if seen.is_visible():
            return
        page.wait_for_timeout(1000)
    expect(seen).to_be_visible()


def current(page: Page) -> int:
    return int(page.locator(".question.is-current").get_attribute("data-position") or 0)


def test_from_a_rater_to_a_dataset(chromium: Browser, demo: Demo, tmp_path: Path) -> None:
    rate_a_page(chromium, demo)
    review_it(chromium, demo)
    release_it(chromium, demo, tmp_path)


def test_a_newcomer_gets_from_logging_in_to_a_running_study(chromium: Browser, demo: Demo) -> None:
    contexts = []

    def logged_in(role: str) -> Page:
        contexts.append(context_of(chromium, demo))
        return log_in(contexts[-1], demo, role)

    from_login_to_a_running_study(logged_in, keep)
    for context in contexts:
        context.close()


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
        press(page, "1")
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
    say_yes_to_the_end(page, first=9)
    keep(page, "submitted")
    context.close()


def review_it(chromium: Browser, demo: Demo) -> None:
    context = context_of(chromium, demo)
    page = log_in(context, demo, "reviewer")
    waiting = page.get_by_text(re.compile(r"golds? failed")).first
    come_about(page, f"/review/{RATED}/", waiting)
    keep(page, "review")
    page.keyboard.press("d")
    expect(page.get_by_text(re.compile(r"\d+ units went out again"))).to_be_visible()
    keep(page, "reviewed")
    context.close()


def release_it(chromium: Browser, demo: Demo, tmp_path: Path) -> None:
    context = context_of(chromium, demo)
    page = log_in(context, demo, "researcher")
    study = "/research/studies/scenes-image-to-caption/"
    page.goto(study)
    keep(page, "study")
    page.goto(f"{study}results/")
    keep(page, "results")
    page.goto(f"{study}releases/")
    page.get_by_label("Scenes: caption to image").check()
    page.get_by_role("button", name="Make the release").click()
    link = page.get_by_role("link", name="eccv_image_to_caption.json")
    come_about(page, f"{study}releases/", link.first)
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


class Traffic:
    """What went between the worker's browser and the annotation app."""

    def __init__(self, context: BrowserContext, demo: Demo) -> None:
        self.requests: list[Request] = []
        context.on("request", lambda sent: self._note(sent, demo.framed_at))

    def _note(self, sent: Request, origin: str) -> None:
        if sent.url.startswith(origin) and "/static/" not in sent.url:
            self.requests.append(sent)

    def cookies(self) -> list[str]:
        found = []
        for sent in self.requests:
            answered = sent.response()
            headers = (sent.all_headers(), answered.all_headers() if answered else {})
            if "cookie" in headers[0] or "set-cookie" in headers[1]:
                found.append(sent.url)
        return found


@pytest.fixture
def worker(chromium: Browser) -> Iterator[BrowserContext]:
    context = chromium.new_context(viewport={"width": 1280, "height": 860})
    context.set_default_timeout(30_000)
    yield context
    context.close()


def balance(demo: Demo) -> Decimal:
    keys = marketplace_environment(demo.folder, demo.port)
    client = boto3.client(
        "mturk",
        endpoint_url=demo.market,
        region_name="us-east-1",
        aws_access_key_id=keys["CHANNEL_LOCAL_ACCESS_KEY"],
        aws_secret_access_key=keys["CHANNEL_LOCAL_SECRET_KEY"],
    )
    return Decimal(client.get_account_balance()["AvailableBalance"])


def test_from_publishing_a_study_to_a_paid_worker(
    chromium: Browser, demo: Demo, worker: BrowserContext
) -> None:
    before = balance(demo)
    publication = publish(chromium, demo)
    take_a_cookie(worker, demo)
    traffic = Traffic(worker, demo)
    page = find_and_preview(worker, demo)
    do_it(page)
    assert len(traffic.requests) > 10
    assert traffic.cookies() == []
    confirm(chromium, demo, publication)
    review(chromium, demo)
    see_it_paid(page, demo)
    assert before - balance(demo) == Decimal("0.78")


def publish(chromium: Browser, demo: Demo) -> str:
    """Where the researcher follows the one HIT that is published."""
    context = context_of(chromium, demo)
    page = log_in(context, demo, "researcher")
    page.goto(f"/research/studies/{PUBLISHED}/")
    page.get_by_role("link", name="Channels").click()
    keep(page, "channels")
    page.get_by_role("link", name="Publish at local").click()
    page.get_by_label("Title").fill(TITLE)
    page.get_by_label("Description").fill("Twenty pairs of a caption and an image.")
    page.get_by_label("Reward a page").fill("0.65")
    page.get_by_label("Pages to publish").fill("1")
    page.get_by_role("button", name="Review the costs").click()
    expect(page.get_by_role("row", name="Expected total")).to_contain_text("$0.78")
    keep(page, "publish")
    page.get_by_role("button", name="Publish 1 HIT for $0.78").click()
    page.wait_for_url("**/publications/*/")
    come_about(page, page.url, page.get_by_text("1 of 1 HITs made"))
    keep(page, "published")
    address = page.url
    context.close()
    return address


def take_a_cookie(worker: BrowserContext, demo: Demo) -> None:
    """As somebody has who has been at the annotation app itself in this browser."""
    page = worker.new_page()
    with page.expect_request(f"{demo.framed_at}/login/?again") as again:
        page.goto(f"{demo.framed_at}/login/")
        page.evaluate(f"document.cookie = {COOKIE!r}")
        page.goto(f"{demo.framed_at}/login/?again")
    assert "a_cookie=1" in again.value.all_headers()["cookie"]
    page.close()


def find_and_preview(worker: BrowserContext, demo: Demo) -> Page:
    page = worker.new_page()
    page.goto(demo.market)
    page.get_by_label("Name or worker id").fill("wanda")
    page.get_by_label("Password").fill(demo.workers_password)
    page.get_by_role("button", name="Log in").click()
    expect(page.get_by_role("heading", name=TITLE)).to_be_visible()
    keep(page, "marketplace")
    page.get_by_role("link", name=f"Preview {TITLE}").click()
    expect(framed(page).get_by_text("This is a preview.")).to_be_visible()
    keep(page, "preview")
    return page


def framed(page: Page) -> FrameLocator:
    return page.frame_locator("#frame")


def answer(page: Page, questions: range) -> None:
    for number in questions:
        framed(page).locator(f"#q{number}.is-current label.choice").first.click()


def saves_question(number: int, response: Response) -> bool:
    sent = response.request.post_data or ""
    return response.ok and response.request.method == "POST" and f"q{number}-choice" in sent


def do_it(page: Page) -> None:
    """Everything is called right, so the true negative is missed and a person has to look."""
    page.get_by_role("button", name="Accept").click()
    framed(page).get_by_role("button", name="I agree and start").click()
    framed(page).get_by_role("button", name="Close").first.click()
    answer(page, range(1, 12))
    with page.expect_response(lambda response: saves_question(12, response)):
        answer(page, range(12, 13))
    keep(page, "worker")
    page.reload()
    expect(framed(page).locator("#q13")).to_have_class(re.compile("is-current"))
    for number in range(1, 13):
        expect(framed(page).locator(f"#q{number} :checked")).to_have_count(1)
    answer(page, range(13, QUESTIONS + 1))
    framed(page).locator("#submit").click()
    expect(page.get_by_role("heading", name="Submitted")).to_be_visible()
    keep(page, "handed-over")


def confirm(chromium: Browser, demo: Demo, publication: str) -> None:
    context = context_of(chromium, demo)
    page = log_in(context, demo, "researcher")
    page.goto(publication)
    page.get_by_role("button", name="Reconcile now").click()
    come_about(page, publication, page.get_by_role("link", name="Confirmed", exact=True))
    keep(page, "publication")
    context.close()


def review(chromium: Browser, demo: Demo) -> None:
    context = context_of(chromium, demo)
    page = log_in(context, demo, "reviewer")
    failed = page.get_by_text(re.compile(r"golds? failed")).first
    come_about(page, f"{demo.url}/review/{PUBLISHED}/", failed)
    page.get_by_role("button", name="Pay, do not use").click()
    expect(page.get_by_text("Nothing waits for you.")).to_be_visible()
    context.close()


def see_it_paid(page: Page, demo: Demo) -> None:
    approved = page.get_by_role("row", name=re.compile(f"{re.escape(TITLE)}.*Approved"))
    come_about(page, f"{demo.market}/dashboard/", approved)
    expect(page.locator("#earned")).to_contain_text("$0.65")
    keep(page, "paid")
