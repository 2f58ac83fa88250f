from datetime import timedelta
from urllib.parse import parse_qsl, urlsplit

import pytest
from django.test import Client
from django.utils import timezone

from hits.marketplace import work
from hits.marketplace.models import HIT, Assignment, Worker
from tests.marketplace.site import world

pytestmark = pytest.mark.django_db


@pytest.fixture
def worker() -> Worker:
    return world.worker()


@pytest.fixture
def client(worker: Worker) -> Client:
    return world.client(worker)


@pytest.fixture
def hit() -> HIT:
    return world.hit(world.hit_type(world.requester()), url="https://study.example/hit/?key=1#top")


def accepted(client: Client, hit: HIT) -> Assignment:
    client.post(f"/projects/{hit.hit_type.hit_group_id}/accept/", {"hit": hit.hit_id})
    return hit.assignments.latest("id")


def address(assignment: Assignment) -> str:
    return f"/assignments/{assignment.assignment_id}/"


def test_an_accepted_hit_opens_in_its_frame_with_what_the_contract_adds(
    client: Client, worker: Worker, hit: HIT
) -> None:
    assignment = accepted(client, hit)
    page = client.get(address(assignment))
    parts = urlsplit(page.context["address"])
    assert parts.fragment == "top"
    assert dict(parse_qsl(parts.query)) == {
        "key": "1",
        "assignmentId": assignment.assignment_id,
        "hitId": hit.hit_id,
        "turkSubmitTo": f"http://{world.HOST}/",
        "workerId": worker.worker_id,
    }
    html = page.content.decode()
    assert 'sandbox="allow-same-origin allow-scripts allow-forms"' in html
    assert 3590 < page.context["seconds_left"] <= 3600
    assert "frame-src http: https:" in page.headers["Content-Security-Policy"]


def test_the_height_of_the_frame_is_the_requesters(client: Client) -> None:
    kind = world.hit_type(world.requester())
    fitting, tall = world.hit(kind), world.hit(kind, frame_height=720)
    assert 'height="720"' in client.get(f"/hits/{tall.hit_id}/").content.decode()
    page = client.get(f"/hits/{fitting.hit_id}/").content.decode()
    assert "height=" not in page
    assert 'class="work-frame fits"' in page


def test_accepting_twice_is_accepting_once(client: Client, hit: HIT) -> None:
    assert accepted(client, hit) == accepted(client, hit)


def test_whoever_comes_second_gets_the_next_hit_of_the_group(client: Client, hit: HIT) -> None:
    other = world.hit(hit.hit_type)
    work.accept(worker=world.worker(), hit=hit)
    accepted(client, hit)
    assert other.assignments.count() == 1


def test_when_no_hit_is_left_the_worker_is_told(client: Client, hit: HIT) -> None:
    work.accept(worker=world.worker(), hit=hit)
    told = client.post(f"/projects/{hit.hit_type.hit_group_id}/accept/", {"hit": hit.hit_id})
    assert told.status_code == 409
    assert "No HIT of this kind is left." in told.content.decode()


def test_a_returned_hit_is_offered_again(client: Client, hit: HIT) -> None:
    assignment = accepted(client, hit)
    client.post(f"{address(assignment)}return/")
    assert "You returned it" in client.get(address(assignment)).content.decode()
    assert work.accept(worker=world.worker(), hit=hit)


def test_a_hit_whose_time_is_over_is_abandoned_and_offered_again(client: Client, hit: HIT) -> None:
    assignment = accepted(client, hit)
    Assignment.objects.filter(pk=assignment.pk).update(deadline=timezone.now())
    assert client.get(f"{address(assignment)}state/").json() == {"status": "Abandoned"}
    assert "was over" in client.get(address(assignment)).content.decode()
    assert [offer.hit for offer in work.available(world.worker())] == [hit]


def test_nobody_sees_or_returns_the_assignment_of_another_worker(client: Client, hit: HIT) -> None:
    theirs = work.accept(worker=world.worker(), hit=hit)
    assert client.get(address(theirs)).status_code == 404
    assert client.get(f"{address(theirs)}state/").status_code == 404
    assert client.post(f"{address(theirs)}return/").status_code == 404


def test_a_handed_in_hit_says_when_it_is_paid_and_offers_the_next(client: Client, hit: HIT) -> None:
    world.hit(hit.hit_type)
    assignment = accepted(client, hit)
    work.submit(assignment=assignment, answers=[])
    assert client.get(f"{address(assignment)}state/").json() == {"status": "Submitted"}
    page = client.get(address(assignment)).content.decode()
    paid_at = timezone.now() + timedelta(days=1)
    assert f"{paid_at:%B %Y}" in page
    assert "Accept the next of 1" in page
