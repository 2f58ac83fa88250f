"""The whole life of a HIT, on the demo as a newcomer starts it: published, found, previewed,
accepted, done in a frame of another site, handed over, reviewed, paid.

With SCREENSHOTS set to a folder, what each of them sees is kept there.
"""

import re
from collections.abc import Iterator
from decimal import Decimal

import boto3
import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    FrameLocator,
    Locator,
    Page,
    Request,
    Response,
    expect,
)

from annotation_app.demo_marketplace import marketplace_environment
from tests.browser.running_demo import Demo
from tests.browser.test_journey import context_of, keep, log_in

STUDY = "scenes-caption-to-image"
TITLE = "Do these captions fit their images?"
QUESTIONS = 20
# A cookie that goes wherever cookies go at all, in frames too.
COOKIE = "a_cookie=1; SameSite=None; Secure; Path=/"


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


def come_about(page: Page, address: str, seen: Locator) -> None:
    """Load the page until what a process in the background does is seen on it."""
    for _ in range(120):
        page.goto(address)
        if seen.is_visible():
            return
        page.wait_for_timeout(1000)
    expect(seen).to_be_visible()


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
    page.goto(f"/research/studies/{STUDY}/")
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
    come_about(page, f"{demo.url}/review/{STUDY}/", failed)
    page.get_by_role("button", name="Pay, do not use").click()
    expect(page.get_by_text("Nothing waits for you.")).to_be_visible()
    context.close()


def see_it_paid(page: Page, demo: Demo) -> None:
    approved = page.get_by_role("row", name=re.compile(f"{re.escape(TITLE)}.*Approved"))
    come_about(page, f"{demo.market}/dashboard/", approved)
    expect(page.locator("#earned")).to_contain_text("$0.65")
    keep(page, "paid")
