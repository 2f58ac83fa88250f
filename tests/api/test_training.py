"""What was right on a training page is told to its person alone, and only once it is submitted."""

from typing import Any
from uuid import UUID

import pytest
from django.test import Client
from django.urls import reverse
from rest_framework.authtoken.models import Token

from hits.models import Account, Assignment, Slot, Study, Unit
from hits.pipeline.draw import draw
from hits.pipeline.people import account_of
from hits.pipeline.submit import submit
from tests import making

pytestmark = pytest.mark.django_db

SMALL = {"candidates_a_page": 4, "justification": False}
JSON = "application/json"


@pytest.fixture
def study() -> Study:
    made = making.study(
        making.corpus(images=12), settings=SMALL, training_units=4, training_accuracy=75
    )
    making.explain_golds(made, lambda unit: explanation(unit.pk))
    return made


def explanation(unit: int) -> str:
    return f"planted-why-{unit}-end"


def explanations_on(page: Assignment) -> set[str]:
    return {explanation(pk) for pk in page.slots.values_list("unit", flat=True)}


def told(text: str) -> set[str]:
    """The explanations of whatever golds a text gives away."""
    golds = Unit.objects.filter(gold__isnull=False).values_list("pk", flat=True)
    return {explanation(pk) for pk in golds if explanation(pk) in text}


def api(account: Account) -> Client:
    token, _ = Token.objects.get_or_create(user=account.user)
    return Client(headers={"authorization": f"Token {token.key}"})


def pages(account: Account) -> Client:
    client = Client()
    assert account.user is not None
    client.force_login(account.user)
    return client


def feedback_url(key: UUID) -> str:
    return f"/api/assignments/{key}/feedback/"


def all_that_a_rater_can_read(account: Account, key: UUID) -> str:
    """Every page and address that speaks of a page, or of the work of its person."""
    client, by_token = pages(account), api(account)
    answers: list[Any] = [
        *(client.get(reverse(name, args=[key]), follow=True) for name in ("page", "page_done")),
        *(client.get(reverse(name)) for name in ("home", "own_work")),
        by_token.get(f"/api/assignments/{key}/"),
        by_token.get(feedback_url(key)),
        by_token.get("/api/assignments/"),
        by_token.get("/api/work/"),
    ]
    return "".join(answer.content.decode() for answer in answers)


def trained(study: Study, account: Account, choice: str = "") -> Assignment:
    page = draw(study=study, account=account)
    fields = making.answers(4, choice) if choice else making.truthful(page)
    submit(assignment_key=page.key, account=account, fields=fields)
    return page


def test_nothing_is_told_before_a_training_page_is_submitted(study: Study) -> None:
    account = making.rater(study)
    page = draw(study=study, account=account)
    assert api(account).get(feedback_url(page.key)).status_code == 404
    assert not told(all_that_a_rater_can_read(account, page.key))


def test_a_refused_submission_of_training_tells_nothing(study: Study) -> None:
    account = making.rater(study)
    page = draw(study=study, account=account)
    sent = {"answers": {"1": {"choice": "yes"}}}
    answer = api(account).post(f"/api/assignments/{page.key}/submit/", sent, content_type=JSON)
    assert answer.status_code == 422
    assert not told(answer.content.decode())


def test_once_submitted_its_own_golds_are_told_and_no_others(study: Study) -> None:
    account = making.rater(study)
    page = trained(study, account)
    assert told(all_that_a_rater_can_read(account, page.key)) == explanations_on(page)


def test_nobody_else_reads_what_was_right(study: Study) -> None:
    page = trained(study, making.rater(study))
    other = making.rater(study)
    assert api(other).get(feedback_url(page.key)).status_code == 404
    assert pages(other).get(reverse("page_done", args=[page.key])).status_code == 404
    assert not told(all_that_a_rater_can_read(other, page.key))


def test_the_golds_of_a_page_that_is_no_training_are_never_told(study: Study) -> None:
    account = making.rater(study)
    trained(study, account)
    page = making.work(study, account)
    assert Slot.objects.filter(assignment=page, unit__gold__isnull=False).exists()
    assert api(account).get(feedback_url(page.key)).status_code == 404
    assert not told(all_that_a_rater_can_read(account, page.key))


def test_feedback_by_the_api_has_answers_in_words(study: Study) -> None:
    account = making.rater(study)
    page = trained(study, account, choice="yes")
    said = api(account).get(feedback_url(page.key)).json()
    assert (said["asked"], said["needed"], said["tries_left"]) == (4, 3, 1)
    assert said["right"] == sum(each["is_right"] for each in said["answers"])
    assert {each["answer"] for each in said["answers"]} == {"100% YES"}
    assert {each["expected"] for each in said["answers"]} <= {
        "A yes (either yes)",
        "A no (either no)",
    }


def test_a_training_page_says_that_it_is_one(study: Study) -> None:
    account = making.rater(study)
    page = api(account).post(f"/api/studies/{study.slug}/next/").json()
    assert page["is_training"]
    assert ">Training<" in pages(account).get(f"/work/{page['key']}/").content.decode()


def test_limits_and_training_are_set_by_the_api(study: Study) -> None:
    owner = account_of(study.corpus.owner)
    rules = {
        "most_units_a_person": 200,
        "most_units_a_day": 50,
        "training_units": 5,
        "training_accuracy": 90,
        "training_attempts": 3,
    }
    version = api(owner).patch(f"/api/studies/{study.slug}/", rules, content_type=JSON).json()
    assert {name: version[name] for name in rules} == rules


@pytest.mark.parametrize(
    "rule",
    [
        {"training_units": 1000},
        {"training_accuracy": 0},
        {"training_accuracy": 101},
        {"training_attempts": 0},
        {"most_units_a_day": -1},
    ],
)
def test_rules_that_cannot_be_are_refused(study: Study, rule: dict[str, int]) -> None:
    owner = account_of(study.corpus.owner)
    answer = api(owner).patch(f"/api/studies/{study.slug}/", rule, content_type=JSON)
    assert answer.status_code == 400


def test_a_researcher_sees_who_qualified_and_lets_somebody_in(study: Study) -> None:
    owner = account_of(study.corpus.owner)
    good, bad = making.rater(study), making.rater(study)
    trained(study, good)
    trained(study, bad, choice="yes")
    listed = api(owner).get(f"/api/studies/{study.slug}/training/").json()["results"]
    by_person = {each["person"]: each for each in listed}
    assert by_person[good.person_id]["qualified_at"] is not None
    assert by_person[good.person_id]["best"] == 4
    assert by_person[bad.person_id]["qualified_at"] is None
    address = f"/api/studies/{study.slug}/training/{bad.person_id}/let-in/"
    let_in = api(owner).post(address).json()
    assert let_in["let_in_by"] == str(study.corpus.owner)
    assert not draw(study=study, account=bad).is_training
    assert api(owner).post(address.replace(str(bad.person_id), "0")).status_code == 400


def test_a_limit_reached_is_told_by_the_api_without_its_number() -> None:
    study = making.study(making.corpus(images=12), settings=SMALL, most_units_a_day=4)
    account = making.rater(study)
    making.work(study, account)
    answer = api(account).post(f"/api/studies/{study.slug}/next/")
    assert answer.status_code == 409
    assert answer.json()["error"] == "nothing_left"
    assert "You can go on from 00:00 UTC" in answer.json()["message"]
