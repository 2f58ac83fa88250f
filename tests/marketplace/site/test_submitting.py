from xml.etree import ElementTree

import pytest
from django.test import Client
from django.utils import timezone

from hits.marketplace import work
from hits.marketplace.models import HIT, Assignment
from tests.marketplace.site import world

pytestmark = pytest.mark.django_db

SUBMIT = "/mturk/externalSubmit"


@pytest.fixture
def hit() -> HIT:
    return world.hit(world.hit_type(world.requester()))


@pytest.fixture
def assignment(hit: HIT) -> Assignment:
    return work.accept(worker=world.worker(), hit=hit)


@pytest.fixture
def frame() -> Client:
    """The requester's page in its frame: another origin, and no cookies."""
    return Client(headers={"host": world.HOST, "origin": "https://study.example"})


def answers(assignment: Assignment) -> list[tuple[str, str]]:
    assignment.refresh_from_db()
    root = ElementTree.fromstring(assignment.answer)
    texts = [[part.text or "" for part in answer] for answer in root]
    return [(name, text) for name, text in texts]


def test_what_the_page_posts_are_the_answers_but_for_the_reserved_names(
    frame: Client, assignment: Assignment
) -> None:
    posted = {
        "assignmentId": assignment.assignment_id,
        "hitId": assignment.hit.hit_id,
        "turkSubmitTo": "x",
        "workerId": assignment.worker.worker_id,
        "receipt": "r <&> 1",
        "colours": ["red", "blue"],
    }
    told = frame.post(SUBMIT, posted)
    assert told.status_code == 200
    assert answers(assignment) == [("receipt", "r <&> 1"), ("colours", "red|blue")]
    assert assignment.status == Assignment.Status.SUBMITTED
    assert not told.cookies


def test_the_assignment_id_alone_is_enough_and_a_doubled_slash_does_no_harm(
    frame: Client, assignment: Assignment
) -> None:
    told = frame.post(f"http://{world.HOST}/{SUBMIT}", {"assignmentId": assignment.assignment_id})
    assert told.status_code == 200
    assert answers(assignment) == []


def test_a_replay_is_answered_alike_and_changes_nothing(
    frame: Client, assignment: Assignment
) -> None:
    frame.post(SUBMIT, {"assignmentId": assignment.assignment_id, "answer": "first"})
    told = frame.post(SUBMIT, {"assignmentId": assignment.assignment_id, "answer": "second"})
    assert told.status_code == 200
    assert answers(assignment) == [("answer", "first")]


@pytest.mark.parametrize("posted", [{}, {"assignmentId": ""}, {"assignmentId": "3UNKNOWN\x00"}])
def test_an_unknown_assignment_is_told(frame: Client, posted: dict[str, str]) -> None:
    told = frame.post(SUBMIT, posted)
    assert told.status_code == 404
    assert "knows no such assignment" in told.content.decode()


def test_a_preview_cannot_be_submitted(frame: Client) -> None:
    told = frame.post(SUBMIT, {"assignmentId": "ASSIGNMENT_ID_NOT_AVAILABLE"})
    assert told.status_code == 409
    assert "Accept the HIT first" in told.content.decode()


def test_returned_work_is_not_taken(frame: Client, assignment: Assignment) -> None:
    work.give_back(assignment=assignment)
    told = frame.post(SUBMIT, {"assignmentId": assignment.assignment_id})
    assert told.status_code == 409
    assert "not with you any more" in told.content.decode()


def test_work_past_its_time_is_not_taken(frame: Client, assignment: Assignment) -> None:
    Assignment.objects.filter(pk=assignment.pk).update(deadline=timezone.now())
    told = frame.post(SUBMIT, {"assignmentId": assignment.assignment_id})
    assert told.status_code == 409
    assignment.refresh_from_db()
    assert assignment.status == Assignment.Status.ABANDONED


def test_work_is_submitted_by_post_only(frame: Client, assignment: Assignment) -> None:
    told = frame.get(SUBMIT, {"assignmentId": assignment.assignment_id})
    assert told.status_code == 405
    assignment.refresh_from_db()
    assert assignment.status == Assignment.Status.ACCEPTED


def test_only_the_answer_to_a_submission_may_be_framed_and_only_by_the_marketplace(
    frame: Client, assignment: Assignment
) -> None:
    told = frame.post(SUBMIT, {"assignmentId": assignment.assignment_id})
    assert "frame-ancestors 'self'" in told.headers["Content-Security-Policy"]
    assert "X-Frame-Options" not in told.headers
    client = world.client(assignment.worker)
    for address in (
        "/",
        "/login/",
        "/register/",
        "/dashboard/",
        "/earnings/",
        "/messages/",
        "/qualifications/",
        f"/hits/{assignment.hit.hit_id}/",
        f"/assignments/{assignment.assignment_id}/",
        "/no/such/page/",
    ):
        page = client.get(address)
        assert "frame-ancestors 'none'" in page.headers["Content-Security-Policy"], address
        assert page.headers["X-Frame-Options"] == "DENY"


@pytest.mark.parametrize("name", ["workerId", "hitId"])
def test_a_page_that_names_another_worker_or_hit_hands_nothing_in(
    frame: Client, assignment: Assignment, name: str
) -> None:
    posted = {"assignmentId": assignment.assignment_id, name: "SOMEBODYELSE", "receipt": "r"}
    assert frame.post(SUBMIT, posted).status_code == 409
    assignment.refresh_from_db()
    assert assignment.status == "Accepted"
