"""Publishing in a real browser, at the marketplace of the product."""

from datetime import timedelta
from decimal import Decimal

import pytest
from playwright.sync_api import Locator, Page, expect

from hits.marketplace.models import HIT, Requester
from hits.models import ClaimState, Intent, Job, Publication, Study
from hits.pipeline.check import check_submitted
from hits.pipeline.draw import draw
from hits.pipeline.ledger import settle_due
from hits.pipeline.letters import signed
from hits.pipeline.standing import open_appeals
from hits.pipeline.submit import submit
from tests import making, selling
from tests.browser.conftest import Visitor
from tests.browser.looking import assert_accessible_and_fits

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def study() -> Study:
    return making.study(making.corpus(images=14), settings={"candidates_a_page": 4}, pay="0.65")


def address(study: Study, rest: str = "") -> str:
    return f"/research/studies/{study.slug}/{rest}"


def move_to(page: Page, wanted: Locator) -> None:
    """By keyboard alone."""
    for _ in range(60):
        page.keyboard.press("Tab")
        if wanted.evaluate("each => each === document.activeElement"):
            return
    raise AssertionError(f"The focus never came to {wanted}.")


def press(page: Page, name: str) -> None:
    buttons, links = page.get_by_role("button", name=name), page.get_by_role("link", name=name)
    move_to(page, buttons.or_(links).first)
    page.keyboard.press("Enter")


def type_into(page: Page, label: str, text: str) -> None:
    move_to(page, page.get_by_label(label))
    page.keyboard.press("Control+a")
    page.keyboard.type(text)


def test_a_study_is_published_followed_and_paid_by_keyboard_alone(
    visitor: Visitor, study: Study, requester: Requester
) -> None:
    page = visitor(study.corpus.owner).new_page()
    page.goto(address(study))
    press(page, "Channels")
    page.wait_for_url(f"**{address(study, 'channels/')}")
    press(page, "Publish at local")
    page.wait_for_url("**/publish/")
    type_into(page, "Description", "Six pairs of an image and a caption.")
    type_into(page, "Pages to publish", "2")
    type_into(page, "Countries", "US")
    press(page, "Review the costs")
    expect(page.get_by_text("$1.56", exact=True)).to_be_visible()
    expect(page.get_by_text("$1,000.00")).to_be_visible()
    assert HIT.objects.count() == 0
    press(page, "Publish 2 HITs for $1.56")
    expect(page.get_by_text("2 HITs are being made at local.")).to_be_visible()
    selling.run_jobs()
    expect(page.get_by_text("2 of 2 HITs made · 2 live · 0 ended")).to_be_visible()
    assert HIT.objects.count() == 2

    publication = study.publications.get()
    claim = selling.do_page(selling.live_hit(publication))
    press(page, "Reconcile now")
    expect(page.get_by_text("The list of local is being read.")).to_be_visible()
    selling.run_jobs()
    page.goto(address(study, f"claims/{claim.pk}/"))
    expect(page.get_by_role("heading", name="confirmed")).to_be_visible()
    move_to(page, page.locator("summary", has_text="Pay a bonus"))
    page.keyboard.press("Enter")
    type_into(page, "Bonus, in dollars", "1")
    page.keyboard.press("Tab")
    page.keyboard.type("Great care.")
    press(page, "Pay a bonus…")
    expect(page.get_by_text("With the fee it costs $1.20")).to_be_visible()
    press(page, "Pay $1.00")
    expect(page.get_by_text("The bonus of $1.00 is written down.")).to_be_visible()
    settle_due()
    page.reload()
    expect(page.get_by_role("row", name="Bonus").get_by_text("done")).to_be_visible()


def test_publishing_works_without_scripts(
    visitor: Visitor, study: Study, requester: Requester
) -> None:
    page = visitor(study.corpus.owner, java_script_enabled=False).new_page()
    page.goto(address(study, "channels/local/publish/"))
    page.get_by_label("Description").fill("Pairs.")
    page.get_by_label("Pages to publish").fill("3")
    page.get_by_role("button", name="Review the costs").click()
    page.get_by_role("button", name="Change something").click()
    expect(page.get_by_label("Description")).to_have_value("Pairs.")
    page.get_by_label("Pages to publish").fill("1")
    page.get_by_role("button", name="Review the costs").click()
    page.get_by_role("button", name="Publish 1 HIT for $0.78").click()
    expect(page.get_by_text("1 HIT is being made at local.")).to_be_visible()
    assert study.publications.get().hits.count() == 1


@pytest.fixture
def published(study: Study) -> Publication:
    """With everything that can happen to it."""
    made = making.publication(study, hits=3, least_wage=Decimal("15"))
    making.hit(made, "meant")
    for state in ClaimState:
        making.claim(made, state, approves_in=timedelta(hours=20))
    account = making.rater(study)
    page = draw(study=study, account=account)
    submit(assignment_key=page.key, account=account, fields=making.answers(page.slots.count()))
    check_submitted()
    claim = making.claim(made, page=page, approves_in=timedelta(hours=20))
    making.settled(made, "bonus", claim=claim, amount="1.20")
    making.settled(made, "approve", claim=claim, state="refused", message="No money is left. " * 9)
    Job.objects.create(kind="publish", study=study, arguments={"publication": made.pk}, total=9)
    return made


def test_every_page_is_accessible_and_fits(
    visitor: Visitor, study: Study, published: Publication, requester: Requester
) -> None:
    page = visitor(study.corpus.owner).new_page()
    claim = Intent.objects.filter(action="bonus").get().claim
    assert claim is not None
    assert claim.assignment is not None
    of_publication = f"publications/{published.pk}/"
    paths = [
        address(study, each)
        for each in (
            "", "channels/", "channels/local/publish/", of_publication, f"{of_publication}claims/",
            f"{of_publication}ledger/", f"{of_publication}write/", f"claims/{claim.pk}/",
            f"claims/{claim.pk}/block/",
        )
    ]  # fmt: skip
    for path in [*paths, f"/review/{study.slug}/{claim.assignment.key}/"]:
        page.goto(path)
        assert_accessible_and_fits(page, path)
    page.goto(address(study, f"claims/{claim.pk}/block/"))
    page.get_by_label("Why?").fill("Random answers.")
    page.get_by_role("button", name="Block the worker").click()
    assert_accessible_and_fits(page, "confirm")
    page.goto(address(study, "channels/local/publish/"))
    page.get_by_label("Countries").fill("Germany")
    page.get_by_label("Description").fill("Pairs.")
    page.get_by_role("button", name="Review the costs").click()
    assert_accessible_and_fits(page, "errors")
    page.get_by_label("Countries").fill("DE")
    page.get_by_role("button", name="Review the costs").click()
    expect(page.get_by_role("button", name="Publish")).to_be_visible()
    assert_accessible_and_fits(page, "costs")


def test_a_worker_writes_back_once_from_the_address_in_a_letter(
    visitor: Visitor, study: Study
) -> None:
    page_done = making.claim(making.publication(study, hits=1)).assignment
    assert page_done is not None
    address = f"/notes/{signed(study.pk, page_done.account_id)}/"
    context = visitor(width=360)
    page, older = context.new_page(), context.new_page()
    for each in (page, older):
        each.goto(address)
    page.get_by_label("What should they know?").fill("I read each of them.")
    page.get_by_role("button", name="Send").click()
    expect(page.get_by_text("Sent to the reviewers.")).to_be_visible()
    older.get_by_label("What should they know?").fill("And took my time.")
    older.get_by_role("button", name="Send").click()
    expect(older.get_by_text("This was not sent: And took my time.")).to_be_visible()
    assert [each.text for each in open_appeals(study)] == ["I read each of them."]
    assert_accessible_and_fits(older, address)
