from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from hits.marketplace import money, work
from hits.marketplace.models import (
    Assignment,
    Bonus,
    Message,
    Qualification,
    QualificationRequest,
    QualificationType,
    Requester,
    Worker,
)
from tests.marketplace.site import world

pytestmark = pytest.mark.django_db

LINK = "https://lab.example/notes/1/"


@pytest.fixture
def owner() -> Requester:
    return world.requester("Vision laboratory")


@pytest.fixture
def worker() -> Worker:
    return world.worker()


@pytest.fixture
def client(worker: Worker) -> Client:
    return world.client(worker)


def handed_in(worker: Worker, owner: Requester, **options: Any) -> Assignment:
    hit = world.hit(world.hit_type(owner, **options))
    return work.submit(assignment=work.accept(worker=worker, hit=hit), answers=[])


def qualification_type(owner: Requester, **options: Any) -> QualificationType:
    defaults = {"name": "Careful eyes", "description": "For caption studies.", "is_active": True}
    return QualificationType.objects.create(requester=owner, **(defaults | options))


def request_address(kind: QualificationType) -> str:
    return f"/qualifications/{kind.qualification_type_id}/request/"


def test_the_dashboard_counts_work_and_shows_the_requesters_feedback(
    client: Client, worker: Worker, owner: Requester
) -> None:
    handed_in(worker, owner)
    world.decide(handed_in(worker, owner), approve=True, feedback="Thank you.")
    world.decide(handed_in(worker, owner), approve=False, feedback=f"Both golds failed. {LINK}")
    page = client.get("/dashboard/")
    assert page.context["counts"] == {"pending": 1, "approved": 1, "rejected": 1, "submitted": 3}
    assert "Thank you." in page.content.decode()
    assert f'Both golds failed. <a href="{LINK}"' in page.content.decode()
    rejected = client.get("/dashboard/?state=rejected").context["page"]
    assert [each.status for each in rejected] == [Assignment.Status.REJECTED]


def test_earnings_are_rewards_and_bonuses_from_the_ledger(
    client: Client, worker: Worker, owner: Requester
) -> None:
    assignment = handed_in(worker, owner)
    world.decide(assignment, approve=True, feedback="")
    bonus = Bonus.objects.create(
        assignment=assignment, worker=worker, amount=Decimal("1.25"), reason="Quick and careful."
    )
    money.pay_bonus(bonus)
    page = client.get("/earnings/")
    assert page.context["earned"] == {
        "reward": Decimal("0.65"),
        "bonus": Decimal("1.25"),
        "all": Decimal("1.90"),
    }
    assert "Quick and careful." in page.content.decode()
    assert client.get("/dashboard/").context["page"][0].bonus == Decimal("1.25")


@pytest.mark.parametrize("address", ["/dashboard/", "/earnings/"])
def test_a_workers_own_pages_cost_the_same_queries_whatever_is_on_them(
    client: Client, worker: Worker, owner: Requester, address: str
) -> None:
    world.decide(handed_in(worker, owner), approve=True, feedback="")
    with CaptureQueriesContext(connection) as for_one:
        client.get(address)
    for _ in range(7):
        world.decide(handed_in(worker, owner), approve=True, feedback="")
    with CaptureQueriesContext(connection) as for_eight:
        assert len(client.get(address).context["page"]) == 8
    assert len(for_eight) == len(for_one)


def test_messages_are_shown_to_whom_they_were_written_and_as_text(
    client: Client, worker: Worker, owner: Requester
) -> None:
    subject = "<b>A new study</b>"
    Message.objects.create(
        requester=owner, worker=worker, subject=subject, text=f"<i>Open</i> {LINK}"
    )
    shown = client.get("/messages/").content.decode()
    assert "&lt;b&gt;A new study&lt;/b&gt;" in shown
    assert f'&lt;i&gt;Open&lt;/i&gt; <a href="{LINK}"' in shown
    other = world.client(world.worker()).get("/messages/").content.decode()
    assert "A new study" not in other


def test_a_requested_qualification_waits_for_its_requester(
    client: Client, worker: Worker, owner: Requester
) -> None:
    kind = qualification_type(owner)
    client.post(request_address(kind))
    client.post(request_address(kind))
    asked = QualificationRequest.objects.get(kind=kind, worker=worker)
    assert asked.state == QualificationRequest.State.PENDING
    assert "Waits for the requester" in client.get("/qualifications/").content.decode()


def test_a_qualification_that_grants_itself_is_held_at_once(
    client: Client, worker: Worker, owner: Requester
) -> None:
    kind = qualification_type(owner, auto_granted=True, auto_granted_value=80)
    client.post(request_address(kind))
    assert Qualification.objects.get(kind=kind, worker=worker, is_granted=True).value == 80
    assert client.post(request_address(kind)).status_code == 409


@pytest.mark.parametrize(
    ("retry_seconds", "status"), [(None, 409), (7200, 409), (60, 302)], ids=["once", "later", "now"]
)
def test_a_rejected_request_is_made_again_only_where_and_when_it_may(
    client: Client, worker: Worker, owner: Requester, retry_seconds: int | None, status: int
) -> None:
    kind = qualification_type(owner, retry_seconds=retry_seconds)
    QualificationRequest.objects.create(
        kind=kind,
        worker=worker,
        state=QualificationRequest.State.REJECTED,
        reason="Not yet.",
        submitted_at=timezone.now() - timedelta(hours=1),
    )
    page = client.get("/qualifications/").content.decode()
    assert "Not yet." in page
    assert (request_address(kind) in page) == (retry_seconds is not None)
    assert client.post(request_address(kind)).status_code == status


def test_qualifications_that_are_inactive_or_gone_cannot_be_requested(
    client: Client, owner: Requester
) -> None:
    inactive = qualification_type(owner, name="Inactive", is_active=False)
    gone = qualification_type(owner, name="Gone", deleted_at=timezone.now())
    listed = client.get("/qualifications/").content.decode()
    for kind in (inactive, gone):
        assert client.post(request_address(kind)).status_code == 409
        assert kind.name not in listed
