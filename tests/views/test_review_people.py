"""People and golds on the reviewer's desk, and what raters read of it."""

import pytest
from django.test import Client

from hits.models import (
    Account,
    Assignment,
    GoldDecision,
    Membership,
    PersonEvent,
    Role,
    Study,
    User,
)
from hits.pipeline import jobs
from tests import making
from tests.views.test_review import flagged, logged_in
from workers.work import WORK

pytestmark = pytest.mark.django_db


@pytest.fixture
def study() -> Study:
    settings = {"candidates_a_page": 4, "justification": False}
    return making.study(making.corpus(images=12), settings=settings, pay="0.65")


@pytest.fixture
def rater(study: Study) -> Account:
    account = making.rater(study, "very-private-name")
    making.work(study, account)
    flagged(study, account)
    return account


@pytest.fixture
def desk(study: Study) -> Client:
    reviewer = making.user()
    Membership.objects.create(study=study, user=reviewer, role=Role.REVIEWER)
    return logged_in(reviewer)


def user_of(account: Account) -> User:
    assert account.user is not None
    return account.user


def test_a_raters_work_record_and_signals_are_on_one_page_without_a_name(
    study: Study, rater: Account, desk: Client
) -> None:
    listed = desk.get(f"/review/{study.slug}/people/").text
    shown = desk.get(f"/review/{study.slug}/people/{rater.person_id}/").text
    assert f"Rater {rater.person_id}" in listed
    assert "75.0%" in listed
    assert "The last 4 golds" in shown
    assert "very-private-name" not in listed + shown
    for nobody in (0, 2**63):
        assert desk.get(f"/review/{study.slug}/people/{nobody}/").status_code == 404


def test_numbers_too_long_for_any_row_name_nothing(
    study: Study, rater: Account, desk: Client
) -> None:
    page = Assignment.objects.filter(study=study, person=rater.person_id).latest("pk")
    far = "9" * 5000
    seen = desk.post(f"/review/{study.slug}/{page.key}/seen/", {"position": [far, "1"]})
    assert seen.status_code == 204
    assert page.looks.get().position == 1
    golds = f"/review/{study.slug}/golds/"
    assert desk.post(golds, {"gold": far, "value": "kept", "reason": "Fair."}).status_code == 404


def test_a_warning_and_an_appeal_are_read_by_both_sides(
    study: Study, rater: Account, desk: Client
) -> None:
    page = f"/review/{study.slug}/people/{rater.person_id}/"
    assert desk.post(page, {"kind": "warning", "text": " "}).status_code == 422
    desk.post(page, {"kind": "warning", "text": "Please read to the end."})
    own = logged_in(user_of(rater))
    assert "Please read to the end." in own.get("/work/").text
    own.post(f"/studies/{study.slug}/appeal/", {"text": "The image was missing."})
    assert "Your last note waits for an answer." in own.get("/work/").text
    assert "The image was missing." in desk.get(f"/review/{study.slug}/people/").text
    appealed = PersonEvent.objects.get(kind="appeal")
    desk.post(f"/review/{study.slug}/appeals/{appealed.pk}/", {"text": "You are right."})
    assert "You are right." in own.get("/work/").text
    assert "You are right." in desk.get(page).text
    assert own.post("/studies/none/appeal/", {"text": "x"}).status_code == 404


def test_who_is_excluded_gets_no_page_until_readmitted(
    study: Study, rater: Account, desk: Client
) -> None:
    page = f"/review/{study.slug}/people/{rater.person_id}/"
    desk.post(page, {"kind": "excluded", "text": "Copies from others."})
    assert "Copies from others." in desk.get(page).text
    own = logged_in(user_of(rater))
    refused = own.post(f"/studies/{study.slug}/next/", follow=True)
    assert refused.redirect_chain[-1][0] == "/"
    desk.post(page, {"kind": "readmitted", "text": "It was a mistake."})
    assert "/work/" in own.post(f"/studies/{study.slug}/next/").headers["Location"]


def test_a_gold_is_kept_or_retired_on_the_desk_with_a_reason(
    study: Study, rater: Account, desk: Client
) -> None:
    path = f"/review/{study.slug}/golds/"
    assert "No gold is in doubt." in desk.get(path).text
    gold = study.units.filter(gold__isnull=False).earliest("pk")
    sent = {"gold": gold.pk, "value": "retired"}
    assert desk.post(path, sent | {"reason": ""}).status_code == 422
    assert desk.post(path, sent | {"gold": "x", "reason": "Wrong."}).status_code == 404
    answer = desk.post(path, sent | {"reason": "Wrong."}, follow=True)
    assert "The gold is retired; pages that failed it are checked again." in answer.text
    assert GoldDecision.objects.get().reason == "Wrong."
    gold.refresh_from_db()
    assert gold.excluded


def test_the_signals_are_computed_on_request(study: Study, rater: Account, desk: Client) -> None:
    desk.post(f"/review/{study.slug}/signals/")
    jobs.run(study.jobs.get(kind="signals").pk, WORK)
    assert list(study.flags.values_list("signal", flat=True)) == ["page golds"]
