import re

import pytest
from django.test import Client

from hits.marketplace.models import Worker
from hits.marketplace.site.session import COOKIE
from tests.marketplace.site import world

pytestmark = pytest.mark.django_db

REGISTRATION = {"name": "Wanda", "password": world.PASSWORD, "country": "us", "subdivision": ""}


def test_a_worker_registers_gets_an_id_and_is_logged_in() -> None:
    client = world.client()
    welcome = client.post("/register/", REGISTRATION, follow=True).content.decode()
    worker = Worker.objects.get(name="Wanda")
    assert re.fullmatch(r"A[A-Z0-9]{13}", worker.worker_id)
    assert worker.worker_id in welcome
    assert worker.country == "US"
    assert world.PASSWORD not in worker.password


@pytest.mark.parametrize(
    ("field", "value"),
    [("name", ""), ("password", "short"), ("country", "USA"), ("country", "1!"), ("name", "Taken")],
)
def test_a_registration_that_cannot_be_used_is_told_at_its_field(field: str, value: str) -> None:
    world.client().post("/register/", REGISTRATION | {"name": "Taken"})
    told = world.client().post("/register/", REGISTRATION | {field: value})
    assert told.status_code == 400
    assert field in told.context["form"].errors
    assert Worker.objects.count() == 1


def test_the_cookie_is_the_marketplaces_own_and_out_of_reach_of_scripts() -> None:
    client = world.client(world.worker())
    assert set(client.cookies) == {COOKIE}
    cookie = client.cookies[COOKIE]
    assert cookie["httponly"]
    assert cookie["samesite"] == "Lax"


def test_a_changed_cookie_logs_nobody_in() -> None:
    first, second = world.worker(), world.worker()
    client = world.client(first)
    value = client.cookies[COOKIE].value
    client.cookies[COOKIE] = value.replace(str(first.pk), str(second.pk), 1)
    assert client.get("/dashboard/").status_code == 302


def test_a_worker_logs_in_by_worker_id_too_and_out_again() -> None:
    worker = world.worker()
    client = world.client()
    client.post("/login/", {"name": worker.worker_id, "password": world.PASSWORD})
    assert client.get("/").status_code == 200
    client.post("/logout/")
    assert client.get("/").status_code == 302


def test_a_wrong_password_is_refused_and_ten_of_them_stop_even_the_right_one() -> None:
    worker = world.worker()
    client = world.client()
    for _ in range(10):
        assert client.post("/login/", {"name": worker.name, "password": "no"}).status_code == 400
    told = client.post("/login/", {"name": worker.name, "password": world.PASSWORD})
    assert "Try again in 15 minutes" in told.content.decode()
    assert not client.cookies


def test_whoever_logs_in_goes_on_to_the_page_that_was_asked_for_but_never_to_another_host() -> None:
    worker = world.worker()
    asked = world.client().get("/earnings/")
    assert asked.headers["Location"] == "/login/?next=%2Fearnings%2F"
    for following, to in (
        ("/earnings/", "/earnings/"),
        ("https://evil.example/", "/"),
        ("//evil.example/", "/"),
    ):
        answer = world.client().post(
            "/login/", {"name": worker.name, "password": world.PASSWORD, "next": following}
        )
        assert answer.headers["Location"] == to


@pytest.mark.parametrize("origin", [None, "null", "http://127.0.0.1:8000", "https://evil.example"])
def test_a_form_sent_from_another_origin_does_nothing(origin: str | None) -> None:
    worker = world.worker()
    kind = world.hit_type(world.requester())
    hit = world.hit(kind)
    headers = {"host": world.HOST} | ({"origin": origin} if origin else {})
    client = Client(headers=headers)
    client.cookies = world.client(worker).cookies
    address = f"/projects/{kind.hit_group_id}/accept/"
    assert client.post(address, {"hit": hit.hit_id}).status_code == 403
    assert hit.assignments.count() == 0
