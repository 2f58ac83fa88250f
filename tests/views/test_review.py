import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.conf import LazySettings
from django.test import Client

from hits.models import (
    Account,
    Assignment,
    Claim,
    Decision,
    Job,
    Membership,
    Publication,
    Role,
    Slot,
    Study,
    Unit,
    User,
)
from hits.pipeline import jobs
from hits.pipeline.check import check_submitted
from hits.pipeline.draw import draw
from hits.pipeline.open import create_study
from hits.pipeline.people import account_of, give_consent
from hits.pipeline.submit import submit
from hits.pipeline.versions import change_version
from tests import balance, making
from tests.protocols.cases.surveys import study_of_preference
from workers.work import WORK

pytestmark = pytest.mark.django_db

Queries = Callable[[int], Any]


@pytest.fixture
def study() -> Study:
    return making.study(making.corpus(images=12), settings={"candidates_a_page": 4}, pay="0.65")


@pytest.fixture
def reviewer(study: Study) -> User:
    return member(study, Role.REVIEWER)


@pytest.fixture
def desk(reviewer: User) -> Client:
    return logged_in(reviewer)


def member(study: Study, role: str) -> User:
    made = making.user()
    Membership.objects.create(study=study, user=made, role=role)
    return made


def logged_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def beside(study: Study) -> Study:
    """Another study on the same corpus."""
    made = create_study(
        slug="beside",
        name="Beside",
        corpus=study.corpus,
        protocol_slug="matching",
        by=study.corpus.owner,
    )
    Study.objects.filter(pk=made.pk).update(state="open")
    return made


def flagged(study: Study, account: Account | None = None, choice: str = "yes") -> Assignment:
    """A page with one failed gold: yes to everything, the true negative too."""
    account = account or making.rater(study)
    page = draw(study=study, account=account)
    Assignment.objects.filter(pk=page.pk).update(drawn_at=page.drawn_at - timedelta(minutes=5))
    fields = making.answers(page.slots.count(), choice) | {"q1-ms": ["2500"]}
    submit(assignment_key=page.key, account=account, fields=fields)
    check_submitted()
    page.refresh_from_db()
    return page


def address(page: Assignment) -> str:
    return f"/review/{page.study.slug}/{page.key}/"


def decide(client: Client, page: Assignment, decision: str, **fields: str) -> Any:
    seen = re.search(r'name="seen" value="(\d+)"', client.get(address(page)).content.decode())
    values = {"seen": seen.group(1) if seen else "0", "decision": decision, "reason": ""}
    return client.post(address(page), values | fields)


def refuse(client: Client, page: Assignment, **fields: str) -> Any:
    """Look at what was not seen, as often as there is some, and then refuse payment."""
    path = f"{address(page)}refuse/"
    shown = client.get(path).text
    while positions := re.findall(r'name="position" value="(\d+)"', shown):
        shown = client.post(path, {"position": positions}, follow=True).text
    found = dict(re.findall(r'name="(seen|loss)" value="([\d.]+)"', shown))
    return client.post(path, found | {"reason": ""} | fields)


def test_the_desk_opens_the_page_that_is_most_in_doubt(study: Study, desk: Client) -> None:
    flagged(study)
    worst = flagged(study)
    Assignment.objects.filter(pk=worst.pk).update(doubt=2)
    assert desk.get(f"/review/{study.slug}/").headers["Location"] == address(worst)


def test_the_evidence_shows_what_was_expected_beside_what_was_answered(
    study: Study, desk: Client
) -> None:
    page = flagged(study)
    text = desk.get(address(page)).content.decode()
    assert "A no (either no)" in text
    assert text.count('aria-label="Question ') == page.slots.count()
    assert text.index("gold failed") < text.index("gold passed")
    assert "2.5 s" in text


def test_a_rater_is_a_number_on_the_desk(study: Study, desk: Client) -> None:
    account = making.rater(study, "very-private-name")
    page = flagged(study, account)
    decide(desk, page, "pay")
    for path in (address(page), f"/review/{study.slug}/decided/", "/review/"):
        text = desk.get(path).content.decode()
        assert "very-private-name" not in text
    assert f"Rater {account.person_id}" in desk.get(address(page)).content.decode()


def test_a_reason_is_kept_without_what_cannot_be_stored(study: Study, desk: Client) -> None:
    page = flagged(study)
    assert refuse(desk, page, reason="Not\0 read.").status_code == 302
    assert page.decisions.filter(reason="Not read.").exists()
    other = flagged(study)
    assert refuse(desk, other, reason="\0").status_code == 422


def test_the_proposal_for_failed_golds_is_to_pay_and_not_to_use(study: Study, desk: Client) -> None:
    page = flagged(study)
    text = desk.get(address(page)).content.decode()
    assert re.search(r'class="button primary" name="decision" value="pay"', text)
    decide(desk, page, "pay")
    page.refresh_from_db()
    assert (page.use, page.payment) == ("not_used", "approved")
    reasons = set(page.decisions.values_list("reason", flat=True))
    assert reasons == {
        "Some answers were not as expected. The work is paid; its judgments are not used."
    }


def test_units_that_are_not_used_go_out_again_and_the_next_page_opens(
    study: Study, desk: Client
) -> None:
    first, second = flagged(study), flagged(study)
    answer = decide(desk, first, "pay")
    assert answer.headers["Location"] == address(second)
    assert "4 units went out again" in desk.get(address(second)).content.decode()
    units = Unit.objects.filter(slots__assignment=first, gold=None)
    assert not units.filter(counted__gt=0).exists()


def test_a_page_can_be_used_all_the_same_with_a_reason_of_its_own(
    study: Study, desk: Client
) -> None:
    page = flagged(study)
    decide(desk, page, "use", reason="The gold is wrong: the horse is grey.")
    page.refresh_from_db()
    assert (page.use, page.payment) == ("used", "approved")
    assert page.decisions.filter(reason="The gold is wrong: the horse is grey.").count() == 2


def test_the_proposals_reason_is_not_written_down_for_another_decision(
    study: Study, desk: Client
) -> None:
    page = flagged(study)
    proposed = "Some answers were not as expected. The work is paid; its judgments are not used."
    decide(desk, page, "use", reason=proposed)
    assert not page.decisions.filter(reason=proposed).exists()


def test_refusing_payment_needs_the_whole_page_seen_a_reason_and_its_cost(
    study: Study, desk: Client
) -> None:
    change_version(study=study, by=study.corpus.owner, pay="0.65")
    page = flagged(study)
    sent = {"seen": "0", "reason": "All within one second.", "loss": "0.65"}
    answer = desk.post(f"{address(page)}refuse/", sent)
    assert answer.status_code == 422
    assert "Look at the whole page before you refuse payment" in answer.text
    for lacking in ({"reason": ""}, {"loss": ""}, {"loss": "0.60"}):
        assert refuse(desk, page, **sent | lacking).status_code == 422
    assert "Rater" in desk.get(f"{address(page)}refuse/").text
    assert "loses <strong>$0.65</strong>" in desk.get(f"{address(page)}refuse/").text
    assert not page.decisions.exists()
    refuse(desk, page, **sent)
    page.refresh_from_db()
    assert (page.use, page.payment) == ("not_used", "refused")


def test_what_one_reviewer_saw_another_has_not_seen(study: Study, desk: Client) -> None:
    page = flagged(study)
    positions = [str(n) for n in range(1, page.slots.count() + 1)]
    assert desk.post(f"{address(page)}seen/", {"position": positions}).status_code == 204
    assert "Why is this work not paid?" in desk.get(f"{address(page)}refuse/").text
    other = logged_in(member(study, Role.REVIEWER))
    assert "Look at the whole page first" in other.get(f"{address(page)}refuse/").text


def test_who_asks_for_a_second_opinion_leaves_the_decision_to_somebody_else(
    study: Study, reviewer: User, desk: Client
) -> None:
    page, following = flagged(study), flagged(study)
    path = f"{address(page)}second/"
    why = {"leaning": "use", "reason": "Two golds look wrong to me."}
    assert desk.post(path, why).headers["Location"] == address(following)
    assert desk.get(f"/review/{study.slug}/").headers["Location"] == address(following)
    assert decide(desk, page, "pay").status_code == 422
    other = logged_in(member(study, Role.REVIEWER))
    shown = other.get(address(page)).text
    assert "A second opinion is asked for." in shown
    assert "Two golds look wrong to me." not in shown
    decide(other, page, "pay")
    page.refresh_from_db()
    assert (page.use, page.payment, page.second_asked_by) == ("not_used", "approved", None)
    assert "Two golds look wrong to me." in other.get(address(page)).text
    assert page.opinions.get().by == reviewer


def test_a_page_that_the_rule_used_and_signals_raise_is_confirmed_on_record_and_taken_back(
    study: Study, reviewer: User, desk: Client
) -> None:
    page = making.work(study, making.rater(study))
    check_submitted()
    assert "Nothing waits for you" in desk.get(f"/review/{study.slug}/").text
    Assignment.objects.filter(pk=page.pk).update(doubt=1.5)
    assert desk.get(f"/review/{study.slug}/").headers["Location"] == address(page)
    assert "used by the rule" in desk.get(address(page)).text
    decide(desk, page, "use")
    assert page.decisions.filter(kind="use", value="used", by=reviewer).count() == 1
    assert "Nothing waits for you" in desk.get(f"/review/{study.slug}/").text
    assert desk.post(f"/review/{study.slug}/undo/").headers["Location"] == address(page)
    page.refresh_from_db()
    assert (page.use, page.payment, page.waits) == ("used", "approved", True)


def test_many_pages_are_decided_on_by_a_job_and_payment_is_never_refused_so(
    study: Study, desk: Client
) -> None:
    pages = [flagged(study) for _ in range(3)]
    path = f"/review/{study.slug}/many/"
    sent = {"use": "not_used", "reason": "Not read.", "page": [str(p.key) for p in pages[:2]]}
    assert desk.post(path, sent | {"use": "refused"}).status_code == 422
    assert desk.post(path, sent | {"reason": " "}).status_code == 422
    assert desk.post(path, sent | {"which": "all", "total": "2"}).status_code == 422
    assert desk.post(path, sent).status_code == 302
    jobs.run(Job.objects.get(kind="decide").pk, WORK)
    assert [refreshed(page) for page in pages] == [
        ("not_used", "approved"), ("not_used", "approved"), ("pending", "pending"),
    ]  # fmt: skip
    assert ">2 decided<" in desk.get(path).text
    assert desk.post(path, sent | {"which": "all", "total": "1"}).status_code == 302
    asked = Job.objects.filter(kind="decide").latest("pk")
    assert f'data-job="/research/jobs/{asked.pk}/"' in desk.get(path).text
    assert desk.post(f"/research/jobs/{asked.pk}/cancel/")["Location"] == path
    asked.refresh_from_db()
    assert asked.state == "cancelled"


def test_what_was_decided_on_many_pages_is_taken_back_at_once(study: Study, desk: Client) -> None:
    *pages, alone = (flagged(study) for _ in range(4))
    path = f"/review/{study.slug}/many/"
    sent = {"use": "not_used", "reason": "Not read.", "which": "all", "total": "4"}
    desk.post(path, sent)
    decide(desk, alone, "pay", reason="Not read.")
    many = Job.objects.get(kind="decide")
    undo = f"{path}{many.pk}/undo/"
    assert "still being decided on" in desk.post(undo, follow=True).text
    jobs.run(many.pk, WORK)
    decide(desk, pages[0], "use")
    assert "Take all back" in desk.get(path).text
    other = making.user()
    Membership.objects.create(study=study, user=other, role=Role.REVIEWER)
    assert "Take all back" not in logged_in(other).get(path).text
    assert "Only who decided" in logged_in(other).post(undo, follow=True).text
    desk.post(undo)
    for _ in range(2):
        jobs.run(Job.objects.get(kind="take_back").pk, WORK)
    assert [refreshed(page) for page in pages] == [
        ("used", "approved"), ("pending", "pending"), ("pending", "pending"),
    ]  # fmt: skip
    assert refreshed(alone) == ("not_used", "approved")
    assert "taken back" in desk.get(path).text
    assert "taken back already" in desk.post(undo, follow=True).text
    assert pages[1].decisions.count() == 4


def test_what_stood_beside_each_other_is_shown_so_with_the_side_that_was_chosen() -> None:
    study = study_of_preference(making.corpus(images=12), units_a_page=3)
    account = making.rater(study)
    page = draw(study=study, account=account)
    questions = page.slots.count()
    right = {f"q{position}-choice": ["right"] for position in range(1, questions + 1)}
    submit(assignment_key=page.key, account=account, fields=right)
    shown = logged_in(member(study, Role.REVIEWER)).get(address(page)).text
    assert not re.findall(r'First <span class="tag accent">chosen', shown)
    assert len(re.findall(r'Second <span class="tag accent">chosen', shown)) == questions
    assert 'alt="First, 1 of 5"' in shown


def refreshed(page: Assignment) -> tuple[str, str]:
    page.refresh_from_db()
    return page.use, page.payment


def test_a_page_is_shown_again_as_its_rater_saw_it(study: Study, desk: Client) -> None:
    page = flagged(study)
    shown = desk.get(f"{address(page)}replay/").text
    assert "in this order. Nothing can be sent from here." in shown
    assert 'id="submit" hidden' in shown
    assert "yours until" not in shown
    assert shown.count('class="question"') == page.slots.count()
    assert desk.post(f"{address(page)}replay/").status_code == 405


def test_undo_goes_back_step_by_step_and_stays_on_record(study: Study, desk: Client) -> None:
    first, second = flagged(study), flagged(study)
    decide(desk, first, "pay")
    decide(desk, second, "use")
    undo = f"/review/{study.slug}/undo/"
    assert desk.post(undo).headers["Location"] == address(second)
    assert desk.post(undo).headers["Location"] == address(first)
    for page in (first, second):
        page.refresh_from_db()
        assert (page.use, page.payment) == ("pending", "pending")
        assert page.decisions.count() == 4
    assert Slot.objects.filter(assignment=first, state="counted").count() == first.slots.count()
    assert desk.post(undo).headers["Location"] == f"/review/{study.slug}/"


def test_undo_pressed_twice_takes_back_one_decision_and_says_so(study: Study, desk: Client) -> None:
    first, second = flagged(study), flagged(study)
    decide(desk, first, "use")
    decide(desk, second, "use")
    shown = desk.get(address(second)).text
    button = re.search(r'name="decision" value="(\d+)"><button', shown)
    assert button is not None
    for _ in range(2):
        answer = desk.post(f"/review/{study.slug}/undo/", {"decision": button[1]}, follow=True)
    assert "You took that decision back already" in answer.text
    first.refresh_from_db()
    second.refresh_from_db()
    assert (first.use, second.use) == ("used", "pending")


def test_two_undos_at_once_are_one_and_blame_nobody(study: Study, desk: Client) -> None:
    page = flagged(study)
    decide(desk, page, "use")
    session = desk.session
    steps = dict(session)
    undo = f"/review/{study.slug}/undo/"
    desk.post(undo)
    session.update(steps)
    session.save()
    answer = desk.post(undo, follow=True)
    assert "Taken back already: the page is waiting." in answer.text
    assert Decision.objects.filter(assignment=page).exclude(by=None).count() == 4


def test_undo_leaves_alone_what_somebody_decided_since(study: Study, desk: Client) -> None:
    page = flagged(study)
    decide(desk, page, "pay")
    other = logged_in(member(study, Role.REVIEWER))
    decide(other, page, "use")
    desk.post(f"/review/{study.slug}/undo/")
    page.refresh_from_db()
    assert page.use == "used"


def test_a_decision_on_a_page_that_somebody_else_decided_meanwhile_is_stopped(
    study: Study, desk: Client
) -> None:
    page = flagged(study)
    other = logged_in(member(study, Role.REVIEWER))
    decide(other, page, "use")
    answer = desk.post(address(page), {"seen": "0", "decision": "pay", "reason": "x"})
    assert "while you looked at it" in answer.content.decode()
    page.refresh_from_db()
    assert page.use == "used"


def test_nobody_decides_on_their_own_page(study: Study, reviewer: User, desk: Client) -> None:
    Membership.objects.create(study=study, user=reviewer, role=Role.RATER)
    account = account_of(reviewer)
    give_consent(study=study, account=account)
    page = flagged(study, account)
    assert "Nothing waits for you" in desk.get(f"/review/{study.slug}/").content.decode()
    shown = desk.get(address(page))
    assert shown.status_code == 403
    assert "Expected" not in shown.content.decode()
    answer = desk.post(address(page), {"seen": "0", "decision": "use", "reason": "Mine."})
    assert answer.status_code == 403
    assert not page.decisions.exists()


def test_every_decision_stays_in_the_history_with_who_and_why(
    study: Study, reviewer: User, desk: Client
) -> None:
    used, not_used = flagged(study), flagged(study)
    decide(desk, used, "use", reason="Reason one.")
    decide(desk, not_used, "pay", reason="Reason two.")
    history = f"/review/{study.slug}/decided/"
    text = desk.get(history).content.decode()
    assert "Reason one." in text
    assert "Reason two." in text
    assert str(reviewer) in text
    assert "Reason two." not in desk.get(history, {"use": "used"}).content.decode()
    assert "Reason one." not in desk.get(history, {"use": "not_used"}).content.decode()
    assert desk.get(history, {"before": "not a number"}).status_code == 200


def test_what_a_rater_wrote_is_text_on_the_desk(study: Study, desk: Client) -> None:
    account = making.rater(study)
    page = draw(study=study, account=account)
    fields = making.answers(page.slots.count()) | {"q1-problem": ["<script>alert(1)</script>"]}
    submit(assignment_key=page.key, account=account, fields=fields)
    check_submitted()
    text = desk.get(address(page)).content.decode()
    assert "&lt;script&gt;alert(1)" in text
    assert "<script>alert(1)" not in text


@pytest.mark.parametrize("who", ["rater", "stranger", "reviewer of another study"])
def test_the_desk_is_not_there_for_others(study: Study, who: str) -> None:
    page = flagged(study)
    user = member(study, Role.RATER) if who == "rater" else making.user()
    if who == "reviewer of another study":
        Membership.objects.create(study=beside(study), user=user, role=Role.REVIEWER)
    client = logged_in(user)
    for path in (f"/review/{study.slug}/", f"/review/{study.slug}/decided/", address(page)):
        assert client.get(path).status_code == 404
    for path in (address(page), f"/review/{study.slug}/undo/"):
        assert client.post(path, {"decision": "use", "reason": "x"}).status_code == 404
    if who != "reviewer of another study":
        assert client.get("/review/").status_code == 404
    assert not Decision.objects.exists()


def test_a_page_of_another_study_is_not_found_under_this_one(study: Study, desk: Client) -> None:
    page = flagged(study)
    assert desk.get(address(page)).status_code == 200
    Assignment.objects.filter(pk=page.pk).update(study=beside(study))
    assert desk.get(address(page)).status_code == 404


def test_reviewers_have_no_researchers_pages(study: Study, desk: Client) -> None:
    paths = [
        "/research/", "/research/studies/new/", "/research/corpora/new/",
        f"/research/studies/{study.slug}/", f"/research/studies/{study.slug}/results/",
        f"/research/studies/{study.slug}/people/", f"/research/studies/{study.slug}/settings/",
        f"/research/studies/{study.slug}/releases/", f"/research/studies/{study.slug}/problems/",
        f"/research/studies/{study.slug}/results.csv", f"/research/corpora/{study.corpus.slug}/",
    ]  # fmt: skip
    assert [desk.get(path).status_code for path in paths] == [404] * len(paths)
    assert "Research" not in desk.get("/review/").content.decode()


def test_a_decision_needs_a_csrf_token(study: Study, reviewer: User) -> None:
    page = flagged(study)
    client = Client(enforce_csrf_checks=True)
    client.force_login(reviewer)
    assert client.post(address(page), {"decision": "pay", "reason": "x"}).status_code == 403
    assert client.get(f"/review/{study.slug}/undo/").status_code == 405


def test_a_long_queue_costs_no_more_statements(
    study: Study, desk: Client, django_assert_max_num_queries: Queries
) -> None:
    page = flagged(study)
    rows = Assignment.objects.filter(pk=page.pk).values().get()
    del rows["id"], rows["key"]
    Assignment.objects.bulk_create(Assignment(**rows) for _ in range(800))
    with django_assert_max_num_queries(30):
        text = desk.get(address(page)).content.decode()
    assert "801 pages wait" in text
    assert text.count("of 2 failed</span>") == 50


@pytest.fixture
def at_marketplace(study: Study, settings: LazySettings) -> Publication:
    settings.CHANNELS = balance.channels(balance.SILENT)
    return making.publication(study)


def sold(publication: Publication, state: str = "confirmed", hours: int = 100) -> Claim:
    """A page that failed a gold, from a worker at a marketplace."""
    return making.claim(
        publication, state, page=flagged(publication.study), approves_in=timedelta(hours=hours)
    )


def page_of(claim: Claim) -> Assignment:
    assert claim.assignment is not None
    claim.assignment.refresh_from_db()
    return claim.assignment


def test_the_deadline_of_a_marketplace_is_shown_and_warned_about_when_near(
    at_marketplace: Publication, desk: Client
) -> None:
    far, near = sold(at_marketplace), sold(at_marketplace, hours=20)
    text = desk.get(address(page_of(far))).content.decode()
    assert "Local approves and pays this page by itself on" in text
    assert 'class="notice warn"><span>Local approves' not in text
    assert "1 waiting page approves itself at the marketplace within 48 hours." in text
    assert (
        'class="notice warn"><span>Local approves'
        in desk.get(address(page_of(near))).content.decode()
    )


def test_refusing_payment_says_that_the_worker_reads_the_reason(
    at_marketplace: Publication, desk: Client
) -> None:
    text = refuse(desk, page_of(sold(at_marketplace))).text
    assert "The worker reads this at local" in text
    assert "counts against them at local" in text


def test_work_that_the_marketplace_paid_is_decided_on_in_use_alone(
    at_marketplace: Publication, desk: Client
) -> None:
    page = page_of(sold(at_marketplace, "paid"))
    text = desk.get(address(page)).content.decode()
    assert "it is paid, and that cannot be changed" in text
    assert "Refuse payment" not in text
    refused = desk.post(f"{address(page)}refuse/", {"reason": "x", "seen": "0", "loss": "0.65"})
    assert refused.status_code == 422
    desk.post(address(page), {"decision": "use", "seen": "0"})
    page.refresh_from_db()
    assert (page.use, page.payment) == ("used", "approved")


def test_taking_back_leaves_what_the_marketplace_paid(
    at_marketplace: Publication, desk: Client
) -> None:
    claim = sold(at_marketplace)
    page = page_of(claim)
    desk.post(address(page), {"decision": "pay", "seen": "0"})
    Claim.objects.filter(pk=claim.pk).update(theirs="approved")
    found = desk.post(f"/review/{page.study.slug}/undo/", follow=True).content.decode()
    assert "The marketplace has approved the page: that stays." in found
    page.refresh_from_db()
    assert (page.use, page.payment) == ("pending", "approved")


def test_a_page_that_the_marketplace_has_not_confirmed_is_not_decided_on(
    at_marketplace: Publication, desk: Client
) -> None:
    page = page_of(sold(at_marketplace, "saved"))
    text = desk.get(address(page)).content.decode()
    assert "Local has not confirmed this page" in text
    assert 'name="decision"' not in text


def test_a_reviewer_does_not_learn_who_the_worker_is_at_the_marketplace(
    at_marketplace: Publication, desk: Client
) -> None:
    claim = sold(at_marketplace)
    text = desk.get(address(page_of(claim))).content.decode()
    assert claim.ref not in text
    assert "This worker at local" not in text


def test_a_reason_has_a_limit(study: Study, desk: Client) -> None:
    page = flagged(study)
    answer = decide(desk, page, "pay", reason="x" * 2001)
    assert answer.status_code == 422
    assert "Use at most 2,000 characters for the reason." in answer.content.decode()
    assert not Decision.objects.filter(by__isnull=False).exists()
    decide(desk, page, "pay", reason="line\r\n" * 333 + "xx")
    assert Decision.objects.filter(assignment=page, reason="line\n" * 333 + "xx").exists()


def test_a_nul_in_a_reason_is_left_out(study: Study, desk: Client) -> None:
    page = flagged(study)
    assert refuse(desk, page, reason="no\0thing").status_code == 302
    assert Decision.objects.filter(assignment=page, reason="nothing").exists()


def test_units_of_a_page_that_was_not_used_before_do_not_go_out_again(
    study: Study, desk: Client
) -> None:
    page = flagged(study)
    refuse(desk, page, reason="Not honestly done.")
    answer = desk.get(decide(desk, page, "pay").headers["Location"])
    assert "paid and not used. Written down" in str(list(answer.context["messages"])[-1])


@pytest.mark.parametrize("seen", [{}, {"seen": "0"}], ids=["looked again", "went back"])
def test_the_same_decision_again_says_that_nothing_changed(
    study: Study, desk: Client, seen: dict[str, str]
) -> None:
    page = flagged(study)
    decide(desk, page, "pay")
    before = Decision.objects.count()
    answer = desk.get(decide(desk, page, "pay", **seen).headers["Location"])
    assert "Already so; nothing changed." in answer.content.decode()
    assert "went out again" not in str(list(answer.context["messages"])[-1])
    assert Decision.objects.count() == before
