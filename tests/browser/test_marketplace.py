"""The marketplace's worker site in a real browser, with a requester's page on another site."""

import html
import re
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

import pytest
from django.conf import LazySettings
from django.utils import timezone
from playwright.sync_api import BrowserContext, Dialog, FrameLocator, Page, expect
from pytest_django.live_server_helper import LiveServer

from hits.marketplace.models import HIT, Assignment, Message, Worker
from tests.browser.conftest import Visitor
from tests.browser.looking import assert_accessible_and_fits
from tests.marketplace.site import world

pytestmark = pytest.mark.django_db(transaction=True)

COOKIE = "stranger=1; SameSite=None; Secure; Path=/"


@dataclass
class Study:
    """The requester's server: a page that shows its parameters and hands in what was answered."""

    url: str = ""
    cookies: list[str | None] = field(default_factory=list)


def requesters_page(path: str) -> str:
    given = {name: values[0] for name, values in parse_qs(urlsplit(path).query).items()}
    shown = "".join(f"<dd id={name}>{html.escape(value)}</dd>" for name, value in given.items())
    # Joined as many pages do, with one slash too many.
    action = html.escape(f"{given.get('turkSubmitTo', '')}/mturk/externalSubmit")
    assignment = html.escape(given["assignmentId"])
    return f"""<!doctype html><html lang=en><title>A study</title><dl>{shown}</dl>
        <form method=post action="{action}">
        <input type=hidden name=assignmentId value="{assignment}">
        <label>Answer <input name=answer></label><button>Submit</button></form>"""


@pytest.fixture
def study() -> Iterator[Study]:
    made = Study()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if not self.path.startswith("/study?"):
                self.send_error(404)
                return
            made.cookies.append(self.headers["Cookie"])
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Set-Cookie", COOKIE)
            self.end_headers()
            self.wfile.write(requesters_page(self.path).encode())

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        made.url = f"http://localhost:{server.server_port}/study?key=a%26b"
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield made
        server.shutdown()
        thread.join()


@pytest.fixture
def market(live_server: LiveServer, settings: LazySettings) -> str:
    settings.MARKETPLACE_HOST = f"127.0.0.1:{live_server.thread.port}"
    return f"http://{settings.MARKETPLACE_HOST}"


@pytest.fixture
def worker() -> Worker:
    return world.worker(approved_before=20)


@pytest.fixture
def hit(study: Study) -> HIT:
    return world.hit(world.hit_type(world.requester(), title="Captions"), url=study.url)


def logged_in(visitor: Visitor, market: str, worker: Worker, **options: object) -> Page:
    page: Page = visitor(**options).new_page()
    page.goto(f"{market}/login/")
    page.get_by_label("Name or worker id").fill(worker.name)
    page.get_by_label("Password").fill(world.PASSWORD)
    page.get_by_role("button", name="Log in").click()
    expect(page.get_by_role("heading", name="HITs", exact=True)).to_be_visible()
    return page


def accepted(page: Page) -> FrameLocator:
    page.get_by_role("button", name="Accept Captions").click()
    return page.frame_locator("#frame")


def reach(page: Page, name: str) -> None:
    for _ in range(60):
        page.keyboard.press("Tab")
        if name in str(page.evaluate("document.activeElement.innerText || ''")):
            return
    raise AssertionError(f"{name!r} cannot be reached by Tab on {page.url}")


def test_a_hit_is_previewed_accepted_and_handed_in_from_its_frame(
    visitor: Visitor, market: str, worker: Worker, hit: HIT
) -> None:
    page = logged_in(visitor, market, worker)
    page.get_by_role("link", name="Preview Captions").click()
    frame = page.frame_locator("#frame")
    expect(frame.locator("#assignmentId")).to_have_text("ASSIGNMENT_ID_NOT_AVAILABLE")
    expect(frame.locator("#key")).to_have_text("a&b")
    page.get_by_role("button", name="Accept").click()
    expect(frame.locator("#workerId")).to_have_text(worker.worker_id)
    expect(frame.locator("#turkSubmitTo")).to_have_text(f"{market}/")
    expect(page.locator("#clock")).to_have_text(re.compile(r"\d\d:\d\d left"))
    page.locator("#frame").evaluate("frame => { frame.src = 'about:blank' }")
    expect(frame.locator("#workerId")).to_be_hidden()
    page.get_by_role("link", name="Load again").click()
    frame.get_by_label("Answer").fill("four")
    frame.get_by_role("button", name="Submit").click()
    expect(page.get_by_role("heading", name="Submitted")).to_be_visible()
    handed_in = Assignment.objects.get(hit=hit)
    assert handed_in.status == Assignment.Status.SUBMITTED
    assert "<FreeText>four</FreeText>" in handed_in.answer
    page.get_by_role("link", name="My work").first.click()
    expect(page.get_by_text("Pending").last).to_be_visible()


def test_cookies_of_the_frame_are_third_party_and_blocked(
    visitor: Visitor, market: str, worker: Worker, hit: HIT, study: Study
) -> None:
    page = logged_in(visitor, market, worker)
    study_page = page.context.new_page()
    address = f"{study.url}&assignmentId=x"
    study_page.goto(address)
    study_page.goto(address)
    assert study.cookies == [None, "stranger=1"]
    frame = accepted(page)
    expect(frame.locator("#workerId")).to_be_visible()
    assert study.cookies[2:] == [None]


def cookies_sent(context: BrowserContext, market: str) -> list[str]:
    return [cookie["name"] for cookie in context.cookies(market)]


def test_the_only_cookie_is_the_log_in_and_the_frame_hands_in_without_it(
    visitor: Visitor, market: str, worker: Worker, hit: HIT
) -> None:
    page = logged_in(visitor, market, worker)
    frame = accepted(page)
    with page.expect_request("**/mturk/externalSubmit") as submitted:
        frame.get_by_role("button", name="Submit").click()
    expect(page.get_by_role("heading", name="Submitted")).to_be_visible()
    assert "cookie" not in submitted.value.all_headers()
    assert cookies_sent(page.context, market) == ["marketplace_worker"]


def test_the_frame_cannot_leave_open_windows_or_raise_dialogs(
    visitor: Visitor, market: str, worker: Worker, hit: HIT
) -> None:
    page = logged_in(visitor, market, worker)
    dialogs: list[str] = []

    def note(dialog: Dialog) -> None:
        dialogs.append(dialog.message)
        dialog.dismiss()

    page.on("dialog", note)
    expect(accepted(page).locator("#workerId")).to_be_visible()
    frame = page.frames[1]
    opened = frame.evaluate(
        """() => {
            alert("hello");
            try { top.location = "about:blank"; } catch { /* as it should */ }
            return window.open("about:blank") !== null;
        }"""
    )
    assert (opened, dialogs) == (False, [])
    expect(page.frame_locator("#frame").locator("#workerId")).to_be_visible()
    assert page.url.startswith(market)


def test_work_goes_on_without_scripts_around_the_frame(
    visitor: Visitor, market: str, worker: Worker, hit: HIT
) -> None:
    page = logged_in(visitor, market, worker, java_script_enabled=False)
    frame = accepted(page)
    expect(page.get_by_text("1 hour allotted")).to_be_visible()
    frame.get_by_role("button", name="Submit").click()
    expect(frame.get_by_role("heading", name="Submitted")).to_be_visible()
    page.get_by_role("link", name="Submitted? Continue").click()
    expect(page.get_by_role("heading", name="Submitted")).to_be_visible()


def test_a_hit_whose_time_runs_out_is_taken_from_the_page(
    visitor: Visitor, market: str, worker: Worker, hit: HIT
) -> None:
    page = logged_in(visitor, market, worker)
    expect(accepted(page).locator("#workerId")).to_be_visible()
    deadline = timezone.now() + timedelta(seconds=3)
    Assignment.objects.filter(hit=hit).update(deadline=deadline)
    page.reload()
    expect(page.get_by_role("heading", name="This HIT is not with you any more")).to_be_visible()


def test_a_worker_needs_nothing_but_the_keyboard(
    visitor: Visitor, market: str, worker: Worker, hit: HIT
) -> None:
    page = logged_in(visitor, market, worker)
    reach(page, "Preview")
    page.keyboard.press("Enter")
    page.wait_for_url("**/hits/*/")
    reach(page, "Accept")
    page.keyboard.press("Enter")
    page.wait_for_url("**/assignments/*/")
    reach(page, "Return")
    page.keyboard.press("Enter")
    expect(page.get_by_text("The HIT was returned.")).to_be_visible()


def test_pages_fit_and_have_no_barriers(
    visitor: Visitor, market: str, worker: Worker, hit: HIT
) -> None:
    kind = hit.hit_type
    long = "Averylongwordthatnobodybroke" * 4
    needed = {
        "QualificationTypeId": "00000000000000000040",
        "Comparator": "GreaterThan",
        "IntegerValues": [500],
        "ActionsGuarded": "Accept",
    }
    guarded = world.hit(world.hit_type(kind.requester, title=long, requirements=[needed]))
    Message.objects.create(
        requester=kind.requester, worker=worker, subject="Thank you", text=f"{long}\nand more"
    )
    page = logged_in(visitor, market, worker)
    accepted(page)
    work_page = page.url
    for address in (
        work_page,
        f"{market}/",
        f"{market}/?q=nothing",
        f"{market}/hits/{guarded.hit_id}/",
        f"{market}/dashboard/",
        f"{market}/earnings/",
        f"{market}/messages/",
        f"{market}/qualifications/",
        f"{market}/login/",
        f"{market}/register/",
        f"{market}/nowhere/",
    ):
        page.goto(address)
        assert_accessible_and_fits(page, address)
