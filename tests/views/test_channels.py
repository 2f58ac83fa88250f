from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import is_dataclass
from datetime import timedelta
from decimal import Decimal
from typing import Any
from uuid import uuid4

import pytest
from django.conf import LazySettings
from django.core.cache import cache
from django.db import connection
from django.template import VariableDoesNotExist
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from hits.channels.contract import NoAnswer
from hits.channels.mturk import MTurk
from hits.models import (
    Account,
    Assignment,
    Claim,
    ClaimState,
    Hit,
    Intent,
    Job,
    Membership,
    Participation,
    Person,
    Publication,
    Role,
    Study,
)
from hits.pipeline.draw import draw
from hits.pipeline.ledger import due
from hits.pipeline.standing import own_record
from hits.pipeline.submit import submit
from tests import balance, making

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _a_silent_marketplace(settings: LazySettings) -> None:
    settings.CHANNELS = balance.channels(balance.SILENT)


Market = Callable[[str], AbstractContextManager[str]]


@pytest.fixture
def market_with(settings: LazySettings) -> Market:
    """A marketplace that answers, with so much money in our account."""

    @contextmanager
    def answering(money: str) -> Iterator[str]:
        with balance.marketplace_with(money) as url:
            settings.CHANNELS = balance.channels(url)
            yield url

    return answering


@pytest.fixture
def study() -> Study:
    return making.study(making.corpus(images=12), settings={"candidates_a_page": 4}, pay="0.65")


@pytest.fixture
def publication(study: Study) -> Publication:
    return making.publication(study, hits=2)


@pytest.fixture
def desk(study: Study) -> Client:
    client = Client()
    client.force_login(study.corpus.owner)
    return client


def address(study: Study, rest: str) -> str:
    return f"/research/studies/{study.slug}/{rest}"


def offer(**changes: Any) -> dict[str, Any]:
    return {
        "title": "Pairs",
        "description": "Pairs of an image and a caption.",
        "reward": "0.65",
        "pages": "2",
        "minutes": "30",
        "days": "7",
        "approval_days": "3",
        "step": "review",
        **changes,
    }


def publish(desk: Client, study: Study, **changes: Any) -> Any:
    return desk.post(address(study, "channels/local/publish/"), offer(**changes))


def a_page_of(study: Study, seconds: int) -> None:
    account = making.rater(study)
    page = draw(study=study, account=account)
    Assignment.objects.filter(pk=page.pk).update(drawn_at="2026-01-01T00:00Z")
    each = [str(seconds * 1000 // page.slots.count())]
    times = {f"q{slot.position}-ms": each for slot in page.slots.all()}
    submit(assignment_key=page.key, account=account, fields=making.truthful(page) | times)


def text_of(response: Any) -> str:
    return " ".join(response.content.decode().split())


def test_the_form_begins_with_the_pay_and_the_pages_that_are_wanting(
    study: Study, desk: Client
) -> None:
    form = desk.get(address(study, "channels/local/publish/")).context["form"]
    assert str(form["reward"].value()) == "0.65"
    assert form["pages"].value() > 1


def test_nothing_is_published_before_the_costs_were_seen(
    study: Study, desk: Client, market_with: Market
) -> None:
    with market_with("1000.00"):
        found = publish(desk, study)
        assert not Publication.objects.exists()
        text = text_of(found)
        for shown in ("$0.65", "$0.13", "$0.78", "$1.56", "$1,000.00", "not known yet"):
            assert shown in text
        launched = publish(desk, study, step="launch", seen=found.context["seen"])
    made = study.publications.get()
    assert launched["Location"] == address(study, f"publications/{made.pk}/")
    assert made.hits.count() == 2
    assert Job.objects.get(kind="publish").arguments == {"publication": made.pk}


def test_a_button_pressed_twice_publishes_once(
    study: Study, desk: Client, market_with: Market
) -> None:
    with market_with("1000.00"):
        seen = publish(desk, study).context["seen"]
        publish(desk, study, step="launch", seen=seen)
        again = publish(desk, study, step="launch", seen=seen)
    assert again.status_code == 422
    assert "published a moment ago" in text_of(again)
    assert study.publications.count() == 1


def test_a_silent_marketplace_is_told_plainly_and_nothing_typed_is_lost(
    study: Study, desk: Client
) -> None:
    found = publish(desk, study, keywords="image, caption")
    text = text_of(found)
    assert "Local does not answer at the moment" in text
    assert 'name="keywords" value="image, caption"' in text
    assert 'value="launch"' not in text


def test_an_account_that_cannot_pay_publishes_nothing(
    study: Study, desk: Client, market_with: Market
) -> None:
    with market_with("1.00"):
        text = text_of(publish(desk, study))
    assert "The account has $1.00. $0.56 are missing for 2 pages" in text
    assert 'value="launch"' not in text


def test_pay_under_the_least_wage_is_warned_about(study: Study, desk: Client) -> None:
    a_page_of(study, seconds=6 * 60)
    found = publish(desk, study, least_wage="15")
    assert "less than the $15.00 you set" in text_of(found)
    assert "less than" not in text_of(publish(desk, study, least_wage="1"))


def test_too_little_time_for_a_page_is_warned_about(study: Study, desk: Client) -> None:
    a_page_of(study, seconds=6 * 60)
    found = publish(desk, study, minutes="11")
    assert "took longer than 6.0 minutes, and you give 11" in text_of(found)
    assert "took longer" not in text_of(publish(desk, study, minutes="12"))


@pytest.mark.parametrize(
    ("changes", "field", "said"),
    [
        ({"reward": "0"}, "reward", "greater than or equal to 0.01"),
        ({"reward": "0.655"}, "reward", "no more than 2 decimal places"),
        ({"pages": "100000"}, "pages", "more page"),
        ({"pages": "none"}, "pages", "whole number"),
        ({"countries": "US, Germany"}, "countries", "GERMANY: write each country"),
        ({"approval_rate": "101"}, "approval_rate", "less than or equal to 100"),
        ({"countries": "US, ZZ"}, "countries", "ZZ: there is no such country"),
        ({"qualifications": "3ABC\nat least 80"}, "qualifications", "at least 80: write the id"),
        ({"title": ""}, "title", "required"),
        ({"title": "Pairs\x07of"}, "title", "Character 6 is a control character (U+0007)"),
        ({"description": "Pairs\x1b of"}, "description", "Character 6 is a control character"),
    ],
)
def test_what_is_wrong_is_told_beside_its_field_and_nothing_is_lost(
    study: Study, desk: Client, changes: dict[str, str], field: str, said: str
) -> None:
    found = publish(desk, study, **{"keywords": "kept", **changes})
    assert found.status_code == 422
    assert said in " ".join(found.context["form"].errors[field])
    text = text_of(found)
    assert f'id="id_{field}_error"' in text
    assert 'value="kept"' in text


def test_what_is_promised_and_who_may_work_is_said_in_words_before_it_is_published(
    study: Study, desk: Client
) -> None:
    Study.objects.filter(pk=study.pk).update(page_seconds=243)
    asked = "3ABC >= 80\n3DEF < 5\n!3XYZ"
    text = text_of(publish(desk, study, qualifications=asked))
    assert "3ABC: at least 80<br>3DEF: less than 5<br>who has not 3XYZ" in text
    assert "$0.65, about 4½ minutes, $8.67 an hour; the time is rounded up" in text


def test_what_a_marketplace_cannot_offer_is_told_before_its_costs(
    study: Study, desk: Client
) -> None:
    found = publish(desk, study, qualifications="masters")
    assert found.status_code == 422
    assert "Masters are not known at this marketplace." in text_of(found)
    assert "Step 1 of 2" in text_of(found)


def test_the_ledger_names_what_a_call_has_made(
    study: Study, publication: Publication, desk: Client
) -> None:
    making.settled(publication, "ticket", answer={"id": "3MADEHERE"})
    page = text_of(desk.get(address(study, f"publications/{publication.pk}/ledger/")))
    assert "<code>3MADEHERE</code>" in page


def test_a_publication_tells_how_far_work_has_come(
    study: Study, publication: Publication, desk: Client
) -> None:
    for state in ClaimState:
        making.claim(publication, state)
    found = desk.get(address(study, f"publications/{publication.pk}/"))
    assert {row["state"]: row["count"] for row in found.context["states"]} == dict.fromkeys(
        ClaimState.values, 1
    )
    text = text_of(found)
    assert text.index("Needs attention") < text.index("HITs and money") < text.index("Work</h3>")


def test_stranded_work_is_seen_to_with_one_click_each(
    study: Study, publication: Publication, desk: Client, market_with: Market
) -> None:
    there = making.claim(publication, ClaimState.NO_ANSWERS)
    here = making.claim(publication, ClaimState.NOT_HANDED_OVER)
    page = address(study, f"publications/{publication.pk}/")
    assert [*desk.get(page).context["stranded"].no_answers] == [there]
    with market_with("1000.00"):
        desk.post(address(study, f"claims/{there.pk}/pay/"))
        desk.post(address(study, f"claims/{here.pk}/compensate/"))
    found = desk.get(page).context["stranded"]
    assert (found.no_answers, found.not_handed_over) == ([], [])
    assert there.intents.get().action == "approve"
    assert here.compensation.hits.count() == 1


def test_more_stranded_workers_than_fit_are_a_link_away(
    study: Study, publication: Publication, desk: Client
) -> None:
    page = address(study, f"publications/{publication.pk}/")
    for state in (ClaimState.NO_ANSWERS, ClaimState.NOT_HANDED_OVER):
        link = f'{page}claims/?state={state.value}">All of them'
        for _ in range(10):
            making.claim(publication, state)
        assert link not in text_of(desk.get(page))
        making.claim(publication, state)
        assert link in text_of(desk.get(page))


def test_templates_ask_for_nothing_that_is_not_there(
    study: Study, publication: Publication, desk: Client, caplog: pytest.LogCaptureFixture
) -> None:
    made = [making.claim(publication, state) for state in ClaimState]
    making.publication(study, compensates=made[4], hits=1)
    making.settled(publication, "bonus", state="refused", message="No money left.")
    caplog.set_level("DEBUG", logger="django.template")
    pages = [f"publications/{publication.pk}/{rest}" for rest in ("", "claims/", "ledger/")]
    for rest in ["", "channels/", *pages, *(f"claims/{claim.pk}/" for claim in made)]:
        assert desk.get(address(study, rest)).status_code == 200
    missing = [record.exc_info[1] for record in caplog.records if record.exc_info]
    assert [
        str(each)
        for each in missing
        if isinstance(each, VariableDoesNotExist) and is_dataclass(list(each.params)[-1])
    ] == []


def test_a_compensation_names_itself_once_and_needs_nothing_while_it_is_being_paid(
    study: Study, publication: Publication, desk: Client
) -> None:
    stranded = making.claim(publication, ClaimState.NOT_HANDED_OVER)
    made = making.publication(study, compensates=stranded)
    Publication.objects.filter(pk=made.pk).update(terms=made.terms | {"title": "Compensation: X"})
    making.claim(made, ClaimState.NO_ANSWERS)
    text = text_of(desk.get(address(study, "channels/")))
    assert ("Compensation: X" in text, "Compensation: Compensation" in text) == (True, False)
    assert "needs attention" not in text
    page = text_of(desk.get(address(study, f"publications/{made.pk}/")))
    assert "Compensation: Compensation" not in page
    assert "no answers came here. Their work" not in page
    assert f"{stranded.account.external_id} alone" in page
    assert "They read" not in page


def test_what_a_study_cost_is_summed_by_channel(
    study: Study, publication: Publication, desk: Client
) -> None:
    a_page_of(study, seconds=6 * 60)
    Assignment.objects.update(payment="approved")
    Publication.objects.filter(pk=publication.pk).update(reward="1.00")
    for state in (ClaimState.PAID, ClaimState.CONFIRMED, ClaimState.NO_ANSWERS):
        claim = making.claim(publication, state)
    making.settled(publication, "bonus", claim=claim, amount="0.60")
    making.settled(publication, "bonus", claim=claim, amount="5.00", state="refused")
    stranded = making.claim(publication, ClaimState.NOT_HANDED_OVER)
    making.claim(making.publication(study, compensates=stranded), ClaimState.PAID)
    found = desk.get(address(study, "")).context["overview"]
    house, local = found.spent
    assert (house.channel, house.total, house.owed) == ("in_house", Decimal("0.65"), 0)
    assert round(house.pace.hourly, 2) == Decimal("6.50")
    assert (local.rewards, local.fees) == (Decimal("1.00"), Decimal("0.20"))
    assert (local.bonuses, local.compensations) == (Decimal("0.60"), Decimal("0.78"))
    assert (local.owed, local.pace) == (Decimal("2.40"), None)
    assert found.cost == Decimal("3.23")


def test_one_page_is_not_spoken_of_as_many(study: Study, desk: Client, market_with: Market) -> None:
    a_page_of(study, seconds=6 * 60)
    assert "last 1 page" not in text_of(desk.get(address(study, "")))
    with market_with("0.10"):
        text = text_of(publish(desk, study, pages="1", step="launch", seen="0"))
    assert "1 page costs $0.78 with the fee" in text


def test_a_silent_marketplace_is_asked_once(
    study: Study, desk: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def balance_of(channel: MTurk) -> Decimal:
        asked.append(channel.name)
        raise NoAnswer("no connection")

    monkeypatch.setattr(MTurk, "balance", balance_of)
    found = publish(desk, study, step="launch", seen="0")
    assert (found.status_code, asked) == (422, ["local"])
    assert "Local does not answer at the moment" in text_of(found)


def test_a_claim_that_may_be_invented_is_marked(
    study: Study, publication: Publication, desk: Client
) -> None:
    here = making.claim(publication, ClaimState.NOT_HANDED_OVER)
    rival = making.claim(publication, ClaimState.CONFIRMED)
    Claim.objects.filter(pk=rival.pk).update(hit=here.hit, reserves=False)
    text = text_of(desk.get(address(study, f"publications/{publication.pk}/")))
    assert "somebody else was confirmed for this HIT" in text


def test_refused_and_unknown_calls_and_near_deadlines_stand_first(
    study: Study, publication: Publication, desk: Client
) -> None:
    making.settled(publication, "approve", state="refused", message="No money left.")
    making.settled(publication, "bonus", state="unknown", settled_at=None)
    making.claim(publication, approves_in=timedelta(hours=20))
    text = text_of(desk.get(address(study, f"publications/{publication.pk}/")))
    assert "1 undecided page approves itself at the marketplace within 48 hours." in text
    assert "Local refused 1 call." in text
    assert "1 call may or may not have been done" in text
    assert "No money left." in text_of(
        desk.get(address(study, f"publications/{publication.pk}/ledger/?state=refused"))
    )
    on_overview = text_of(desk.get(address(study, "")))
    assert "A marketplace refused, or may not have heard, 2 calls." in on_overview


def test_a_launch_that_was_stopped_can_be_resumed(
    study: Study, publication: Publication, desk: Client
) -> None:
    making.hit(publication, "meant")
    page = address(study, f"publications/{publication.pk}/")
    assert "Resume the launch" in text_of(desk.get(page))
    desk.post(f"{page}resume/")
    assert Job.objects.get(kind="publish").state == "queued"
    assert "Resume the launch" not in text_of(desk.get(page))


def test_pausing_is_one_click_and_closing_asks_first(
    study: Study, publication: Publication, desk: Client
) -> None:
    page = address(study, f"publications/{publication.pk}/")
    desk.post(f"{page}state/", {"state": "paused"})
    publication.refresh_from_db()
    assert publication.state == "paused"
    asked = desk.post(f"{page}state/", {"state": "closed"})
    assert "A closed publication stays closed" in text_of(asked)
    publication.refresh_from_db()
    assert publication.state == "paused"
    desk.post(f"{page}state/", {"state": "closed", "sure": "yes"})
    publication.refresh_from_db()
    assert publication.state == "closed"


def test_more_pages_than_are_wanting_are_refused_beside_the_field(
    study: Study, publication: Publication, desk: Client
) -> None:
    found = desk.post(address(study, f"publications/{publication.pk}/top-up/"), {"pages": "100000"})
    assert found.status_code == 422
    assert "There is work for" in text_of(found)
    assert publication.hits.count() == 2


def test_more_pages_are_published_once_after_their_cost_was_seen(
    study: Study, publication: Publication, desk: Client, market_with: Market
) -> None:
    page = address(study, f"publications/{publication.pk}/top-up/")
    with market_with("1000.00"):
        asked = desk.post(page, {"pages": "3"})
        assert "$2.34" in text_of(asked)
        assert publication.hits.count() == 2
        sure = {"pages": "3", "sure": asked.context["sure"]}
        desk.post(page, {**sure, "change": "1"})
        assert publication.hits.count() == 2
        desk.post(page, sure)
        again = desk.post(page, sure, follow=True)
    assert "HITs were added a moment ago" in text_of(again)
    assert publication.hits.count() == 5


def test_whoever_wants_to_change_something_closes_nothing(
    study: Study, publication: Publication, desk: Client
) -> None:
    page = address(study, f"publications/{publication.pk}/state/")
    desk.post(page, {"state": "closed", "sure": "yes", "change": "1"})
    publication.refresh_from_db()
    assert publication.state == "open"


def test_hits_of_a_closed_publication_are_deleted_after_a_word_about_it(
    study: Study, publication: Publication, desk: Client
) -> None:
    page = address(study, f"publications/{publication.pk}/")
    making.claim(publication, ClaimState.CONFIRMED)
    publication.hits.update(state="ended", expires_at="2026-01-01T00:00Z")
    refused = text_of(desk.post(f"{page}delete/", {"sure": "yes"}, follow=True))
    assert "Only HITs of a closed publication can be deleted." in refused
    assert "Delete 2 HITs at local" not in text_of(desk.get(page))
    Publication.objects.update(state="closed")
    assert "Delete 2 HITs at local" in text_of(desk.get(page))
    assert "over and settled: 2 HITs." in text_of(desk.post(f"{page}delete/"))
    assert not publication.intents.exists()
    said = text_of(desk.post(f"{page}delete/", {"sure": "yes"}, follow=True))
    assert "2 HITs are being deleted." in said
    assert publication.intents.filter(action="delete").count() == 2
    for sent in ({}, {"sure": "yes"}):
        again = text_of(desk.post(f"{page}delete/", sent, follow=True))
        assert "No more of its HITs can be deleted now." in again
    assert "at local…" not in said


@pytest.mark.parametrize("state", ["paused", "closed"])
def test_a_launch_of_what_is_not_open_is_neither_offered_nor_resumed(
    study: Study, publication: Publication, desk: Client, state: str
) -> None:
    making.hit(publication, "meant")
    Publication.objects.update(state=state)
    page = address(study, f"publications/{publication.pk}/")
    assert "Resume the launch" not in text_of(desk.get(page))
    answer = desk.post(f"{page}resume/", follow=True)
    assert f"This publication is {state}." in text_of(answer)
    assert not Job.objects.exists()


def test_pausing_a_study_names_the_hits_before_and_what_to_do_after(
    study: Study, publication: Publication, desk: Client
) -> None:
    assert "2 live HITs at local" in text_of(desk.get(address(study, "")))
    desk.post(address(study, "state/"), {"state": "paused"})
    publication.refresh_from_db()
    assert publication.state == "paused"
    reopened = desk.post(address(study, "state/"), {"state": "open"}, follow=True)
    assert "1 publication stays paused" in text_of(reopened)


def test_closing_a_study_with_hits_on_sale_asks_first(
    study: Study, publication: Publication, desk: Client
) -> None:
    asked = desk.post(address(study, "state/"), {"state": "closed"})
    assert "2 live HITs at local" in text_of(asked)
    study.refresh_from_db()
    assert study.state == "open"
    desk.post(address(study, "state/"), {"state": "closed", "sure": "yes"})
    study.refresh_from_db()
    publication.refresh_from_db()
    assert (study.state, publication.state) == ("closed", "closed")


def test_work_confirmed_after_its_compensation_is_told(
    study: Study, publication: Publication, desk: Client
) -> None:
    claim = making.claim(publication, ClaimState.CONFIRMED)
    made = making.publication(study, compensates=claim, state="closed")
    page = address(study, f"claims/{claim.pk}/")
    assert "; it is not made yet." in text_of(desk.get(page))
    making.hit(made)
    assert "; it is made, and the worker was told of it." in text_of(desk.get(page))
    assert "that HIT is not offered any more" in text_of(desk.get(page))
    making.claim(made, ClaimState.ACCEPTED)
    assert "; the worker has taken it." in text_of(desk.get(page))
    assert "both are paid" in text_of(desk.get(page))


def test_reconciling_now_is_a_job_of_the_publication(
    study: Study, publication: Publication, desk: Client
) -> None:
    desk.post(address(study, f"publications/{publication.pk}/reconcile/"))
    job = Job.objects.get(kind="reconcile")
    assert (job.arguments, job.queue) == ({"publication": publication.pk}, "marketplace")


def acted(desk: Client, study: Study, claim: Claim, act: str, **values: str) -> Any:
    """Both steps; the words to be confirmed come back."""
    page = address(study, f"claims/{claim.pk}/{act}/")
    asked = desk.post(page, values)
    desk.post(page, {**values, "sure": str(asked.context["sure"])})
    return text_of(asked)


def test_a_bonus_is_named_with_its_cost_before_it_is_paid(
    study: Study, publication: Publication, desk: Client
) -> None:
    claim = making.claim(publication)
    page = address(study, f"claims/{claim.pk}/bonus/")
    asked = desk.post(page, {"amount": "1.00", "reason": "Great care."})
    assert "a bonus of $1.00. With the fee it costs $1.20" in text_of(asked)
    assert not claim.intents.exists()
    acted(desk, study, claim, "bonus", amount="1.00", reason="Great care.")
    assert (claim.intents.get().action, claim.intents.get().amount) == ("bonus", Decimal("1.20"))


def test_a_bonus_that_was_refused_is_said_to_be_so_and_can_be_tried_again(
    study: Study, publication: Publication, desk: Client
) -> None:
    claim = making.claim(publication)
    page = address(study, f"claims/{claim.pk}/bonus/")
    sent = {"amount": "1.00", "reason": "Great care.", "sure": str(uuid4())}
    desk.post(page, sent)
    claim.intents.update(state="refused", settled_at=timezone.now(), message="No money left.")
    assert "was refused: No money left." in text_of(desk.post(page, sent))
    desk.post(page, {**sent, "sure": str(uuid4())})
    assert sorted(claim.intents.values_list("state", flat=True)) == ["meant", "refused"]
    claim.intents.filter(state="meant").update(state="done", settled_at=timezone.now())
    ledger = address(study, f"publications/{publication.pk}/ledger/")
    assert "Try again" in text_of(desk.get(ledger))
    refused = claim.intents.get(state="refused")
    desk.post(f"{ledger}{refused.pk}/repeat/")
    refused.refresh_from_db()
    assert refused.state == "meant"
    assert Job.objects.filter(kind="settle").exists()


def test_a_refused_call_that_is_dismissed_needs_no_attention(
    study: Study, publication: Publication, desk: Client
) -> None:
    refused = making.settled(publication, "bonus", state="refused", message="No money left.")
    page = address(study, f"publications/{publication.pk}/")
    desk.post(f"{page}ledger/{refused.pk}/dismiss/")
    assert "refused 1 call" not in text_of(desk.get(page))
    assert "Try again" not in text_of(desk.get(f"{page}ledger/"))


def test_a_message_that_was_not_delivered_is_seen_and_can_be_sent_again(
    study: Study, publication: Publication, desk: Client
) -> None:
    sent = {"Subject": "A HIT", "MessageText": "For you.", "WorkerIds": ["A1", "A2"]}
    failed = {"failures": {"A2": "No work of theirs was reviewed"}}
    making.settled(publication, "notify", request=sent, answer=failed)
    making.settled(publication, "notify", request=sent, answer={"failures": {}})
    page = address(study, f"publications/{publication.pk}/")
    assert "Local did not deliver 1 message." in text_of(desk.get(page))
    assert "A marketplace did not deliver 1 message." in text_of(desk.get(address(study, "")))
    ledger = desk.get(f"{page}ledger/?state=undelivered")
    assert "Not delivered to A2 (No work of theirs was reviewed)" in text_of(ledger)
    desk.post(f"{page}ledger/{ledger.context['intents'][0].pk}/repeat/")
    assert publication.intents.latest("pk").request["WorkerIds"] == ["A2"]
    assert "did not deliver" not in text_of(desk.get(page))


def test_a_bonus_without_a_reason_is_refused_beside_the_field(
    study: Study, publication: Publication, desk: Client
) -> None:
    claim = making.claim(publication)
    page = address(study, f"claims/{claim.pk}/bonus/")
    found = desk.post(page, {"amount": "1.00", "reason": " "})
    assert (found.status_code, "reason" in found.context["form"].errors) == (422, True)
    assert 'value="1.00"' in text_of(found)


def test_blocking_says_that_all_studies_are_meant_and_can_be_taken_back(
    study: Study, publication: Publication, desk: Client
) -> None:
    claim = making.claim(publication)
    words = acted(desk, study, claim, "block", reason="Random answers.")
    assert f"takes no more work for this account from {claim.account.external_id}" in words
    assert Intent.objects.get(action="block").request["Reason"] == "Random answers."
    assert "Unblock the worker" in text_of(desk.get(address(study, f"claims/{claim.pk}/")))


def test_a_block_that_was_refused_is_seen_and_can_be_tried_again(
    study: Study, publication: Publication, desk: Client
) -> None:
    claim = making.claim(publication)
    acted(desk, study, claim, "block", reason="Random answers.")
    blocked = Intent.objects.get(action="block")
    assert due().filter(pk=blocked.pk).exists()
    Intent.objects.update(state="refused", settled_at=timezone.now(), message="No such worker.")
    page = address(study, f"publications/{publication.pk}/")
    assert "Local refused 1 call" in text_of(desk.get(page))
    ledger = text_of(desk.get(f"{page}ledger/"))
    about_the_worker = text_of(desk.get(address(study, f"claims/{claim.pk}/")))
    for text in (ledger, about_the_worker):
        assert "No such worker." in text
        assert "Try again" in text
    assert claim.account.external_id in ledger
    assert "Block the worker" in about_the_worker


def test_excluding_says_what_the_worker_still_can_do(
    study: Study, publication: Publication, desk: Client
) -> None:
    claim = making.claim(publication)
    form = text_of(desk.get(address(study, f"claims/{claim.pk}/")))
    assert "the worker can read it on their page here" in form
    words = acted(desk, study, claim, "exclude", reason="Random answers.")
    assert [each.text for each in own_record(claim.account, study).said] == ["Random answers."]
    assert "They can still accept HITs, and then get a page of golds" in words
    theirs = Participation.objects.get(study=study, person=claim.account.person)
    assert theirs.excluded_reason == "Random answers."
    acted(desk, study, claim, "readmit")
    theirs.refresh_from_db()
    assert theirs.excluded_reason == ""


def test_a_message_to_a_worker_who_cannot_be_reached_yet_says_that_it_waits(
    study: Study, publication: Publication, desk: Client
) -> None:
    claim = making.claim(publication, ClaimState.CONFIRMED)
    words = acted(desk, study, claim, "message", subject="Thanks", text="For all.")
    assert "this message, once it has paid or refused work of theirs:" in words
    page = address(study, f"claims/{claim.pk}/")
    assert "Waits until work of this worker is paid or refused." in text_of(desk.get(page))
    assert not due().filter(action="notify").exists()
    Claim.objects.update(theirs="approved")
    assert due().filter(action="notify").exists()
    assert "this message:" in acted(desk, study, claim, "message", subject="Bye", text="Bye.")


def test_a_message_to_many_says_how_many_it_reaches(
    study: Study, publication: Publication, desk: Client
) -> None:
    making.claim(publication, ClaimState.CONFIRMED)
    page = address(study, f"publications/{publication.pk}/write/")
    message = {"state": "", "subject": "Thanks", "text": "For all."}
    assert "It reaches none of them now" in text_of(desk.post(page, message))
    making.claim(publication, ClaimState.PAID)
    words = text_of(desk.post(page, message))
    assert "sends 2 workers this message. It reaches 1 of them now" in words
    paid = text_of(desk.post(page, {**message, "state": "paid"}))
    assert "sends 1 worker this message:" in paid


def test_a_message_confirmed_twice_is_sent_once(
    study: Study, publication: Publication, desk: Client
) -> None:
    making.claim(publication, ClaimState.PAID)
    page = address(study, f"publications/{publication.pk}/write/")
    message = {"state": "paid", "subject": "Thanks", "text": "For all."}
    asked = desk.post(page, message)
    assert "sends 1 worker this message" in text_of(asked)
    for _ in range(2):
        desk.post(page, {**message, "sure": str(asked.context["sure"])})
    assert Intent.objects.filter(action="notify").count() == 1


def test_a_publication_at_a_channel_that_is_gone_can_still_be_read(
    study: Study, publication: Publication, desk: Client, settings: LazySettings
) -> None:
    claim = making.claim(publication)
    settings.CHANNELS = {}
    for rest in (f"publications/{publication.pk}/", f"claims/{claim.pk}/", "channels/"):
        assert desk.get(address(study, rest)).status_code == 200, rest


def test_a_reviewer_has_no_part_in_money(study: Study, publication: Publication) -> None:
    reviewer = making.user()
    Membership.objects.create(study=study, user=reviewer, role=Role.REVIEWER)
    client = Client()
    client.force_login(reviewer)
    claim = making.claim(publication)
    for rest in ("channels/", f"publications/{publication.pk}/", f"claims/{claim.pk}/bonus/"):
        assert client.get(address(study, rest)).status_code == 404


def grow(publication: Publication, number: int) -> None:
    people = Person.objects.bulk_create([Person() for _ in range(number)])
    accounts = Account.objects.bulk_create(
        [Account(person=each, channel="local", external_id=uuid4().hex) for each in people]
    )
    hits = Hit.objects.bulk_create(
        [
            Hit(
                publication=publication,
                state="ended",
                hit_id=uuid4().hex,
                expires_at=timezone.now(),
            )
            for _ in range(number)
        ]
    )
    claims = Claim.objects.bulk_create(
        [
            Claim(
                hit=hit,
                ref=uuid4().hex,
                account=account,
                theirs="submitted",
                confirmed_at=timezone.now(),
                auto_approval_at=timezone.now() + timedelta(hours=1),
            )
            for hit, account in zip(hits, accounts, strict=True)
        ]
    )
    Intent.objects.bulk_create(
        [
            Intent(
                token=uuid4().hex,
                channel="local",
                action="bonus",
                publication=publication,
                claim=claim,
                request={},
            )
            for claim in claims
        ]
    )


def test_pages_take_as_many_statements_for_a_thousand_claims_as_for_ten(
    study: Study, publication: Publication, desk: Client
) -> None:
    grow(publication, 10)
    pages = ["", "channels/", *(f"publications/{publication.pk}/{rest}" for rest in PAGES)]
    counts = {page: statements(desk, address(study, page)) for page in pages}
    grow(publication, 990)
    making.publication(study)
    assert {page: statements(desk, address(study, page)) for page in pages} == counts
    shown = desk.get(address(study, f"publications/{publication.pk}/claims/")).context["claims"]
    assert len(shown) == 50


PAGES = ("", "claims/", "ledger/", "claims/?state=no_answers", "ledger/?state=meant")


def statements(desk: Client, page: str) -> int:
    cache.clear()
    with CaptureQueriesContext(connection) as queries:
        assert desk.get(page).status_code == 200
    return len(queries)


def test_older_claims_are_on_the_next_pages_each_once(
    study: Study, publication: Publication, desk: Client
) -> None:
    grow(publication, 120)
    seen: list[int] = []
    before = ""
    while True:
        found = desk.get(
            address(study, f"publications/{publication.pk}/claims/"), {"before": before}
        )
        seen += [claim.pk for claim in found.context["claims"]]
        if not found.context["older"]:
            break
        before = found.context["older"]
    assert len(seen) == len(set(seen)) == 120
