"""A worker's pages in a marketplace's sandboxed frame, on another site, without any cookie.

With SCREENSHOTS set to a folder, what the worker sees is kept there.
"""

import json
import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from time import monotonic
from typing import Any

import pytest
from django.conf import LazySettings
from playwright.sync_api import BrowserContext, Error, Frame, Locator, Page, Playwright, expect
from pytest_django.live_server_helper import LiveServer

from hits.models import Assignment, Claim, Hit, Judgment
from hits.pipeline.publish import address_of
from hits.pipeline.submit import submit
from tests import making
from tests.browser.conftest import ARGUMENTS, chromium_path
from tests.browser.host import Host, hosting
from tests.browser.looking import screens, violations

pytestmark = pytest.mark.django_db(transaction=True)

QUESTIONS = 20
# Chromium's preference for third-party cookies.
ALLOW, BLOCK = 0, 1
QUERY = "assignmentId=REF1&hitId={hit}&workerId=WORKER1&turkSubmitTo=https%3A%2F%2Fevil.example%2F"


@pytest.fixture
def host() -> Iterator[Host]:
    with hosting() as started:
        yield started


@pytest.fixture(autouse=True)
def _configured(settings: LazySettings, host: Host, live_server: LiveServer) -> None:
    settings.CHANNELS = {"local": settings.CHANNELS["local"] | {"submit": host.origin}}
    settings.SITE_URL = live_server.url


@pytest.fixture
def hit() -> Hit:
    return making.offered(making.study(settings={"justification": False}))


Contexts = Callable[..., BrowserContext]


@pytest.fixture
def contexts(playwright_started: Playwright, tmp_path: Path) -> Iterator[Contexts]:
    """Chromium with a profile of its own, in which third-party cookies are blocked or not."""
    opened: list[BrowserContext] = []

    def start(
        width: int = 1280, height: int = 800, blocks: bool = True, **options: Any
    ) -> BrowserContext:
        profile = tmp_path / f"profile{len(opened)}"
        (profile / "Default").mkdir(parents=True)
        wanted = {"profile": {"cookie_controls_mode": BLOCK if blocks else ALLOW}}
        (profile / "Default" / "Preferences").write_text(json.dumps(wanted))
        context = playwright_started.chromium.launch_persistent_context(
            profile,
            executable_path=chromium_path(),
            args=ARGUMENTS,
            viewport={"width": width, "height": height},
            **options,
        )
        context.set_default_timeout(60_000)
        opened.append(context)
        return context

    yield start
    for context in opened:
        context.close()


def accepted(hit: Hit) -> str:
    return f"{address_of(hit)}?{QUERY.format(hit=hit.hit_id)}"


def previewed(hit: Hit) -> str:
    return f"{address_of(hit)}?assignmentId=ASSIGNMENT_ID_NOT_AVAILABLE&hitId={hit.hit_id}"


def show(context: BrowserContext, host: Host, address: str) -> tuple[Page, Frame]:
    page = context.new_page()
    page.goto(host.framing(address))
    return page, work(page)


def work(page: Page) -> Frame:
    frame = page.frame("work")
    assert frame is not None
    return frame


def press(button: Locator, until: Locator) -> None:
    """As a person would, who presses again when nothing happens.

    Chromium can lose a click on a frame of another site that has only just been loaded.
    """
    for _ in range(6):
        button.click()
        try:
            expect(until).to_be_visible(timeout=10_000)
        except AssertionError:
            continue
        return
    expect(until).to_be_visible()


def start(frame: Frame) -> None:
    close = frame.get_by_role("button", name="Close").first
    press(frame.get_by_role("button", name="I agree and start"), until=close)
    close.click()


def answer(frame: Frame, questions: range) -> None:
    for number in questions:
        frame.locator(f"#q{number}.is-current label.choice").first.click()


def keep(page: Page, name: str) -> None:
    if folder := os.environ.get("SCREENSHOTS"):
        page.screenshot(path=Path(folder) / f"{name}.png")


def wait_until(page: Page, holds: Callable[[], bool]) -> None:
    deadline = monotonic() + 30
    while not holds():
        assert monotonic() < deadline, "it did not come about"
        page.wait_for_timeout(50)


def saved_answers() -> int:
    draft = Assignment.objects.get().draft
    return sum(name.endswith("-choice") for name in draft)


@pytest.mark.parametrize("blocks", [True, False])
def test_third_party_cookies_come_through_only_where_they_are_not_blocked(
    host: Host, contexts: Contexts, blocks: bool
) -> None:
    context = contexts(blocks=blocks)
    with hosting("localhost") as stranger:
        for _ in range(2):
            context.new_page().goto(f"{stranger.origin}/cookie")
        _, frame = show(context, host, f"{stranger.origin}/cookie")
        expect(frame.locator("#told")).to_be_visible()
        assert stranger.cookies_seen == ["", "offered=1", "" if blocks else "offered=1"]


def test_from_the_preview_to_the_hand_over_without_a_cookie(
    host: Host, hit: Hit, contexts: Contexts
) -> None:
    context = contexts()
    requests: list[Any] = []
    dialogs: list[str] = []
    context.on("request", lambda request: requests.append(request))
    page, frame = show(context, host, previewed(hit))
    page.on("dialog", lambda dialog: dialogs.append(dialog.message))
    expect(frame.get_by_text("This is a preview.")).to_be_visible()
    expect(frame.locator(".question")).to_have_count(QUESTIONS)
    expect(frame.locator("#q1 input").first).to_be_disabled()
    assert not Claim.objects.exists()
    keep(page, "worker-preview")

    page.goto(host.framing(accepted(hit)))
    start(work(page))
    answer(work(page), range(1, 13))
    wait_until(page, lambda: saved_answers() == 12)
    keep(page, "worker-page")
    page.reload()
    frame = work(page)
    expect(frame.locator("#q13")).to_have_class(re.compile("is-current"))
    assert Assignment.objects.count() == 1

    answer(frame, range(13, QUESTIONS + 1))
    frame.locator("#submit").click()
    expect(frame.locator("#received")).to_be_visible()

    claim = Claim.objects.select_related("assignment").get()
    assert claim.assignment is not None
    assert host.received == [
        {"assignmentId": "REF1", "workerId": "WORKER1", "receipt": str(claim.assignment.key)}
    ]
    assert claim.assignment.state == Assignment.State.SUBMITTED
    assert Judgment.objects.count() == QUESTIONS
    wait_until(page, lambda: Claim.objects.get().handed_over_at is not None)

    assert not dialogs
    assert context.cookies() == []
    ours = [request for request in requests if "/hit/" in request.url]
    assert len(ours) > 15
    for request in ours:
        assert "cookie" not in request.all_headers()
        answered = request.response()
        assert answered is None or "set-cookie" not in answered.all_headers()


def test_it_works_where_the_browser_lets_nothing_be_kept(
    host: Host, hit: Hit, contexts: Contexts
) -> None:
    page, frame = show(contexts(), host, accepted(hit))
    start(frame)
    answer(frame, range(1, 3))
    wait_until(page, lambda: saved_answers() == 2)
    assert frame.evaluate("document.cookie") == ""
    with pytest.raises(Error, match="Access is denied"):
        frame.evaluate("localStorage.length")


def test_after_a_failed_hand_over_the_work_is_handed_over_again(
    host: Host, hit: Hit, contexts: Contexts
) -> None:
    host.is_down = True
    page, frame = show(contexts(), host, accepted(hit))
    start(frame)
    answer(frame, range(1, QUESTIONS + 1))
    frame.locator("#submit").click()
    expect(frame.locator("#down")).to_be_visible()
    assert not host.received
    wait_until(page, lambda: Claim.objects.get().handed_over_at is not None)

    host.is_down = False
    page.reload()
    frame = work(page)
    again = frame.get_by_role("button", name="Hand over again")
    expect(again).to_be_visible()
    assert not host.received
    keep(page, "worker-hand-over")
    again.click()
    expect(frame.locator("#received")).to_be_visible()
    assert len(host.received) == 1
    assert Judgment.objects.count() == QUESTIONS


def test_everything_works_without_script(host: Host, contexts: Contexts) -> None:
    study = making.study(
        making.corpus(images=12), settings={"candidates_a_page": 4, "justification": False}
    )
    hit = making.offered(study)
    _, frame = show(contexts(java_script_enabled=False), host, accepted(hit))
    frame.get_by_role("button", name="I agree and start").click()
    frame.locator("#instructions > summary").click()
    for number in range(1, 6):
        frame.locator(f"#q{number} input[value=yes]").check()
    frame.locator("#submit").click()
    expect(frame.locator(".notice.bad")).to_contain_text("1 answer is missing")
    expect(frame.locator("#q1 input[value=yes]")).to_be_checked()
    frame.locator("#q6 input[value=no]").check()
    frame.locator("#submit").click()
    press(frame.get_by_role("button", name="Hand over"), until=frame.locator("#received"))
    assert len(host.received) == 1
    assert Judgment.objects.count() == 6


def test_a_pass_that_has_run_out_is_renewed_and_nothing_is_lost(
    host: Host, hit: Hit, contexts: Contexts
) -> None:
    page, frame = show(contexts(), host, accepted(hit))
    start(frame)
    frame.evaluate("document.querySelector('[name=token]').value = 'run out'")
    answer(frame, range(1, 3))
    wait_until(page, lambda: saved_answers() == 2)


def test_a_stranger_cannot_frame_it_and_a_marketplace_frames_nothing_else(
    host: Host, hit: Hit, contexts: Contexts, live_server: LiveServer
) -> None:
    context = contexts()
    with hosting() as stranger:
        assert_refused(context, stranger, accepted(hit))
    assert_refused(context, host, f"{live_server.url}/login/")
    _, frame = show(context, host, accepted(hit))
    expect(frame.get_by_role("button", name="I agree and start")).to_be_visible()


def assert_refused(context: BrowserContext, host: Host, address: str) -> None:
    page = context.new_page()
    page.goto(host.framing(address))
    wait_until(page, lambda: page.frames[-1].url.startswith("chrome-error:"))
    page.close()


def test_a_frame_does_not_follow_where_the_address_says_to_submit(
    host: Host, hit: Hit, contexts: Contexts
) -> None:
    page, frame = show(contexts(), host, accepted(hit))
    start(frame)
    blocked = frame.evaluate(
        """() => new Promise((resolve) => {
            addEventListener("securitypolicyviolation", (event) => resolve(event.blockedURI));
            const form = document.createElement("form");
            Object.assign(form, { method: "post", action: "https://evil.example/mturk/" });
            document.body.append(form);
            form.submit();
            setTimeout(() => resolve("not blocked"), 5000);
        })"""
    )
    assert "evil.example" in blocked
    assert "evil.example" not in page.frame("work").url.partition("?")[0]  # type: ignore[union-attr]


@pytest.mark.parametrize(("width", "height"), [(360, 640), (768, 1024), (1440, 900)])
def test_the_frame_shows_the_page_whole_and_the_bar_stays_in_sight(
    host: Host, hit: Hit, contexts: Contexts, width: int, height: int
) -> None:
    page, frame = show(contexts(width, height), host, accepted(hit))
    keep(page, f"worker-consent-{width}")
    start(frame)
    answer(frame, range(1, 2))
    expect(frame.locator("#q2")).to_have_class(re.compile("is-current"))
    keep(page, f"worker-page-{width}")
    assert_no_sideways_scroll(frame)
    bottom = "document.querySelector('.hit-bar').getBoundingClientRect().bottom - innerHeight"
    for _ in range(2):
        assert abs(frame.evaluate(bottom)) < 1
        frame.evaluate("scrollTo(0, 1e6)")
    inner = """[...document.querySelectorAll("main, main *")].filter((each) =>
        ["auto", "scroll"].includes(getComputedStyle(each).overflowY)
        && each.scrollHeight > each.clientHeight + 1 && each.checkVisibility()).length"""
    assert frame.evaluate(inner) == 0


def test_no_page_in_the_frame_has_an_obstacle(host: Host, contexts: Contexts) -> None:
    study = making.study(making.corpus(images=12), settings={"candidates_a_page": 4})
    hit = making.offered(study)
    page, frame = show(contexts(), host, previewed(hit))
    expect(frame.locator(".question").first).to_be_visible()
    assert_no_obstacle(page, "preview")
    page.goto(host.framing(accepted(hit)))
    assert_no_obstacle(page, "consent")
    start(work(page))
    assert_no_obstacle(page, "page")
    host.is_down = True
    finish(Claim.objects.get())
    page.reload()
    expect(work(page).locator("#down")).to_be_visible()
    page.reload()
    expect(work(page).get_by_role("button", name="Hand over again")).to_be_visible()
    assert_no_obstacle(page, "hand-over")


def finish(claim: Claim) -> None:
    assert claim.assignment is not None
    submit(
        assignment_key=claim.assignment.key,
        account=claim.account,
        fields=making.truthful(claim.assignment),
    )


def assert_no_sideways_scroll(frame: Frame) -> None:
    assert frame.evaluate("document.documentElement.scrollWidth <= innerWidth")


def assert_no_obstacle(page: Page, name: str) -> None:
    for screen in screens(page):
        keep(page, f"worker-{name}-{screen.replace(' ', '-')}")
        assert_no_sideways_scroll(work(page))
        assert (name, screen, violations(work(page))) == (name, screen, [])


def test_one_study_with_two_hits_open_in_two_windows_has_two_pages(
    host: Host, hit: Hit, contexts: Contexts
) -> None:
    other = making.hit(hit.publication)
    context = contexts()
    _, first = show(context, host, accepted(hit))
    start(first)
    _, second = show(context, host, accepted(other).replace("REF1", "REF2"))
    expect(second.locator("#submit")).to_be_visible()
    assert Assignment.objects.count() == 2
