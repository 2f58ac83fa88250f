"""A study at marketplaces, by script."""

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.conf import LazySettings
from django.test import Client
from rest_framework.authtoken.models import Token

from hits.models import ClaimState, Intent, Job, Participation, Publication, Study
from tests import balance, making

pytestmark = pytest.mark.django_db


@pytest.fixture
def study() -> Study:
    return making.study(making.corpus(images=12), settings={"candidates_a_page": 4}, pay="0.65")


@pytest.fixture
def api(study: Study) -> Client:
    token = Token.objects.create(user=study.corpus.owner)
    return Client(headers={"authorization": f"Token {token.key}"})


def offer(**changes: Any) -> dict[str, Any]:
    return {
        "channel": "local",
        "title": "Pairs",
        "description": "Pairs of an image and a caption.",
        "minutes": 30,
        "pages": 2,
        **changes,
    }


def post(api: Client, address: str, **sent: Any) -> Any:
    return api.post(address, sent, content_type="application/json")


@pytest.mark.parametrize(
    ("reward", "fee", "page", "pages", "total"),
    [
        ("0.01", "0.01", "0.02", 1, "0.02"),
        ("0.05", "0.01", "0.06", 10, "0.60"),
        ("0.07", "0.01", "0.08", 100, "8.00"),
        ("0.08", "0.02", "0.10", 100, "10.00"),
        ("0.62", "0.12", "0.74", 9, "6.66"),
        ("0.63", "0.13", "0.76", 9, "6.84"),
        ("0.65", "0.13", "0.78", 1, "0.78"),
        ("0.65", "0.13", "0.78", 2160, "1684.80"),
        ("1.40", "0.28", "1.68", 2160, "3628.80"),
    ],
)
def test_costs_are_told_to_the_cent(
    study: Study, api: Client, reward: str, fee: str, page: str, pages: int, total: str
) -> None:
    address = f"/api/studies/{study.slug}/channels/local/estimate/"
    found = api.get(f"{address}?reward={reward}&pages={pages}").json()
    assert [found[name] for name in ("fee", "page_cost", "total")] == [fee, page, total]


def test_an_estimate_has_the_studys_pay_the_wanting_pages_and_the_balance(
    study: Study, api: Client
) -> None:
    wanting = api.get(f"/api/studies/{study.slug}/channels/").json()[0]["pages_wanting"]
    found = api.get(f"/api/studies/{study.slug}/channels/local/estimate/").json()
    assert wanting > 1
    assert (found["pages"], found["reward"], found["balance"]) == (wanting, "0.65", "10000.00")
    assert (found["minutes"], found["hourly"], found["warning"]) == (None, None, "")


def test_a_marketplace_that_does_not_answer_is_told_with_the_costs(
    study: Study, api: Client, settings: LazySettings
) -> None:
    settings.CHANNELS = balance.channels(balance.SILENT)
    found = api.get(f"/api/studies/{study.slug}/channels/local/estimate/").json()
    assert (found["balance"], found["page_cost"]) == (None, "0.78")
    assert "does not answer" in found["warning"]


def test_a_study_is_published_by_a_job(study: Study, api: Client) -> None:
    asked = offer(countries=["US", "US-CA"], qualifications=["3ABC >= 80", "!3DEF"])
    made = post(api, f"/api/studies/{study.slug}/publications/", **asked)
    assert made.status_code == 201
    publication = Publication.objects.get(pk=made.json()["id"])
    assert (str(publication.reward), publication.hits.count()) == ("0.65", 2)
    country, *qualifications = publication.terms["requirements"]
    assert country["values"] == ["US", "US-CA"]
    assert [(each["qualification"], each["comparator"]) for each in qualifications] == [
        ("3ABC", "GreaterThanOrEqualTo"),
        ("3DEF", "DoesNotExist"),
    ]
    assert Job.objects.get(kind="publish").arguments == {"publication": publication.pk}


def test_what_is_sent_twice_with_what_was_seen_is_published_once(study: Study, api: Client) -> None:
    address = f"/api/studies/{study.slug}/publications/"
    first = post(api, address, **offer(last_publication=0))
    second = post(api, address, **offer(last_publication=0))
    assert (first.status_code, second.status_code) == (201, 409)
    assert second.json()["error"] == "stale"
    assert study.publications.count() == 1


def test_more_pages_sent_twice_with_what_was_seen_are_published_once(
    study: Study, api: Client
) -> None:
    publication = making.publication(study, hits=1)
    address = f"/api/publications/{publication.pk}/top-up/"
    assert post(api, address).status_code == 400
    first, second = (post(api, address, pages=1, seen=1) for _ in range(2))
    assert (first.status_code, second.status_code) == (200, 409)
    assert second.json()["error"] == "stale"
    assert publication.hits.count() == 2


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"reward": "0.001"}, "reward"),
        ({"reward": "-1"}, "reward"),
        ({"pages": 0}, "pages"),
        ({"minutes": 0}, "minutes"),
        ({"days": 366}, "days"),
        ({"approval_days": 31}, "approval_days"),
        ({"approval_rate": 101}, "approval_rate"),
        ({"countries": ["Germany"]}, "countries"),
        ({"countries": ["ZZ"]}, "countries"),
        ({"qualifications": ["!3ABC >= 80"]}, "qualifications"),
        ({"title": "x" * 129}, "title"),
        ({"title": "Pairs\x07"}, "title"),
    ],
)
def test_terms_that_make_no_sense_are_refused_by_name(
    study: Study, api: Client, changes: dict[str, Any], field: str
) -> None:
    answer = post(api, f"/api/studies/{study.slug}/publications/", **offer(**changes))
    assert answer.status_code == 400
    assert list(answer.json()["errors"]) == [field]
    assert not study.publications.exists()


@pytest.mark.parametrize("changes", [{"pages": 100_000}, {"channel": "nowhere"}])
def test_what_cannot_be_published_is_refused_with_a_reason(
    study: Study, api: Client, changes: dict[str, Any]
) -> None:
    answer = post(api, f"/api/studies/{study.slug}/publications/", **offer(**changes))
    assert (answer.status_code, answer.json()["error"]) == (400, "refused")
    assert answer.json()["message"]


def test_claims_are_filtered_by_their_state(study: Study, api: Client) -> None:
    publication = making.publication(study)
    made = {state: making.claim(publication, state) for state in ClaimState}
    for state, claim in made.items():
        found = api.get(f"/api/publications/{publication.pk}/claims/", {"state": state.value})
        assert [row["id"] for row in found.json()["results"]] == [claim.pk], state
    found = api.get(f"/api/publications/{publication.pk}/").json()
    assert found["following"]["claims"] == dict.fromkeys(ClaimState.values, 1)


def test_money_is_what_was_paid_owed_and_offered(study: Study, api: Client) -> None:
    publication = making.publication(study, hits=3)
    paid = making.claim(publication, ClaimState.PAID)
    making.claim(publication, ClaimState.CONFIRMED)
    making.claim(publication, ClaimState.REFUSED)
    making.settled(publication, "bonus", claim=paid, amount="1.20")
    found = api.get(f"/api/publications/{publication.pk}/").json()["following"]
    money = [found[name] for name in ("paid", "fees", "bonuses", "owed", "offered", "total")]
    assert money == ["0.78", "0.13", "1.20", "0.78", "2.34", "5.10"]


def test_deadlines_within_two_days_are_counted(study: Study, api: Client) -> None:
    publication = making.publication(study)
    for hours in (1, 47, 49):
        making.claim(publication, approves_in=timedelta(hours=hours))
    found = api.get(f"/api/publications/{publication.pk}/").json()["following"]
    assert found["near_deadlines"] == 2


def test_a_bonus_asked_for_twice_with_one_key_is_one(study: Study, api: Client) -> None:
    claim = making.claim(making.publication(study))
    address = f"/api/claims/{claim.pk}/bonus/"
    sent = {"amount": "1.00", "reason": "Great care."}
    key = str(uuid4())
    first = post(api, address, **sent, key=key).json()
    second = post(api, address, **sent, key=key).json()
    assert first == second
    assert post(api, address, **sent).json()["id"] != first["id"]
    assert (first["action"], first["amount"]) == ("bonus", "1.20")


def test_a_refused_call_is_tried_again_or_dismissed_once(study: Study, api: Client) -> None:
    publication = making.publication(study)
    for act, state in (("repeat", "meant"), ("dismiss", "dismissed")):
        refused = making.settled(publication, "bonus", state="refused", message="No money left.")
        assert post(api, f"/api/calls/{refused.pk}/{act}/").json()["state"] == state
        assert post(api, f"/api/calls/{refused.pk}/{act}/").status_code == 409


def test_stranded_work_is_paid_or_compensated(study: Study, api: Client) -> None:
    publication = making.publication(study)
    there = making.claim(publication, ClaimState.NO_ANSWERS)
    here = making.claim(publication, ClaimState.NOT_HANDED_OVER)
    assert post(api, f"/api/claims/{there.pk}/pay/").status_code == 200
    assert there.intents.get().action == "approve"
    made = post(api, f"/api/claims/{here.pk}/compensate/").json()
    assert Publication.objects.get(pk=made["id"]).compensates == here


def test_work_with_answers_is_not_paid_past_review(study: Study, api: Client) -> None:
    claim = making.claim(making.publication(study))
    answer = post(api, f"/api/claims/{claim.pk}/pay/")
    assert (answer.status_code, answer.json()["error"]) == (400, "refused")


def test_a_message_goes_to_each_worker_in_a_state_once(study: Study, api: Client) -> None:
    publication = making.publication(study)
    worker = making.worker()
    for _ in range(2):
        making.claim(publication, ClaimState.PAID, account=worker)
    making.claim(publication, ClaimState.REFUSED)
    sent = {"state": "paid", "subject": "Thanks", "text": "For all.", "key": "0" * 32}
    for _ in range(2):
        answer = post(api, f"/api/publications/{publication.pk}/notify/", **sent)
        assert answer.json() == {"workers": 1}
    assert Intent.objects.get(action="notify").request["WorkerIds"] == [worker.external_id]


def test_whoever_is_excluded_and_let_in_again_is_known(study: Study, api: Client) -> None:
    claim = making.claim(making.publication(study))
    taking_part = Participation.objects.filter(study=study, person=claim.account.person)
    post(api, f"/api/claims/{claim.pk}/exclude/", reason="Random answers.")
    assert taking_part.get().excluded_reason == "Random answers."
    post(api, f"/api/claims/{claim.pk}/readmit/")
    assert taking_part.get().excluded_reason == ""


def test_hits_of_a_closed_publication_are_deleted(study: Study, api: Client) -> None:
    publication = making.publication(study, hits=2, state="closed")
    publication.hits.update(state="ended", expires_at="2026-01-01T00:00Z")
    address = f"/api/publications/{publication.pk}/delete/"
    assert [post(api, address).json() for _ in range(2)] == [{"hits": 2}, {"hits": 0}]
