"""Tokens, and that nobody makes more of themselves through the API than they are."""

import json
from typing import Any

import pytest
from django.conf import LazySettings

from hits.models import User
from tests import making
from tests.api.world import World, a_client

pytestmark = pytest.mark.django_db

PASSWORD = "a good password"


def _token(client: Any, username: str, password: str = PASSWORD) -> Any:
    sent = {"username": username, "password": password}
    return client.post("/api/token/", sent, content_type="application/json")


def test_a_token_lets_in_until_it_is_revoked() -> None:
    user = making.user()
    token = _token(a_client(), user.email.upper()).json()["token"]
    client = a_client(headers={"authorization": f"Token {token}"})
    assert client.get("/api/me/").json()["username"] == user.username
    assert client.delete("/api/token/").status_code == 204
    assert client.get("/api/me/").status_code == 401


def test_a_wrong_password_gives_no_token() -> None:
    response = _token(a_client(), making.user().email, "not the password")
    assert response.status_code == 401
    assert response.json() == {
        "error": "authentication_failed",
        "message": "This address and password do not fit together.",
    }


def test_guessing_a_password_is_locked_out_in_json(settings: LazySettings) -> None:
    settings.AXES_FAILURE_LIMIT = 3
    user = making.user()
    statuses = [_token(a_client(), user.email, f"guess {n}").status_code for n in range(3)]
    right = _token(a_client(), user.email)
    assert statuses[:2] == [401, 401]
    assert (right.status_code, right.json()["error"]) == (429, "throttled")


def test_asking_for_tokens_is_throttled() -> None:
    statuses = [_token(a_client(), f"nobody{n}@example.org").status_code for n in range(31)]
    assert statuses == [401] * 30 + [429]


ESCALATION = {"is_superuser": True, "is_staff": True, "is_researcher": True, "is_active": True}


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH"])
@pytest.mark.parametrize("name", ["rater", "researcher", "admin"])
def test_nobody_writes_their_own_rights(world: World, name: str, method: str) -> None:
    client = world.api_client(name)
    sent = json.dumps(ESCALATION)
    answer = client.generic(method, "/api/me/", sent, content_type="application/json")
    assert answer.status_code == 405
    assert not User.objects.filter(is_superuser=True).exists()


def test_rights_sent_along_with_what_is_allowed_are_ignored(world: World) -> None:
    rater, client = world.people["rater"], world.api_client("admin")
    assert rater is not None
    sent = {"email": rater.email, "role": "reviewer", **ESCALATION, "user": ESCALATION}
    address = f"/api/studies/{world.study.slug}/members/"
    assert client.post(address, sent, content_type="application/json").status_code == 201
    registered = {
        "token": world.invitation.token,
        "name": "New",
        "email": "new@example.org",
        "password": "a long enough password",
        **ESCALATION,
    }
    answer = a_client().post("/api/register/", registered, content_type="application/json")
    assert answer.status_code == 201
    assert not User.objects.filter(is_superuser=True).exists()
    assert not User.objects.filter(email__in=[rater.email, "new@example.org"], is_staff=True)
    assert not User.objects.filter(email="new@example.org", is_researcher=True).exists()


def test_a_reviewer_cannot_make_themselves_researcher(world: World) -> None:
    reviewer = world.people["reviewer"]
    assert reviewer is not None
    sent = {"email": reviewer.email, "role": "researcher"}
    answer = world.api_client("reviewer").post(
        f"/api/studies/{world.study.slug}/members/", sent, content_type="application/json"
    )
    assert answer.status_code == 404
    assert set(reviewer.memberships.values_list("role", flat=True)) == {"reviewer"}


def test_a_study_keeps_its_last_researcher(world: World) -> None:
    researcher = world.people["researcher"]
    assert researcher is not None
    own = researcher.memberships.get(study=world.study)
    answer = world.api_client("researcher").delete(
        f"/api/studies/{world.study.slug}/members/{own.pk}/"
    )
    assert (answer.status_code, answer.json()["error"]) == (400, "refused")
