import re
from datetime import timedelta
from typing import Any

import pytest
from django.core import mail
from django.db import connection
from django.db.models import F, Value
from django.db.models.functions import Concat
from django.template.loader import render_to_string
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from hits.models import Account, Assignment, Consent, Invitation, Judgment, Role, Study, Unit, User
from hits.pipeline.check import check_submitted
from hits.pipeline.draw import draw
from hits.pipeline.show import page_of
from hits.pipeline.submit import free_expired
from hits.pipeline.versions import change_version
from tests import making

pytestmark = pytest.mark.django_db


@pytest.fixture
def study() -> Study:
    return making.study(
        making.corpus(images=12), settings={"candidates_a_page": 4}, lease_minutes=30
    )


@pytest.fixture
def account(study: Study) -> Account:
    return making.rater(study)


@pytest.fixture
def rater(account: Account) -> Client:
    assert account.user is not None
    return logged_in(account.user)


@pytest.fixture
def assignment(study: Study, account: Account) -> Assignment:
    return draw(study=study, account=account)


def logged_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def invitation(study: Study, **values: Any) -> Invitation:
    return Invitation.objects.create(study=study, created_by=study.corpus.owner, **values)


def joining(**changes: str) -> dict[str, str]:
    return {
        "name": "Ada Example",
        "email": "Ada@Example.org",
        "password": "seven green bicycles",
    } | changes


def address(assignment: Assignment, action: str = "") -> str:
    return f"/work/{assignment.key}/{action}"


def submit(client: Client, assignment: Assignment, fields: dict[str, list[str]]) -> Any:
    return client.post(
        address(assignment, "submit"), fields, headers={"Accept": "application/json"}
    )


def test_a_stranger_is_asked_to_log_in(client: Client) -> None:
    assert client.get("/").headers["Location"] == "/login/?next=/"


def test_one_logs_in_with_the_email_in_any_case(client: Client) -> None:
    making.user("ada")
    answer = client.post("/login/", {"username": "ADA@example.org", "password": "a good password"})
    assert answer.status_code == 302
    assert answer.headers["Location"] == "/"


def test_a_wrong_password_says_what_to_do(client: Client) -> None:
    making.user("ada")
    answer = client.post("/login/", {"username": "ada@example.org", "password": "wrong"})
    assert "do not belong together" in answer.text


def test_ten_wrong_passwords_lock_the_login_for_a_while(client: Client) -> None:
    making.user("ada")
    tries = [
        client.post("/login/", {"username": "ada@example.org", "password": "wrong"})
        for _ in range(11)
    ]
    assert tries[-1].status_code == 429
    assert "Too many attempts" in tries[-1].text


def test_a_forgotten_password_is_set_anew_by_mail(client: Client) -> None:
    user = making.user("ada")
    client.post("/password/", {"email": "ada@example.org"})
    link = re.search(r"http://testserver(\S+)", str(mail.outbox[0].body))
    assert link is not None
    form = client.get(link[1], follow=True).redirect_chain[-1][0]
    fresh = "seven green bicycles"
    client.post(form, {"new_password1": fresh, "new_password2": fresh})
    user.refresh_from_db()
    assert user.check_password(fresh)


def test_a_reset_tells_nobody_whether_a_login_exists(client: Client) -> None:
    making.user("ada")
    known = client.post("/password/", {"email": "ada@example.org"})
    unknown = client.post("/password/", {"email": "nobody@example.org"})
    assert (known.status_code, known.headers["Location"]) == (
        unknown.status_code,
        unknown.headers["Location"],
    )


def test_an_invitation_leads_to_a_login_and_the_information(client: Client, study: Study) -> None:
    answer = client.post(f"/join/{invitation(study).token}/", joining())
    assert answer.headers["Location"] == f"/studies/{study.slug}/consent/"
    user = User.objects.get(email="ada@example.org")
    assert "Ada Example" in client.get("/").text
    assert user.memberships.get().role == Role.RATER


def test_an_invitation_lets_a_login_into_a_further_study(study: Study) -> None:
    user = making.user()
    answer = logged_in(user).post(f"/join/{invitation(study).token}/")
    assert answer.headers["Location"] == f"/studies/{study.slug}/consent/"
    assert user.memberships.filter(study=study).exists()


def test_a_used_up_invitation_lets_nobody_in(client: Client, study: Study) -> None:
    token = invitation(study, taken=1).token
    assert client.get(f"/join/{token}/").status_code == 410
    assert client.post(f"/join/{token}/", joining()).status_code == 410
    assert not User.objects.filter(email="ada@example.org").exists()


def test_a_used_up_invitation_takes_who_joined_by_it_to_the_study(
    client: Client, study: Study
) -> None:
    link = f"/join/{invitation(study).token}/"
    client.post(link, joining())
    assert client.get(link).headers["Location"] == f"/studies/{study.slug}/consent/"
    assert client.post(link).headers["Location"] == f"/studies/{study.slug}/consent/"


def test_a_used_up_invitation_offers_who_is_logged_out_to_log_in(
    client: Client, study: Study
) -> None:
    link = f"/join/{invitation(study, taken=1).token}/"
    assert f"/login/?next={link}" in client.get(link).text


def test_who_joins_a_draft_is_told_that_it_is_not_open_yet(study: Study) -> None:
    Study.objects.filter(pk=study.pk).update(state="draft")
    answer = logged_in(making.user()).post(f"/join/{invitation(study).token}/", follow=True)
    assert answer.status_code == 200
    assert "which is not open yet" in answer.text


def test_an_unknown_invitation_is_not_found(client: Client) -> None:
    assert client.get("/join/nothing/").status_code == 404


def test_joining_with_a_weak_password_says_why(client: Client, study: Study) -> None:
    answer = client.post(f"/join/{invitation(study).token}/", joining(password="short"))
    assert "too short" in answer.text
    assert not User.objects.filter(email="ada@example.org").exists()


def test_joining_with_a_known_address_asks_to_log_in(client: Client, study: Study) -> None:
    making.user("ada")
    answer = client.post(f"/join/{invitation(study).token}/", joining())
    assert "Log in, then open the link again" in answer.text


def test_nobody_gets_a_page_before_consent(study: Study) -> None:
    user = making.user()
    user.memberships.create(study=study, role=Role.RATER)
    answer = logged_in(user).post(f"/studies/{study.slug}/next/")
    assert answer.headers["Location"] == f"/studies/{study.slug}/consent/"
    assert not Assignment.objects.exists()


def test_consent_is_stored_and_starts_the_first_page_with_its_instructions(study: Study) -> None:
    user = making.user()
    user.memberships.create(study=study, role=Role.RATER)
    client = logged_in(user)
    assert study.version is not None
    assert study.version.information in client.get(f"/studies/{study.slug}/consent/").text
    answer = client.post(f"/studies/{study.slug}/consent/", follow=True)
    assert '<details class="sheet" id="instructions" open>' in answer.text
    assert Consent.objects.get().version == study.version


def test_who_withdraws_gives_the_open_page_back(
    rater: Client, study: Study, assignment: Assignment
) -> None:
    rater.post(f"/studies/{study.slug}/withdraw/")
    assignment.refresh_from_db()
    assert assignment.state == Assignment.State.RETURNED
    assert Consent.objects.get().withdrawn_at is not None
    home = rater.get("/")
    assert home.context["next"] is None
    assert "you withdrew" in home.text
    assert f"/studies/{study.slug}/consent/" in home.text
    assert "This page was given back." in rater.get(address(assignment), follow=True).text


def test_who_agrees_again_after_withdrawing_is_offered_pages_again(
    rater: Client, study: Study
) -> None:
    rater.post(f"/studies/{study.slug}/withdraw/")
    rater.post(f"/studies/{study.slug}/consent/")
    home = rater.get("/")
    assert home.context["next"].study == study
    assert "you withdrew" not in home.text


def test_a_study_one_does_not_belong_to_is_not_there(study: Study) -> None:
    client = logged_in(making.user())
    for action in ("consent", "withdraw"):
        assert client.get(f"/studies/{study.slug}/{action}/").status_code == 404
    assert client.post(f"/studies/{study.slug}/next/").status_code == 404


def test_home_says_what_to_do_next(rater: Client, study: Study) -> None:
    assert "Your first page" in rater.get("/").text
    rater.post(f"/studies/{study.slug}/next/")
    assert "Go on with your page" in rater.get("/").text


LATE = "Time ran out, but your 2 answers are saved."


@pytest.fixture
def late(rater: Client, assignment: Assignment) -> Assignment:
    """A page with two answers whose time ran out."""
    fields = {"q1-choice": "yes", "q2-choice": "no", "q3-other": "", "q3-ms": "9", "revision": "0"}
    rater.post(address(assignment, "save"), fields)
    run_out(assignment)
    return assignment


def run_out(assignment: Assignment) -> None:
    over = timezone.now() - timedelta(minutes=1)
    Assignment.objects.filter(pk=assignment.pk).update(lease_until=over)


def test_pay_time_and_wage_stand_on_home_information_and_page(
    rater: Client, study: Study, assignment: Assignment
) -> None:
    change_version(study=study, by=study.corpus.owner, pay="0.65")
    Study.objects.filter(pk=study.pk).update(page_seconds=240)
    Assignment.objects.update(version=study.version)
    terms = "$0.65, about 4 minutes, $9.75 an hour"
    for path in ("/", f"/studies/{study.slug}/consent/", address(assignment)):
        assert terms in rater.get(path).text


@pytest.mark.parametrize("is_freed", [False, True])
def test_home_leads_to_the_answers_of_a_page_whose_time_ran_out(
    rater: Client, late: Assignment, is_freed: bool
) -> None:
    if is_freed:
        assert free_expired() == 1
    home = rater.get("/").text
    assert LATE in home
    assert f'href="{address(late)}"' in home
    assert rater.get(address(late)).status_code == 200


def test_a_new_page_can_be_had_beside_the_one_whose_time_ran_out(
    rater: Client, study: Study, late: Assignment
) -> None:
    assert "Start a page" in rater.get("/").text
    fresh = rater.post(f"/studies/{study.slug}/next/").headers["Location"]
    home = rater.get("/").text
    assert fresh != address(late)
    assert f'href="{fresh}"' in home
    assert LATE in home


def test_home_does_not_speak_of_a_late_page_once_it_is_submitted(
    rater: Client, late: Assignment
) -> None:
    free_expired()
    rater.post(address(late, "submit"), making.answers(6) | {"revision": ["1"]})
    assert "Time ran out" not in rater.get("/").text


def test_home_does_not_speak_of_a_late_page_of_a_study_one_withdrew_from(
    rater: Client, study: Study, late: Assignment
) -> None:
    free_expired()
    rater.post(f"/studies/{study.slug}/withdraw/")
    assert "Time ran out" not in rater.get("/").text


def test_a_late_page_of_a_study_one_withdrew_from_is_not_shown_but_explained(
    rater: Client, study: Study, assignment: Assignment
) -> None:
    Assignment.objects.update(lease_until=timezone.now())
    free_expired()
    rater.post(f"/studies/{study.slug}/withdraw/")
    answer = rater.get(address(assignment), follow=True)
    assert "You withdrew from this study" in answer.text
    assert "answers stay saved" in submit(rater, assignment, making.answers(6)).json()["message"]


def test_home_does_not_speak_of_a_late_page_without_answers(
    rater: Client, assignment: Assignment
) -> None:
    fields = {"revision": "0", "q1-ms": "900", "q1-other": "", "q1-problem": ""}
    rater.post(address(assignment, "save"), fields)
    run_out(assignment)
    assert "Time ran out" not in rater.get("/").text


def test_home_offers_no_page_of_a_study_in_which_every_place_is_taken(
    rater: Client, study: Study
) -> None:
    assert "Start a page" in rater.get("/").content.decode()
    Unit.objects.filter(study=study, gold__isnull=True).update(counted=F("wanted"))
    home = rater.get("/").content.decode()
    assert "Every question is answered, or with somebody else at the moment." in home
    assert "Start a page" not in home


def test_home_says_nothing_of_places_beside_the_open_page_that_has_the_last(
    rater: Client, study: Study, assignment: Assignment
) -> None:
    Unit.objects.filter(study=study, gold__isnull=True).update(wanted=F("held") + F("counted") + 1)
    Unit.objects.filter(study=study, gold__isnull=True).update(counted=F("counted") + 1)
    home = rater.get("/").content.decode()
    assert address(assignment) in home
    assert "Every question is answered" not in home


def test_home_counts_the_answers_of_the_day(rater: Client, assignment: Assignment) -> None:
    rater.post(address(assignment, "submit"), making.answers(6))
    answer = rater.get("/")
    assert answer.context["answers_today"] == 6
    assert answer.context["pages"] == 1


def test_a_login_without_a_study_is_told_where_to_begin() -> None:
    assert "You are in no study yet" in logged_in(making.user()).get("/").text


def test_asking_twice_for_a_page_gives_the_same_one(rater: Client, study: Study) -> None:
    first = rater.post(f"/studies/{study.slug}/next/").headers["Location"]
    assert rater.post(f"/studies/{study.slug}/next/").headers["Location"] == first


def test_a_paused_study_gives_no_page_and_says_so(rater: Client, study: Study) -> None:
    Study.objects.filter(pk=study.pk).update(state=Study.State.PAUSED)
    answer = rater.post(f"/studies/{study.slug}/next/", follow=True)
    assert "not open at the moment" in answer.text


def test_a_strangers_page_is_not_found(study: Study, assignment: Assignment) -> None:
    other = making.rater(study)
    assert other.user is not None
    client = logged_in(other.user)
    assert client.get(address(assignment)).status_code == 404
    for action in ("save", "submit", "return"):
        assert client.post(address(assignment, action), {"revision": "9"}).status_code == 404
    assignment.refresh_from_db()
    assert assignment.draft == {}
    assert assignment.state == Assignment.State.OPEN


def test_who_is_logged_out_gets_a_clear_answer_and_no_redirect(assignment: Assignment) -> None:
    for action in ("save", "submit"):
        answer = Client().post(
            address(assignment, action), {"revision": "0"}, headers={"Accept": "application/json"}
        )
        assert (answer.status_code, answer.json()["error"]) == (401, "logged_out")


def test_a_plain_form_of_who_is_logged_out_leads_to_the_login_and_back(
    client: Client, assignment: Assignment
) -> None:
    answer = client.post(address(assignment, "submit"), making.answers(6))
    assert answer.headers["Location"] == f"/login/?next={address(assignment)}"
    assert "not submitted yet" in client.get(answer.headers["Location"]).text
    assert not Judgment.objects.exists()


def test_a_draft_is_saved_and_shown_again(rater: Client, assignment: Assignment) -> None:
    fields = {"revision": "0", "q2-choice": "partial_yes", "q2-reasons": ["absent", "wrong"]}
    answer = rater.post(address(assignment, "save"), fields)
    assert answer.json()["revision"] == 1
    page = rater.get(address(assignment))
    second = page.context["page"].questions[1]
    assert second.draft == {"choice": ["partial_yes"], "reasons": ["absent", "wrong"]}
    assert page.text.count(" checked>") == 4  # with the switch of the keys


def test_an_older_window_does_not_overwrite_a_newer_one(
    rater: Client, assignment: Assignment
) -> None:
    rater.post(address(assignment, "save"), {"revision": "0", "q1-choice": "no"})
    answer = rater.post(address(assignment, "save"), {"revision": "0", "q1-choice": "yes"})
    assert (answer.status_code, answer.json()["error"]) == (409, "newer")
    assignment.refresh_from_db()
    assert assignment.draft == {"q1-choice": ["no"]}


def test_a_save_without_a_revision_is_refused(rater: Client, assignment: Assignment) -> None:
    assert rater.post(address(assignment, "save"), {"q1-choice": "yes"}).status_code == 400


def test_a_missing_answer_is_named_and_the_others_are_kept(
    rater: Client, assignment: Assignment
) -> None:
    fields = making.answers(6)
    del fields["q3-choice"]
    answer = submit(rater, assignment, fields)
    assert answer.status_code == 422
    assert list(answer.json()["errors"]) == ["q3-choice"]

    page = rater.post(address(assignment, "submit"), fields)
    assert page.status_code == 422
    assert page.text.count('value="yes" data-key="1" checked') == 5
    assert "Nothing is lost" in page.text


def test_a_plain_form_submits_without_script(rater: Client, assignment: Assignment) -> None:
    answer = rater.post(address(assignment, "submit"), making.answers(6))
    assert answer.headers["Location"] == address(assignment, "done/")
    assert Judgment.objects.count() == 6
    assert "Submitted." in rater.get(answer.headers["Location"]).text


def test_a_repeated_submit_gets_the_same_receipt(rater: Client, assignment: Assignment) -> None:
    first, second = (submit(rater, assignment, making.answers(6)) for _ in range(2))
    assert first.json() == second.json()
    assert Judgment.objects.count() == 6


def test_an_older_window_cannot_submit_over_newer_answers(
    rater: Client, assignment: Assignment
) -> None:
    newer = making.answers(6, "no")
    rater.post(address(assignment, "save"), newer | {"revision": ["0"]})
    answer = submit(rater, assignment, making.answers(6) | {"revision": ["0"]})
    assert (answer.status_code, answer.json()["error"]) == (409, "newer")
    assert not Judgment.objects.exists()
    done = submit(rater, assignment, newer | {"revision": ["1"]})
    assert done.status_code == 200


def test_without_script_an_older_page_keeps_its_answers_and_links_to_the_newer_ones(
    rater: Client, assignment: Assignment
) -> None:
    rater.post(address(assignment, "save"), making.answers(6, "no") | {"revision": ["0"]})
    older = making.answers(6) | {"revision": ["0"]}
    page = rater.post(address(assignment, "submit"), older)
    assert page.status_code == 409
    assert page.text.count('value="yes" data-key="1" checked') == 6
    assert f'<a href="{address(assignment)}">Load the newer answers</a>' in page.text
    assert 'name="revision" value="0"' in page.text
    assert not Judgment.objects.exists()


def test_a_submitted_page_leads_to_its_receipt(rater: Client, assignment: Assignment) -> None:
    rater.post(address(assignment, "submit"), making.answers(6))
    answer = rater.get(address(assignment))
    assert answer.headers["Location"] == address(assignment, "done/")
    late = rater.post(address(assignment, "save"), {"revision": "5"})
    assert (late.status_code, late.json()["error"]) == (409, "closed")


def test_a_page_that_was_not_submitted_has_no_receipt(
    rater: Client, assignment: Assignment
) -> None:
    assert rater.get(address(assignment, "done/")).status_code == 404


def test_a_page_given_back_is_closed(rater: Client, assignment: Assignment) -> None:
    assert "You gave the page back" in rater.post(address(assignment, "return"), follow=True).text
    answer = submit(rater, assignment, making.answers(6))
    assert answer.status_code == 409
    assert rater.get(address(assignment)).headers["Location"] == "/"


def test_the_wish_for_all_questions_at_once_is_remembered(
    rater: Client, assignment: Assignment
) -> None:
    rater.post(address(assignment, "save"), {"revision": "0", "view": "all"})
    assert 'data-view="all"' in rater.get(address(assignment)).text


def test_a_caption_is_text_and_never_markup(rater: Client, study: Study, account: Account) -> None:
    study.corpus.captions.update(text="<b>Bold</b> <script>1</script> & 🐶")
    page = rater.get(address(draw(study=study, account=account))).text
    assert "&lt;b&gt;Bold&lt;/b&gt; &lt;script&gt;1&lt;/script&gt; &amp; 🐶" in page
    assert "<b>Bold" not in page


def test_a_page_shows_neither_golds_nor_machines_nor_ids(
    rater: Client, study: Study, account: Account
) -> None:
    planted = Concat(Value("planted-"), F("external_id"))
    study.corpus.images.update(file_name=planted, external_id=planted)
    study.corpus.captions.update(external_id=planted)
    page = rater.get(address(draw(study=study, account=account))).text
    assert not re.search("planted-|gold|machine|true_|unit|candidate", page)


def test_a_page_needs_no_inline_script_or_style(rater: Client, assignment: Assignment) -> None:
    page = rater.get(address(assignment)).text
    assert not re.search(r"\sstyle=|<style|\son[a-z]+=|<script(?![^>]*\ssrc=)", page)


def test_hidden_parts_of_an_earlier_choice_are_not_part_of_the_answer(
    rater: Client, assignment: Assignment
) -> None:
    fields = making.answers(6) | {"q1-reasons": ["wrong"], "q1-errors": ["age"]}
    rater.post(address(assignment, "submit"), fields)
    first = Judgment.objects.get(slot__position=1)
    assert first.answer == {"choice": "yes"}


def test_choices_rendered_once_a_page_read_as_if_rendered_for_each_question(
    assignment: Assignment,
) -> None:
    fields = {"q2-choice": ["partial_yes"], "q2-reasons": ["wrong"], "q4-problem": ["odd"]}
    context = {"page": page_of(assignment, fields=fields, errors={"q5-choice": "Choose."})}
    each = render_to_string("work/page.html", context)
    once = render_to_string("work/page.html", context | {"alike": {}})
    assert once == each
    assert each.count('name="q3-errors"') == 10


@pytest.mark.parametrize(
    ("role", "desk"), [(Role.REVIEWER, "/review/"), (Role.RESEARCHER, "/research/")]
)
def test_who_does_not_rate_is_led_to_their_own_desk(study: Study, role: Role, desk: str) -> None:
    user = making.user()
    user.memberships.create(study=study, role=role)
    assert logged_in(user).get("/").headers["Location"] == desk


def test_own_work_tells_the_decision_on_payment_and_its_reason(
    rater: Client, study: Study, assignment: Assignment
) -> None:
    submit(rater, assignment, making.answers(6))
    assert "waits for a decision" in rater.get("/work/").text
    check_submitted()
    making.refuse(assignment, making.user(), "All twenty in nine seconds.")
    shown = rater.get("/work/").text
    assert "refused" in shown
    assert "All twenty in nine seconds." in shown
    assert "not used" not in shown
    assert "not_used" not in shown


def test_own_work_decided_by_the_rule_speaks_of_no_gold(
    rater: Client, assignment: Assignment
) -> None:
    submit(rater, assignment, making.truthful(assignment))
    check_submitted()
    shown = rater.get("/work/").text
    assert "Checked by a rule." in shown
    assert "gold" not in shown


def test_own_work_shows_nobody_elses_pages(rater: Client, study: Study) -> None:
    making.work(study, making.rater(study))
    assert "You have not submitted a page yet." in rater.get("/work/").text


def test_own_work_goes_page_by_page_in_as_many_queries(
    rater: Client, study: Study, account: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hits.views.rater.PAGES_LISTED", 2)
    keys = [str(making.work(study, account).key) for _ in range(3)]
    with CaptureQueriesContext(connection) as two:
        newest = rater.get("/work/").text
    older = re.search(r'href="(\?before=[0-9a-f-]+)"', newest)
    assert older is not None
    with CaptureQueriesContext(connection) as one:
        oldest = rater.get(f"/work/{older[1]}").text
    assert [key for key in keys if key in newest] == keys[1:]
    assert [key for key in keys if key in oldest] == keys[:1]
    assert len(one) == len(two)
