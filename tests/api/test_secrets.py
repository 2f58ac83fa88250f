"""Gold answers, machines, units and other people's answers never reach a rater."""

import json
from typing import Any

import pytest
from django.db import transaction

from hits.models import Membership, Role
from tests.api import world as worlds
from tests.api.matrix import rows
from tests.api.requests_for import answer_to, asked
from tests.api.world import SECRETS, World

pytestmark = pytest.mark.django_db

# The person's own name and address are theirs to see.
RATERS = ["stranger", "rater"]


def _answer(world: World, name: str, path: str, method: str) -> Any:
    with transaction.atomic():
        response = answer_to(world, name, asked(world, path, method), method)
        transaction.set_rollback(True)
    return response


def _text(response: Any) -> str:
    body = b"".join(response.streaming_content) if response.streaming else response.content
    return str(body.decode(errors="replace")) + str(dict(response.headers))


def test_no_answer_to_a_rater_holds_a_planted_secret(world: World) -> None:
    world.log_in()
    leaks = []
    seen = 0
    for row in rows():
        for name in RATERS:
            if "*" in row.route:
                continue
            response = _answer(world, name, row.route, row.method)
            seen += response.status_code < 400
            text = _text(response)
            leaks += [
                f"{row.method} {row.route} as {name}: {each}" for each in SECRETS if each in text
            ]
    assert not leaks, "\n" + "\n".join(leaks)
    assert seen > 20


def test_refusals_of_a_submission_hold_no_planted_secret(world: World) -> None:
    address = f"/api/assignments/{world.open_page.key}/submit/"
    response = world.api_client("rater").post(
        address, {"answers": {}}, content_type="application/json"
    )
    assert response.status_code == 422
    assert not [each for each in SECRETS if each in _text(response)]


def test_the_planted_secrets_are_there_to_be_found(world: World) -> None:
    client = world.api_client("researcher")
    text = "".join(
        _text(client.get(f"/api/studies/{world.study.slug}/{part}/"))
        for part in ["judgments", "proposals", "members"]
    )
    text += _text(client.get(f"/api/corpora/{world.corpus.slug}/images/"))
    text += _text(client.get(f"/api/corpora/{world.corpus.slug}/proposals/"))
    text += _text(client.get(f"/api/reviews/{world.failed_page.key}/"))
    hidden_from_all = {worlds.UNIT, "8800880088", "9900990099"}
    assert not [each for each in SECRETS if each not in text and each not in hidden_from_all]


def test_a_page_names_its_questions_by_position_alone(world: World) -> None:
    page = world.api_client("rater").get(f"/api/assignments/{world.open_page.key}/").json()
    assert [set(question) for question in page["questions"]] == [{"position", "shown"}] * 6
    assert [set(question["shown"]) for question in page["questions"]] == [{"image", "caption"}] * 6
    assert {name for question in page["questions"] for name in question["shown"]["image"]} == {
        "url",
        "width",
        "height",
    }


def test_how_many_golds_a_page_has_is_not_told(world: World) -> None:
    page = world.api_client("rater").get(f"/api/assignments/{world.open_page.key}/").json()
    assert page["settings"] == {"justification": True}
    assert "true_positive" not in json.dumps(page)


def test_whoever_did_a_page_sees_neither_its_evidence_nor_its_place_in_the_queue(
    world: World,
) -> None:
    doer = world.failed_page.account.user
    assert doer is not None
    Membership.objects.create(study=world.study, user=doer, role=Role.REVIEWER)
    world.people["doer"] = doer
    client = world.api_client("doer")
    key = world.failed_page.key
    assert client.get(f"/api/reviews/{key}/").status_code == 403
    decision = {"use": "used", "payment": "approved", "reason": "I did well."}
    answer = client.post(f"/api/reviews/{key}/decide/", decision, content_type="application/json")
    assert answer.status_code == 403
    queue = client.get(f"/api/studies/{world.study.slug}/review/").json()["results"]
    assert str(key) not in [page["key"] for page in queue]
