"""The page of a HIT as a person meets it, in a real browser on the real pipeline."""

import re
from datetime import datetime, timedelta
from time import monotonic
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from hits.models import Account, Assignment, Judgment, Study
from hits.pipeline.draw import draw
from tests import making
from tests.browser.conftest import Visitor
from tests.browser.keyboard import press, press_in_haste
from tests.browser.looking import assert_accessible_and_fits, violations

pytestmark = pytest.mark.django_db(transaction=True)
QUESTIONS = 6
SOMETHING_ELSE = "v"


@pytest.fixture
def study() -> Study:
    return making.study(making.corpus(images=12), settings={"candidates_a_page": 4}, pay="0.65")


@pytest.fixture
def account(study: Study) -> Account:
    return making.rater(study)


@pytest.fixture
def assignment(study: Study, account: Account) -> Assignment:
    return draw(study=study, account=account)


@pytest.fixture
def page(visitor: Visitor, account: Account, assignment: Assignment) -> Page:
    return show(visitor(account.user), assignment)


def show(context: Any, assignment: Assignment, **options: Any) -> Page:
    page: Page = context.new_page()
    page.goto(f"/work/{assignment.key}/", **options)
    return page


def wait_for_image(page: Page, position: int) -> None:
    expect(page.locator(f"#q{position} .stage img")).to_have_js_property("naturalWidth", 64)


def current(page: Page) -> int:
    shown = page.locator(".question.is-current").get_attribute("data-position")
    return int(shown or 0)


def saved(page: Page, assignment: Assignment, field: str) -> list[str]:
    """What the server has of a field, as soon as it has it and the page says so."""
    wait_for_draft(page, assignment, field)
    expect(page.locator("#saved")).to_have_text(re.compile(r"Saved \d\d:\d\d"))
    return list(assignment.draft[field])


def wait_for_draft(page: Page, assignment: Assignment, field: str) -> None:
    deadline = monotonic() + 20
    while monotonic() < deadline:
        assignment.refresh_from_db()
        if field in assignment.draft:
            return
        page.wait_for_timeout(50)
    raise AssertionError(f"{field} was not saved")


def test_a_whole_page_is_done_by_keyboard_alone(page: Page, assignment: Assignment) -> None:
    press(page, "1", "4")
    expect(page.locator("#q3")).to_be_visible()
    press(page, "2", "q", "Enter")
    press(page, "3", "e")
    page.locator("#q4 .part-c").wait_for()
    press(page, page.locator("#q4 [value=age]").get_attribute("data-key") or "", "ArrowRight")
    press(page, "1")
    expect(page.locator("#q6")).to_be_visible()
    press(page, "4")
    expect(page.locator("#submit")).to_be_focused()
    press(page, "Enter")
    page.wait_for_url("**/done/")
    answers = dict(Judgment.objects.values_list("slot__position", "answer"))
    assert answers == {
        1: {"choice": "yes"},
        2: {"choice": "no"},
        3: {"choice": "partial_yes", "reasons": ["absent"]},
        4: {"choice": "mostly_no", "reasons": ["wrong"], "errors": ["age"]},
        5: {"choice": "yes"},
        6: {"choice": "no"},
    }
    assignment.refresh_from_db()
    assert assignment.device == "keyboard"


@pytest.fixture
def paused(visitor: Visitor, account: Account, assignment: Assignment) -> Page:
    """A page whose time goes on only when a test says so."""
    page = visitor(account.user).new_page()
    page.clock.install()
    page.goto(f"/work/{assignment.key}/")
    wait_for_image(page, 2)
    page.clock.pause_at(datetime.now() + timedelta(seconds=30))
    return page


def test_a_key_pressed_twice_in_haste_answers_no_question_that_nobody_saw(paused: Page) -> None:
    press_in_haste(paused, "1", "1")
    paused.clock.run_for(150)
    expect(paused.locator("#q2")).to_be_visible()
    press_in_haste(paused, "1")
    expect(paused.locator("#q2 input:checked")).to_have_count(0)
    paused.clock.run_for(300)
    press_in_haste(paused, "4")
    expect(paused.locator("#q2 [value=no]")).to_be_checked()
    paused.clock.run_for(150)
    assert current(paused) == 3


def test_a_question_is_not_answered_by_a_key_before_its_image_is_there(
    visitor: Visitor, account: Account, assignment: Assignment
) -> None:
    waiting: list[Route] = []
    page = visitor(account.user).new_page()
    page.route("**/images/*", lambda route: waiting.append(route))
    page.clock.install()
    page.goto(f"/work/{assignment.key}/", wait_until="domcontentloaded")
    expect(page.locator("#next")).to_be_visible()
    page.clock.pause_at(datetime.now() + timedelta(seconds=30))
    press_in_haste(page, "ArrowRight")
    page.clock.run_for(1000)
    press_in_haste(page, "1")
    expect(page.locator("#q2 input:checked")).to_have_count(0)
    for route in waiting:
        route.continue_()
    wait_for_image(page, 2)
    page.clock.run_for(500)
    press_in_haste(page, "1")
    expect(page.locator("#q2 [value=yes]")).to_be_checked()


def test_a_double_click_answers_one_question(paused: Page) -> None:
    box = paused.locator("#q1 .choice").first.bounding_box()
    assert box
    for _ in range(2):
        paused.mouse.click(box["x"] + 40, box["y"] + 10)
        paused.clock.run_for(150)
    assert current(paused) == 2
    expect(paused.locator("#q2 input:checked")).to_have_count(0)


def test_enter_after_an_answer_that_moved_on_skips_nothing(paused: Page) -> None:
    press_in_haste(paused, "1", "Enter")
    expect(paused.locator("#q2")).to_be_visible()
    paused.clock.run_for(200)
    press_in_haste(paused, "Enter")
    assert current(paused) == 2
    paused.clock.run_for(1000)
    press_in_haste(paused, "Enter")
    expect(paused.locator("#q3")).to_be_visible()


def test_a_middle_choice_stays_and_asks_for_its_reasons(page: Page) -> None:
    expect(page.locator("#q1 .part-b")).to_be_hidden()
    press(page, "2")
    expect(page.locator("#q1 .part-b")).to_be_visible()
    expect(page.locator("#q1 .part-c")).to_be_hidden()
    press(page, "Enter")
    expect(page.locator("#q1 .error")).to_have_text("Choose at least one, then go on.")
    assert current(page) == 1
    press(page, "e")
    expect(page.locator("#q1 .part-c")).to_be_visible()


def test_what_opens_moves_nothing_above_it(page: Page) -> None:
    choice = page.locator("#q1 .choice").nth(3)
    before = choice.bounding_box()
    page.locator("#q1 .choice").nth(1).click()
    expect(page.locator("#q1 .part-b")).to_be_visible()
    assert choice.bounding_box() == before


def test_undo_takes_the_last_answer_back_and_goes_to_it(page: Page) -> None:
    press(page, "1")
    expect(page.locator("#q2")).to_be_visible()
    press(page, "4")
    expect(page.locator("#q3")).to_be_visible()
    press(page, "u")
    expect(page.locator("#q2")).to_be_visible()
    expect(page.locator("#q2 input[type=radio]:checked")).to_have_count(0)
    press(page, "u")
    expect(page.locator("#q1 input[type=radio]:checked")).to_have_count(0)
    expect(page.locator("#undo")).to_be_disabled()
    press(page, "u")
    expect(page.locator("#announcer")).to_have_text("There is nothing to undo.")


def test_what_a_page_came_with_can_be_undone_too(page: Page, assignment: Assignment) -> None:
    press(page, "1", "4")
    saved(page, assignment, "q2-choice")
    page.reload()
    expect(page.locator("#q3")).to_be_visible()
    press(page, "u")
    expect(page.locator("#q2")).to_be_visible()
    expect(page.locator("#q2 input:checked")).to_have_count(0)
    expect(page.locator("#q1 [value=yes]")).to_be_checked()


def test_walking_through_the_choices_with_the_arrows_stays(page: Page) -> None:
    page.locator("#q1 input[type=radio]").first.focus()
    press(page, "Space", "ArrowUp")
    expect(page.locator("#q1 [value=no]")).to_be_checked()
    page.wait_for_timeout(300)
    assert current(page) == 1


def test_a_closed_tab_loses_nothing(visitor: Visitor, page: Page, assignment: Assignment) -> None:
    press(page, "1", "4", "1")
    another = page.context.new_page()
    page.close(run_before_unload=True)
    wait_for_draft(another, assignment, "q3-choice")
    again = show(page.context, assignment)
    expect(again.locator("#q4")).to_be_visible()
    assert current(again) == 4
    expect(again.locator("#q3 [value=yes]")).to_be_checked()
    expect(again.locator("#saved")).to_have_text(re.compile("Saved"))


def test_submit_waits_for_the_last_answer_and_names_what_is_missing(page: Page) -> None:
    for position in (1, 3, 5, 6):
        page.locator("#dots a").nth(position - 1).click()
        press(page, "1")
    expect(page.locator("#submit")).to_be_disabled()
    expect(page.locator("#missing")).to_have_text("2 answers missing: 2, 4")
    page.locator("#missing a").last.click()
    expect(page.locator("#q4")).to_be_visible()
    press(page, "1")
    page.locator("#missing a").click()
    press(page, "1")
    expect(page.locator("#submit")).to_be_enabled()
    expect(page.locator("#missing")).to_have_count(0)


def test_a_link_to_what_is_missing_may_be_held_while_the_page_moves_on(paused: Page) -> None:
    paused.locator("#dots a").nth(4).click()
    wait_for_image(paused, 6)
    press(paused, "1")
    paused.clock.run_for(1000)
    press(paused, "1")
    paused.locator("#missing a").nth(1).hover()
    paused.mouse.down()
    paused.clock.run_for(1000)
    paused.mouse.up()
    assert current(paused) == 2


def test_a_failing_network_is_said_and_saving_goes_on_by_itself(
    page: Page, assignment: Assignment
) -> None:
    page.route("**/save", lambda route: route.abort())
    press(page, "1")
    expect(page.locator("#saving")).to_contain_text("Not saved yet, trying again")
    with page.expect_event("dialog") as warning:
        page.evaluate("setTimeout(() => (location.href = '/'))")
    assert warning.value.type == "beforeunload"
    warning.value.dismiss()
    page.unroute("**/save")
    assert saved(page, assignment, "q1-choice") == ["yes"]
    expect(page.locator("#saving")).to_have_count(0)


def test_an_answer_that_never_came_back_is_saved_again(page: Page, assignment: Assignment) -> None:
    def lose_the_answer(route: Route) -> None:
        route.fetch()
        route.abort()

    page.route("**/save", lose_the_answer, times=1)
    press(page, "1")
    assert saved(page, assignment, "q1-choice") == ["yes"]


def test_an_older_window_is_told_to_load_the_newer_answers(
    page: Page, assignment: Assignment
) -> None:
    other = show(page.context, assignment)
    press(other, "4")
    saved(other, assignment, "q1-choice")
    page.bring_to_front()
    press(page, "1")
    expect(page.locator("#saving")).to_contain_text("saved from another window")
    page.get_by_role("link", name="Load the newer answers").click()
    expect(page.locator("#q1 [value=no]")).to_be_checked()


@pytest.mark.parametrize("is_told", [False, True], ids=["unaware", "told"])
def test_an_older_window_does_not_submit_over_newer_answers(
    page: Page, assignment: Assignment, is_told: bool
) -> None:
    press(page, *"111111")
    assert saved(page, assignment, "q6-choice") == ["yes"]
    other = show(page.context, assignment)
    expect(other.locator("#submit")).to_be_enabled()
    page.bring_to_front()
    with page.expect_response("**/save"):
        press(page, "4")
    other.bring_to_front()
    if is_told:
        press(other, "p")
        other.keyboard.type("dark")
        expect(other.locator("#saving")).to_contain_text("saved from another window")
    other.locator("#submit").click()
    expect(other.locator("#saving")).to_contain_text("so this is not submitted")
    other.get_by_role("link", name="Load the newer answers").click()
    expect(other.locator("#q6 [value=no]")).to_be_checked()
    assert not Judgment.objects.exists()


def test_answers_survive_being_logged_out(
    page: Page, account: Account, assignment: Assignment
) -> None:
    cookies = page.context.cookies()
    page.context.clear_cookies()
    press(page, "1")
    expect(page.locator("#saving")).to_contain_text("you are logged out")
    login = next(cookie for cookie in cookies if cookie["name"] == "sessionid")
    page.context.add_cookies([{"name": "sessionid", "value": login["value"], "url": page.url}])
    assert saved(page, assignment, "q1-choice") == ["yes"]


def test_a_refused_submission_shows_where_and_loses_nothing(page: Page) -> None:
    page.route(
        "**/submit", lambda route: route.fulfill(status=422, json={"errors": {"q3-choice": "No."}})
    )
    press(page, *"111111")
    expect(page.locator("#submit")).to_be_enabled()
    page.locator("#submit").click()
    expect(page.locator("#q3 .error")).to_have_text("No.")
    expect(page.locator("#q3 [value=yes]")).to_be_checked()
    assert current(page) == 3


def test_a_broken_image_can_be_reported_instead_of_answered(
    visitor: Visitor, account: Account, assignment: Assignment
) -> None:
    context = visitor(account.user)
    context.route("**/images/*", lambda route: route.abort())
    page = show(context, assignment)
    page.get_by_role("button", name="Report it and go on").click()
    expect(page.locator("#q2")).to_be_visible()
    expect(page.locator("#dots a").first).to_have_attribute("aria-label", "Question 1, answered")
    assert saved(page, assignment, "q1-broken") == ["1"]


def test_a_problem_is_kept_with_the_answer(page: Page, assignment: Assignment) -> None:
    press(page, "p")
    page.keyboard.type("1 is odd")
    press(page, "Escape", "1")
    expect(page.locator("#q2")).to_be_visible()
    assert saved(page, assignment, "q1-problem") == ["1 is odd"]


def test_something_else_is_written_and_chooses_no_answer(
    page: Page, assignment: Assignment
) -> None:
    press(page, "2", "e", SOMETHING_ELSE)
    expect(page.locator("#q1-other")).to_be_focused()
    page.keyboard.type("a 4 with aqua")
    press(page, "Enter")
    expect(page.locator("#q2")).to_be_visible()
    assert saved(page, assignment, "q1-other") == ["a 4 with aqua"]
    assert assignment.draft["q1-choice"] == ["partial_yes"]
    assert assignment.draft["q1-errors"] == ["other"]


def test_escape_leaves_the_line_for_something_else_and_the_keys_answer_again(page: Page) -> None:
    press(page, "2", "e", SOMETHING_ELSE)
    page.keyboard.type("x")
    press(page, "Escape")
    expect(page.locator("#q1")).to_be_focused()
    press(page, "q")
    expect(page.locator("#q1 [value=absent]")).to_be_checked()
    expect(page.locator("#q1-other")).to_have_value("x")
    expect(page.locator("#q1-other")).not_to_be_focused()


def test_the_pointer_too_goes_on_writing_in_what_it_opened(page: Page) -> None:
    press(page, "2", "e")
    page.locator("#q1 .choice:has([value=other])").click()
    expect(page.locator("#q1-other")).to_be_focused()
    page.locator("#q1 .problem > summary").click()
    expect(page.locator("#q1-problem")).to_be_focused()
    page.locator("#q1 .problem > summary").click()
    expect(page.locator("#q1-problem")).to_be_hidden()


IS_ON_TOP = """dialog => [[0.02, 0.02], [0.5, 0.5], [0.98, 0.98], [0.8, 0.3], [0.5, 0.98]].every(
    ([x, y]) => dialog.contains(document.elementFromPoint(innerWidth * x, innerHeight * y)))"""


@pytest.mark.parametrize("means", ["Escape", "z", "Close"])
def test_an_enlarged_image_covers_everything_until_it_is_closed(page: Page, means: str) -> None:
    large = page.locator("#large")
    press(page, "z")
    box = large.locator("img").bounding_box()
    assert box == {"x": 0, "y": 0, "width": 1280, "height": 800}
    assert large.evaluate(IS_ON_TOP)
    if means == "Close":
        large.get_by_role("button", name=means).click()
    else:
        press(page, means)
    expect(large).to_be_hidden()
    expect(page.locator("#q1")).to_be_focused()


def test_an_enlarged_image_is_larger_in_a_narrow_window_too_and_can_be_moved(
    visitor: Visitor, account: Account, assignment: Assignment
) -> None:
    page = show(visitor(account.user, width=360, height=740, has_touch=True), assignment)
    page.locator("#q1 .stage img").tap()
    large = page.locator("#large")
    expect(large.locator("img")).to_have_js_property("offsetWidth", 720)
    assert large.evaluate(IS_ON_TOP)
    assert large.evaluate("dialog => dialog.scrollLeft") == 180
    assert violations(page) == []
    large.get_by_role("button", name="Close").tap()
    expect(large).to_be_hidden()


def test_one_answers_while_the_image_is_enlarged(page: Page) -> None:
    press(page, "z", "4")
    expect(page.locator("#q2")).to_be_focused()
    expect(page.locator("#q1 [value=no]")).to_be_checked()
    expect(page.locator("#large")).to_be_hidden()


def test_nothing_moves_when_an_image_loads(
    visitor: Visitor, account: Account, assignment: Assignment
) -> None:
    waiting: list[Route] = []
    context = visitor(account.user, width=360, height=740)
    context.route("**/images/*", lambda route: waiting.append(route))
    page = show(context, assignment, wait_until="domcontentloaded")
    choice = page.locator("#q1 .choice").first
    expect(page.locator("#next")).to_be_visible()
    before = choice.bounding_box()
    for route in waiting:
        route.continue_()
    wait_for_image(page, 1)
    assert choice.bounding_box() == before


def test_the_next_images_are_there_before_they_are_asked_for(page: Page) -> None:
    expect(page.locator("#q4")).to_be_hidden()
    wait_for_image(page, 4)


def test_all_questions_can_be_shown_at_once_and_it_is_remembered(
    page: Page, assignment: Assignment
) -> None:
    expect(page.locator(".question:visible")).to_have_count(1)
    with page.expect_response("**/save"):
        press(page, "a")
    expect(page.locator(".question:visible")).to_have_count(QUESTIONS)
    page.reload()
    expect(page.locator(".question:visible")).to_have_count(QUESTIONS)
    press(page, "1", "4")
    expect(page.locator("#q2 [value=no]")).to_be_checked()


def milliseconds(page: Page, position: int) -> int:
    return int(page.locator(f"[name=q{position}-ms]").input_value())


@pytest.fixture
def timed(visitor: Visitor, account: Account, assignment: Assignment) -> Page:
    page = visitor(account.user).new_page()
    page.clock.install()
    page.goto(f"/work/{assignment.key}/")
    expect(page.locator("#next")).to_be_visible()
    return page


def test_time_goes_to_the_question_in_sight(timed: Page) -> None:
    timed.clock.run_for(5_000)
    press(timed, "ArrowRight")
    timed.clock.run_for(3_000)
    press(timed, "ArrowRight")
    assert 4_900 < milliseconds(timed, 1) < 6_500
    assert 2_900 < milliseconds(timed, 2) < 4_500


def test_time_stops_a_minute_after_the_last_sign_of_a_person(timed: Page) -> None:
    timed.clock.run_for(600_000)
    press(timed, "ArrowRight")
    assert 59_000 < milliseconds(timed, 1) < 61_500


def test_time_in_a_hidden_tab_does_not_count(timed: Page) -> None:
    hide = """state => {
        Object.defineProperty(document, "visibilityState", { value: state, configurable: true });
        document.dispatchEvent(new Event("visibilitychange"));
    }"""
    timed.clock.run_for(2_000)
    timed.evaluate(hide, "hidden")
    timed.clock.run_for(30_000)
    timed.evaluate(hide, "visible")
    timed.clock.run_for(2_000)
    press(timed, "ArrowRight")
    assert 3_900 < milliseconds(timed, 1) < 6_000


def test_keys_answer_nothing_behind_the_instructions(page: Page) -> None:
    press(page, "i", "1")
    expect(page.get_by_role("region", name="Instructions")).to_be_focused()
    press(page, "Escape")
    expect(page.locator("#q1 input:checked")).to_have_count(0)
    press(page, "1")
    expect(page.locator("#q2")).to_be_visible()


def test_the_end_of_the_lease_is_said_before_it_comes(timed: Page) -> None:
    timed.clock.run_for(56 * 60_000)
    expect(timed.locator("#time")).to_contain_text("5 more minutes")
    timed.clock.run_for(5 * 60_000)
    expect(timed.locator("#time")).to_contain_text("time for this page is over")


def test_giving_a_page_back_asks_once_in_the_page(page: Page, assignment: Assignment) -> None:
    page.locator("#give-back summary").click()
    page.get_by_role("button", name="Give this page back").click()
    expect(page.get_by_role("status")).to_have_text("You gave the page back.")
    assignment.refresh_from_db()
    assert assignment.state == Assignment.State.RETURNED


def test_without_script_the_form_opens_its_parts_and_submits(
    visitor: Visitor, account: Account, assignment: Assignment
) -> None:
    page = show(visitor(account.user, java_script_enabled=False), assignment)
    expect(page.locator(".question:visible")).to_have_count(QUESTIONS)
    for position in range(1, QUESTIONS):
        page.locator(f"#q{position} .choice").first.click()
    page.locator("#submit").click()
    expect(page.locator("#q6 .error")).to_have_text("Choose one of the four answers.")
    expect(page.locator("#q6 .part-b")).to_be_hidden()
    page.locator("#q6 .choice").nth(1).click()
    page.locator("#q6 .part-b .choice").nth(2).click()
    page.locator("#q6 .part-c .choice").first.click()
    page.locator("#submit").click()
    expect(page.get_by_role("status")).to_contain_text("Your answers are stored")
    assert Judgment.objects.filter(answer__errors=["quantity"]).count() == 1


def test_axe_finds_nothing_and_nothing_scrolls_sideways(page: Page) -> None:
    press(page, "1")
    expect(page.locator("#q2")).to_be_visible()
    press(page, "2", "e")
    assert_accessible_and_fits(page, "a question")
    page.locator("#instructions summary").click()
    assert_accessible_and_fits(page, "the instructions")
    press(page, "Escape", "ArrowRight", "a")
    assert_accessible_and_fits(page, "all questions")


@pytest.mark.parametrize("path", ["/", "/login/", "/password/", "consent", "withdraw", "join"])
def test_axe_finds_nothing_on_the_pages_around_it(
    visitor: Visitor, study: Study, account: Account, path: str
) -> None:
    is_public = path in {"/login/", "/password/", "join"}
    if path == "join":
        path = f"/join/{study.invitations.create(created_by=study.corpus.owner).token}/"
    elif not path.startswith("/"):
        path = f"/studies/{study.slug}/{path}/"
    page = visitor(None if is_public else account.user, width=360, height=740).new_page()
    page.goto(path)
    expect(page.locator("h1")).to_have_count(1)
    assert violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") == 360
