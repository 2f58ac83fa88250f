"""The reviewer's and the researcher's desk in a real browser."""

import pytest
from playwright.sync_api import expect

from hits.models import Account, Assignment, Decision, Job, Membership, Role, Study, User
from hits.pipeline import doubt
from hits.pipeline.check import check_submitted
from hits.pipeline.draw import draw
from hits.pipeline.review import queue
from hits.pipeline.submit import submit
from tests import making
from tests.browser.conftest import Visitor
from tests.browser.looking import assert_accessible_and_fits

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def study() -> Study:
    return making.study(making.corpus(images=14), settings={"candidates_a_page": 4}, pay="0.65")


@pytest.fixture
def reviewer(study: Study) -> User:
    made = making.user(first_name="Rene")
    Membership.objects.create(study=study, user=made, role=Role.REVIEWER)
    return made


@pytest.fixture
def flagged(study: Study) -> list[Assignment]:
    """Three pages that answered yes to their true negative, in the order of the queue."""
    pages = []
    for _ in range(3):
        account = making.rater(study)
        page = draw(study=study, account=account)
        fields = making.answers(page.slots.count())
        submit(assignment_key=page.key, account=account, fields=fields)
        check_submitted()
        pages.append(page)
    return pages


def address(page: Assignment) -> str:
    return f"/review/{page.study.slug}/{page.key}/"


def decided(page: Assignment) -> tuple[str, str]:
    page.refresh_from_db()
    return page.use, page.payment


def test_a_queue_is_reviewed_by_keyboard_alone(
    visitor: Visitor, reviewer: User, study: Study, flagged: list[Assignment]
) -> None:
    first, second, third = flagged
    page = visitor(reviewer).new_page()
    page.goto(f"/review/{study.slug}/")
    page.wait_for_url(f"**{address(first)}")
    page.keyboard.press("j")
    page.wait_for_url(f"**{address(second)}")
    page.keyboard.press("k")
    page.wait_for_url(f"**{address(first)}")
    page.keyboard.press("1")
    page.wait_for_url(f"**{address(second)}")
    expect(page.get_by_text("4 units went out again")).to_be_visible()
    assert decided(first) == ("not_used", "approved")
    page.keyboard.press("2")
    page.wait_for_url(f"**{address(third)}")
    assert decided(second) == ("used", "approved")
    page.keyboard.press("u")
    page.wait_for_url(f"**{address(second)}")
    assert decided(second) == ("pending", "pending")
    page.keyboard.press("d")
    page.wait_for_url(f"**{address(third)}")
    assert decided(second) == ("not_used", "approved")
    page.keyboard.press("3")
    page.wait_for_url("**/refuse/")
    reason = page.get_by_label("Why is this work not paid?")
    while not reason.is_visible():
        page.keyboard.press("n")
        expect(page.get_by_text("Look at the whole page first").or_(reason)).to_be_visible()
    page.keyboard.press("r")
    page.keyboard.type("Every answer within 1 second: 2, 3 and 1 are only typed here.")
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Nothing waits for you.")).to_be_visible()
    assert decided(third) == ("not_used", "refused")


def test_many_pages_are_decided_on_by_keyboard_alone(
    visitor: Visitor, reviewer: User, study: Study, flagged: list[Assignment]
) -> None:
    page = visitor(reviewer).new_page()
    page.goto(address(flagged[0]))
    page.keyboard.press("b")
    page.wait_for_url("**/many/")
    first = page.get_by_role("checkbox", name="Page of rater").first
    page.keyboard.press("t")
    expect(first).not_to_be_checked()
    page.keyboard.press("t")
    expect(first).to_be_checked()
    page.keyboard.press("r")
    page.keyboard.type("Not read.")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_text("3 pages are being decided on.")).to_be_visible()
    expect(page.get_by_role("button", name="Cancel")).to_be_visible()
    asked = Job.objects.get(kind="decide").arguments
    assert (asked["use"], asked["reason"], len(asked["pages"])) == ("not_used", "Not read.", 3)


def test_thirty_flagged_pages_are_reviewed_by_keyboard_alone_with_one_undo(
    visitor: Visitor,
) -> None:
    study = making.study(making.corpus(images=14), settings={"candidates_a_page": 2})
    reviewer = making.user()
    Membership.objects.create(study=study, user=reviewer, role=Role.REVIEWER)
    accounts = [making.rater(study) for _ in range(6)]
    study_pages = [failing(study, account) for account in accounts for _ in range(5)]
    check_submitted()
    doubt.read_signals(Study.objects.select_related("version").get(pk=study.pk))
    order = list(queue(study))
    assert len(order) == len(study_pages) == 30
    page = visitor(reviewer).new_page()
    page.goto(f"/review/{study.slug}/")
    for place, each in enumerate(order):
        page.wait_for_url(f"**{address(each)}")
        page.keyboard.press("2" if place % 3 == 0 else "d")
        if place == 16:
            page.wait_for_url(f"**{address(order[place + 1])}")
            page.keyboard.press("u")
            page.wait_for_url(f"**{address(each)}")
            expect(page.get_by_text("Taken back: the page is waiting again.")).to_be_visible()
            page.keyboard.press("2")
    expect(page.get_by_text("Nothing waits for you.")).to_be_visible()
    used = [place for place, each in enumerate(order) if decided(each) == ("used", "approved")]
    assert used == sorted([*range(0, 30, 3), 16])
    assert all(each.payment == "approved" for each in order)
    by_people = Decision.objects.filter(assignment__study=study, by=reviewer)
    assert by_people.count() == 2 * 30 + 4


def failing(study: Study, account: Account) -> Assignment:
    page = draw(study=study, account=account)
    fields = making.answers(page.slots.count())
    submit(assignment_key=page.key, account=account, fields=fields)
    return page


def test_the_keys_are_told_and_leave_typing_alone(
    visitor: Visitor, reviewer: User, flagged: list[Assignment]
) -> None:
    page = visitor(reviewer).new_page()
    page.goto(address(flagged[0]))
    page.keyboard.press("?")
    expect(page.get_by_role("heading", name="Keys")).to_be_visible()
    page.keyboard.press("1")
    page.keyboard.press("Escape")
    expect(page.get_by_role("heading", name="Keys")).to_be_hidden()
    page.keyboard.press("r")
    page.keyboard.type(" 1 2 d u")
    expect(page.get_by_label("Reason", exact=True)).to_have_value(
        "Some answers were not as expected. The work is paid; its judgments are not used. 1 2 d u"
    )
    assert decided(flagged[0]) == ("pending", "pending")


def test_the_desk_works_without_scripts(
    visitor: Visitor, reviewer: User, flagged: list[Assignment]
) -> None:
    page = visitor(reviewer, java_script_enabled=False).new_page()
    page.goto(address(flagged[0]))
    page.get_by_role("button", name="Pay, do not use").click()
    page.wait_for_url(f"**{address(flagged[1])}")
    assert decided(flagged[0]) == ("not_used", "approved")
    page.get_by_role("button", name="Take back your last decision").click()
    page.wait_for_url(f"**{address(flagged[0])}")
    assert decided(flagged[0]) == ("pending", "pending")


def test_a_jobs_bar_moves_and_the_page_shows_what_came_of_it(
    visitor: Visitor, study: Study
) -> None:
    job = Job.objects.create(kind="release", study=study, done=10, total=100)
    page = visitor(study.corpus.owner).new_page()
    page.goto(f"/research/studies/{study.slug}/")
    Job.objects.filter(pk=job.pk).update(done=60)
    expect(page.get_by_text("60 of 100")).to_be_visible()
    Job.objects.filter(pk=job.pk).update(state="done", message="All files are written.")
    expect(page.get_by_role("button", name="Cancel")).to_have_count(0)
    expect(page.get_by_text("All files are written.")).to_be_visible()


def test_an_invitation_link_is_copied(visitor: Visitor, study: Study) -> None:
    context = visitor(study.corpus.owner)
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = context.new_page()
    page.goto(f"/research/studies/{study.slug}/people/")
    page.get_by_label("Role").select_option("reviewer")
    page.get_by_role("button", name="Make a link").click()
    page.get_by_role("button", name="Copy").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.endswith(f"/join/{study.invitations.get().token}/")


def test_every_page_is_accessible_and_fits(
    visitor: Visitor, study: Study, reviewer: User, flagged: list[Assignment]
) -> None:
    making.work(study, making.rater(study))
    check_submitted()
    Membership.objects.create(study=study, user=reviewer, role=Role.RESEARCHER)
    of_study = f"/research/studies/{study.slug}/"
    paths = [
        "/review/", address(flagged[0]), f"/review/{study.slug}/decided/?by=all", "/research/",
        f"{address(flagged[0])}refuse/",
        *(f"/review/{study.slug}/{name}/" for name in ("many", "people", "golds")),
        f"/review/{study.slug}/people/{flagged[0].person_id}/",
        of_study, f"{of_study}report/",
        *(f"{of_study}{name}/" for name in ("results", "people", "settings", "releases")),
        f"/research/corpora/{study.corpus.slug}/",
    ]  # fmt: skip
    page = visitor(reviewer).new_page()
    for path in paths:
        page.goto(path)
        assert_accessible_and_fits(page, path)


def test_a_form_that_is_clicked_twice_is_sent_once(visitor: Visitor, study: Study) -> None:
    page = visitor(study.corpus.owner).new_page()
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.method))
    page.goto("/research/studies/new/")
    page.get_by_label("Name", exact=True).fill("Clicked twice")
    page.get_by_role("button", name="Make a draft").dblclick()
    page.wait_for_url("**/research/studies/clicked-twice/")
    assert sent.count("POST") == 1
