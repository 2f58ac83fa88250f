"""The reviewer's desk by script: the same rules as on its pages."""

import json
from typing import Any

import pytest
from django.test import Client

from hits.models import Assignment, Job, Opinion, Study
from hits.pipeline import jobs
from tests.api.world import World
from workers.work import WORK

pytestmark = pytest.mark.django_db


@pytest.fixture
def reviewer(world: World) -> Client:
    return world.api_client("reviewer")


def post(client: Client, path: str, values: dict[str, Any]) -> Any:
    return client.post(path, json.dumps(values), content_type="application/json")


def address(page: Assignment) -> str:
    return f"/api/reviews/{page.key}/"


def test_refusing_payment_needs_all_seen_and_its_cost_by_script_too(
    world: World, reviewer: Client
) -> None:
    page = world.failed_page
    evidence = reviewer.get(address(page)).json()
    assert evidence["unseen"] == [*range(1, page.slots.count() + 1)]
    refusal = {"use": "not_used", "payment": "refused", "reason": "Nothing was read."}
    assert post(reviewer, f"{address(page)}decide/", refusal).status_code == 400
    seen = {"positions": evidence["unseen"]}
    assert post(reviewer, f"{address(page)}seen/", seen).status_code == 204
    assert post(reviewer, f"{address(page)}decide/", refusal).status_code == 400
    told = post(reviewer, f"{address(page)}decide/", refusal | {"loss": evidence["loss"]}).json()
    assert (told["page"]["use"], told["page"]["payment"]) == ("not_used", "refused")
    back = post(reviewer, f"{address(page)}take-back/", {}).json()
    assert (back["page"]["use"], back["page"]["payment"]) == ("pending", "pending")
    assert len(back["decisions"]) == 4
    assert post(reviewer, f"{address(page)}take-back/", {}).status_code == 409


def test_many_pages_are_decided_on_and_payment_is_not_refused_so(
    world: World, reviewer: Client
) -> None:
    path = f"/api/studies/{world.study.slug}/decide/"
    wrong = {"use": "pending", "reason": "Later."}
    assert post(reviewer, path, wrong).status_code == 400
    refusing = {"use": "not_used", "payment": "refused", "reason": "Golds."}
    assert "payment" in post(reviewer, path, refusing).json()["errors"]
    answer = post(reviewer, path, {"use": "not_used", "reason": "Golds."})
    assert answer.status_code == 202
    jobs.run(answer.json()["id"], WORK)
    world.failed_page.refresh_from_db()
    assert (world.failed_page.use, world.failed_page.payment) == ("not_used", "approved")
    assert post(reviewer, path, {"use": "used", "reason": "All."}).status_code == 400


def test_a_first_opinion_is_not_told_before_the_second(world: World, reviewer: Client) -> None:
    page = world.failed_page
    first = {"use": "used", "payment": "approved", "reason": "A private doubt."}
    assert post(reviewer, f"{address(page)}second/", first).status_code == 201
    assert post(reviewer, f"{address(page)}decide/", first).status_code == 403
    listed = reviewer.get(f"/api/studies/{world.study.slug}/review/").json()["results"]
    assert str(page.key) not in [each["key"] for each in listed]
    researcher = world.api_client("researcher")
    assert researcher.get(address(page)).json()["opinions"] == []
    after = post(researcher, f"{address(page)}decide/", first | {"reason": "Fine."}).json()
    assert [each["reason"] for each in after["opinions"]] == ["A private doubt."]
    assert Opinion.objects.count() == 1


def test_signals_people_and_results_are_told(world: World, reviewer: Client) -> None:
    of_study = f"/api/studies/{world.study.slug}/"
    post(reviewer, f"{of_study}signals/", {})
    jobs.run(Job.objects.get(kind="signals").pk, WORK)
    told = reviewer.get(f"{of_study}signals/").json()
    assert told["flags"]["page golds"] == 1
    assert "disagreement" in told["silent"]
    (flag,) = reviewer.get(f"{of_study}flags/?signal=page golds").json()["results"]
    assert flag["page"] == str(world.failed_page.key)
    assert flag["figure"] >= flag["threshold"] == 1
    people = reviewer.get(f"{of_study}people/").json()["results"]
    assert people[0]["number"] == world.failed_page.person_id
    assert people[0]["has_appeal"]
    first = reviewer.get(f"{of_study}people/?page_size=1").json()
    second = reviewer.get(first["next"]).json()
    assert first["results"] + second["results"] == people[:2]
    results = world.api_client("researcher").get(f"{of_study}results/").json()["outcomes"]
    given = results["used"] + results["pending"] + sum(results["not_used"].values())
    assert results["submitted"] == given > 0


def test_rules_of_quality_are_set_by_a_new_version(world: World) -> None:
    researcher = world.api_client("researcher")
    path = f"/api/studies/{world.study.slug}/"
    changed = {"quality": {"page_golds": 2}}
    answer = researcher.patch(path, json.dumps(changed), content_type="application/json")
    assert answer.status_code == 200
    study = Study.objects.select_related("version").get(pk=world.study.pk)
    assert study.version is not None
    assert (study.version.quality["page_golds"], study.version.number) == (2, 2)
    wrong = json.dumps({"quality": {"page_golds": -1}})
    assert researcher.patch(path, wrong, content_type="application/json").status_code == 400


def test_raters_read_what_was_said_to_them_and_appeal_against_a_page(world: World) -> None:
    path = f"/api/studies/{world.study.slug}/appeal/"
    rater, page = world.api_client("rater"), world.own_page
    record = rater.get(path).json()
    assert (record["golds_shown"], record["may_appeal"]) == (None, True)
    about_others = {"text": "Not mine.", "page": str(world.failed_page.key)}
    assert post(rater, path, about_others).status_code == 403
    said = post(rater, path, {"text": "I did look.", "page": str(page.key)})
    assert (said.status_code, said.json()["page"]) == (201, str(page.key))
    record = rater.get(path).json()
    assert ([each["text"] for each in record["said"]], record["may_appeal"]) == (
        ["I did look."],
        False,
    )
    assert "by" not in record["said"][0]
