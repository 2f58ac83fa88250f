from decimal import Decimal
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from hits.marketplace import work
from hits.marketplace.eligibility import APPROVED_HITS, LOCALE
from hits.marketplace.ids import thing_id
from hits.marketplace.models import Block, QualificationType, Requester, Worker
from tests.marketplace.site import world

pytestmark = pytest.mark.django_db


@pytest.fixture
def worker() -> Worker:
    return world.worker(country="KR", approved_before=20)


@pytest.fixture
def client(worker: Worker) -> Client:
    return world.client(worker)


def titles(client: Client, query: str = "") -> list[str]:
    return [offer.hit_type.title for offer, _ in client.get(f"/{query}").context["rows"]]


def reasons(client: Client) -> list[str]:
    return [why.words for _, unmet in client.get("/").context["rows"] for why in unmet]


def requirement(kind: str, comparator: str, actions: str = "Accept", **values: Any) -> Any:
    return {
        "QualificationTypeId": kind,
        "Comparator": comparator,
        "ActionsGuarded": actions,
        **values,
    }


def test_hits_are_listed_by_their_type_with_what_they_promise(client: Client) -> None:
    kind = world.hit_type(world.requester("Vision laboratory"), title="Captions")
    for _ in range(3):
        world.hit(kind)
    [(offer, unmet)] = client.get("/").context["rows"]
    assert (offer.hit_type.title, offer.hits, unmet) == ("Captions", 3, [])
    page = client.get("/").content.decode()
    for words in ("Captions", "Vision laboratory", "$0.65", "1 hour", "Accept"):
        assert words in page


def test_what_cannot_be_accepted_is_shown_with_the_reason(client: Client) -> None:
    owner = world.requester()
    own = QualificationType.objects.create(
        requester=owner, name="Careful eyes", description="", is_active=True
    )
    requirements = [
        requirement(APPROVED_HITS, "GreaterThanOrEqualTo", IntegerValues=[500]),
        requirement(LOCALE, "In", LocaleValues=[{"Country": "US"}, {"Country": "GB"}]),
        requirement(own.qualification_type_id, "Exists"),
    ]
    kind = world.hit_type(owner, requirements=requirements)
    world.hit(kind)
    assert reasons(client) == [
        "HITs approved: at least 500; you have 20",
        "Location: one of US, GB; you have KR",
        "Careful eyes: needed",
    ]
    assert f"/projects/{kind.hit_group_id}/accept/" not in client.get("/").content.decode()
    assert titles(client, "?qualified=on") == []


def test_what_a_requirement_hides_is_not_listed(client: Client) -> None:
    hidden = requirement(
        APPROVED_HITS, "GreaterThan", "DiscoverPreviewAndAccept", IntegerValues=[500]
    )
    world.hit(world.hit_type(world.requester(), requirements=[hidden]))
    assert titles(client) == []


def test_a_blocked_worker_is_told_so_and_cannot_accept(client: Client, worker: Worker) -> None:
    kind = world.hit_type(world.requester())
    world.hit(kind)
    Block.objects.create(requester=kind.requester, worker=worker, reason="")
    assert reasons(client) == ["This requester does not take work from you"]
    told = client.post(f"/projects/{kind.hit_group_id}/accept/")
    assert told.status_code == 409


def test_the_list_is_searched_and_sorted(client: Client) -> None:
    owner = world.requester("Vision laboratory")
    for title, reward, seconds, hits in (
        ("Old and rich", "2.00", 3600, 1),
        ("Quick", "0.10", 60, 2),
        ("Newest", "0.50", 7200, 3),
    ):
        kind = world.hit_type(
            owner, title=title, reward=Decimal(reward), assignment_seconds=seconds
        )
        for _ in range(hits):
            world.hit(kind)
    assert titles(client) == ["Newest", "Quick", "Old and rich"]
    assert titles(client, "?sort=reward") == ["Old and rich", "Newest", "Quick"]
    assert titles(client, "?sort=time") == ["Quick", "Old and rich", "Newest"]
    assert titles(client, "?sort=most") == ["Newest", "Quick", "Old and rich"]
    assert titles(client, "?q=vision+RICH") == ["Old and rich"]
    assert titles(client, "?q=nothing+like+it") == []


def test_the_list_has_pages(client: Client) -> None:
    owner = world.requester()
    for _ in range(23):
        world.hit(world.hit_type(owner))
    assert len(titles(client)) == 20
    assert len(titles(client, "?page=2")) == 3


def publish_some(owner: Requester, worker: Worker) -> None:
    """One that can be accepted, one that cannot, and one that the worker has."""
    own = QualificationType.objects.create(
        requester=owner, name=thing_id(), description="", is_active=True
    )
    needed = requirement(own.qualification_type_id, "Exists")
    world.hit(world.hit_type(owner))
    world.hit(world.hit_type(owner, requirements=[needed]))
    work.accept(worker=worker, hit=world.hit(world.hit_type(owner)))


def test_the_list_costs_the_same_queries_whatever_is_on_it(client: Client, worker: Worker) -> None:
    owner = world.requester()
    publish_some(owner, worker)
    with CaptureQueriesContext(connection) as for_two:
        assert len(titles(client)) == 2
    for _ in range(7):
        publish_some(owner, worker)
    with CaptureQueriesContext(connection) as for_sixteen:
        assert len(titles(client)) == 16
    assert len(for_sixteen) == len(for_two)


def test_hits_that_were_taken_or_are_over_are_not_offered(client: Client, worker: Worker) -> None:
    kind = world.hit_type(world.requester())
    mine, others, left = world.hit(kind), world.hit(kind), world.hit(kind)
    work.accept(worker=worker, hit=mine)
    work.accept(worker=world.worker(), hit=others)
    [(offer, _)] = client.get("/").context["rows"]
    assert (offer.hits, offer.hit) == (1, left)


def frame_of(page: Any) -> tuple[str, dict[str, str]]:
    address = page.context["address"]
    return address, dict(parse_qsl(urlsplit(address).query))


def test_a_preview_frames_the_requesters_page_and_promises_nothing(client: Client) -> None:
    hit = world.hit(world.hit_type(world.requester()), url="https://study.example/hit/?key=a%26b")
    page = client.get(f"/hits/{hit.hit_id}/")
    address, query = frame_of(page)
    assert address.startswith("https://study.example/hit/?key=a%26b&")
    assert query["key"] == "a&b"
    assert query["assignmentId"] == "ASSIGNMENT_ID_NOT_AVAILABLE"
    assert query["hitId"] == hit.hit_id
    assert 'sandbox="allow-same-origin allow-scripts allow-forms"' in page.content.decode()
    assert hit.assignments.count() == 0


def test_a_preview_that_a_qualification_guards_is_refused(client: Client) -> None:
    guarded = requirement(APPROVED_HITS, "GreaterThan", "PreviewAndAccept", IntegerValues=[500])
    hit = world.hit(world.hit_type(world.requester(), requirements=[guarded]))
    assert client.get(f"/hits/{hit.hit_id}/").status_code == 409
    assert client.get("/hits/UNKNOWN/").status_code == 404


@pytest.mark.parametrize(
    "address", ["/?q=%00", "/?page=%00", "/?sort=%00", "/qualifications/?q=%00"]
)
def test_what_no_text_can_hold_is_no_failure(client: Client, address: str) -> None:
    assert client.get(address).status_code == 200
    assert client.get("/hits/%00/").status_code == 404
