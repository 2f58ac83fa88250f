"""A requester's script as somebody would write it who has read AWS's documentation and nothing
else, run over HTTP."""

from datetime import UTC, datetime, timedelta
from xml.etree import ElementTree

import pytest

from hits.marketplace import qualifying, work
from hits.marketplace.models import QualificationType
from tests.marketplace import world
from tests.marketplace.asking import QUESTION, TYPE, Client, done, hit_id_of, refused


def test_a_hit_from_its_type_to_its_bonus(client: Client) -> None:
    assert client.get_account_balance()["AvailableBalance"] == "1000.00"
    hit_type_id = client.create_hit_type(**TYPE)["HITTypeId"]
    hit = client.create_hit_with_hit_type(
        HITTypeId=hit_type_id,
        MaxAssignments=2,
        LifetimeInSeconds=3600,
        Question=QUESTION,
        RequesterAnnotation="page 2 of study 1",
        UniqueRequestToken="page-2",
    )["HIT"]
    assert hit["HITStatus"] == "Assignable"
    assert hit["Reward"] == "0.65"
    assert hit["Question"] == QUESTION
    assert hit["NumberOfAssignmentsAvailable"] == 2
    assert hit["Expiration"] - hit["CreationTime"] == pytest.approx(
        timedelta(hours=1), abs=timedelta(seconds=5)
    )
    assert client.get_account_balance()["AvailableBalance"] == "998.44"

    first, worker_id = done(hit["HITId"], answer="<yes>")
    done(hit["HITId"])
    assert client.get_hit(HITId=hit["HITId"])["HIT"]["HITStatus"] == "Reviewable"
    assert [row["HITId"] for row in client.list_reviewable_hits()["HITs"]] == [hit["HITId"]]

    listed = client.list_assignments_for_hit(HITId=hit["HITId"], AssignmentStatuses=["Submitted"])
    assert listed["NumResults"] == 2
    assert listed["Assignments"][0]["AssignmentId"] == first
    root = ElementTree.fromstring(listed["Assignments"][0]["Answer"])
    assert [part.text for part in root[0]] == ["choice", "<yes>"]

    client.approve_assignment(AssignmentId=first, RequesterFeedback="Thank you")
    assignment = client.get_assignment(AssignmentId=first)["Assignment"]
    assert assignment["AssignmentStatus"] == "Approved"
    assert assignment["RequesterFeedback"] == "Thank you"
    client.reject_assignment(
        AssignmentId=listed["Assignments"][1]["AssignmentId"], RequesterFeedback="All the same"
    )
    client.send_bonus(
        WorkerId=worker_id,
        BonusAmount="0.25",
        AssignmentId=first,
        Reason="Careful work",
        UniqueRequestToken="bonus-1",
    )
    [bonus] = client.list_bonus_payments(HITId=hit["HITId"])["BonusPayments"]
    assert (bonus["BonusAmount"], bonus["AssignmentId"]) == ("0.25", first)
    # 1000 − (0.65 + 0.13) − (0.25 + 0.05); the rejected place costs nothing.
    balance = client.get_account_balance()
    assert (balance["AvailableBalance"], balance["OnHoldBalance"]) == ("998.92", "0.00")

    client.delete_hit(HITId=hit["HITId"])
    assert client.list_hits()["HITs"] == []
    assert client.get_hit(HITId=hit["HITId"])["HIT"]["HITStatus"] == "Disposed"


def test_the_same_properties_are_the_same_type(client: Client) -> None:
    first = client.create_hit_type(**TYPE)["HITTypeId"]
    assert client.create_hit_type(**TYPE)["HITTypeId"] == first
    assert client.create_hit_type(**(TYPE | {"Reward": "0.66"}))["HITTypeId"] != first
    assert (
        client.create_hit(**TYPE, LifetimeInSeconds=60, Question=QUESTION)["HIT"]["HITTypeId"]
        == first
    )


def test_a_repeated_token_names_the_hit_that_is_there(client: Client) -> None:
    hit_id = hit_id_of(client, UniqueRequestToken="once")
    with pytest.raises(client.exceptions.RequestError) as caught:
        hit_id_of(client, UniqueRequestToken="once")
    assert refused(caught) == "HitAlreadyExists"
    assert hit_id in caught.value.response["Error"]["Message"]
    assert len(client.list_hits()["HITs"]) == 1


def test_paginators_walk_all_pages(client: Client) -> None:
    made = {hit_id_of(client, RequesterAnnotation=str(number)) for number in range(12)}
    pages = list(client.get_paginator("list_hits").paginate(PaginationConfig={"PageSize": 5}))
    assert [len(page["HITs"]) for page in pages] == [5, 5, 2]
    assert {hit["HITId"] for page in pages for hit in page["HITs"]} == made

    hit_id = hit_id_of(client, MaxAssignments=9)
    expected = [done(hit_id)[0] for _ in range(7)]
    walk = client.get_paginator("list_assignments_for_hit").paginate(
        HITId=hit_id, PaginationConfig={"PageSize": 3}
    )
    assert [row["AssignmentId"] for page in walk for row in page["Assignments"]] == expected


def test_a_token_of_another_list_is_refused(client: Client) -> None:
    for _ in range(2):
        hit_id_of(client)
    token = client.list_hits(MaxResults=1)["NextToken"]
    for wrong in (token + "x", "nonsense"):
        with pytest.raises(client.exceptions.RequestError):
            client.list_hits(NextToken=wrong)
    with pytest.raises(client.exceptions.RequestError):
        client.list_qualification_types(MustBeRequestable=False, NextToken=token)


def qualification_type_of(client: Client) -> str:
    made = client.create_qualification_type(
        Name="Did stage 2", Description="Took part in stage 2", QualificationTypeStatus="Active"
    )
    return str(made["QualificationType"]["QualificationTypeId"])


def test_a_qualification_from_its_grant_to_its_revocation(client: Client) -> None:
    type_id = qualification_type_of(client)
    worker = world.worker()
    client.associate_qualification_with_worker(
        QualificationTypeId=type_id, WorkerId=worker.worker_id, IntegerValue=7
    )
    score = client.get_qualification_score(QualificationTypeId=type_id, WorkerId=worker.worker_id)
    assert score["Qualification"]["IntegerValue"] == 7
    hit_id = hit_id_of(
        client,
        QualificationRequirements=[
            {
                "QualificationTypeId": type_id,
                "Comparator": "DoesNotExist",
                "ActionsGuarded": "Accept",
            }
        ],
    )
    [offer] = work.available(worker)
    assert not offer.may_accept
    [listed] = client.list_hits_for_qualification_type(QualificationTypeId=type_id)["HITs"]
    assert listed["HITId"] == hit_id

    client.disassociate_qualification_from_worker(
        QualificationTypeId=type_id, WorkerId=worker.worker_id, Reason="by mistake"
    )
    [offer] = work.available(worker)
    assert offer.may_accept
    with pytest.raises(client.exceptions.RequestError, match="status of: Granted"):
        client.get_qualification_score(QualificationTypeId=type_id, WorkerId=worker.worker_id)
    revoked = client.list_workers_with_qualification_type(
        QualificationTypeId=type_id, Status="Revoked"
    )
    assert [row["WorkerId"] for row in revoked["Qualifications"]] == [worker.worker_id]


def test_a_qualification_that_a_worker_asks_for(client: Client) -> None:
    type_id, worker = qualification_type_of(client), world.worker()
    kind = QualificationType.objects.get(qualification_type_id=type_id)
    qualifying.request(kind=kind, worker=worker)
    [asked] = client.list_qualification_requests()["QualificationRequests"]
    client.accept_qualification_request(
        QualificationRequestId=asked["QualificationRequestId"], IntegerValue=3
    )
    score = client.get_qualification_score(QualificationTypeId=type_id, WorkerId=worker.worker_id)
    assert score["Qualification"]["IntegerValue"] == 3


def test_a_qualification_type_from_its_name_to_its_end(client: Client) -> None:
    type_id = qualification_type_of(client)
    with pytest.raises(client.exceptions.RequestError) as caught:
        qualification_type_of(client)
    assert refused(caught) == "QualificationTypeAlreadyExists"
    client.update_qualification_type(
        QualificationTypeId=type_id, QualificationTypeStatus="Inactive"
    )
    found = client.list_qualification_types(MustBeRequestable=True, MustBeOwnedByCaller=True)
    assert found["QualificationTypes"][0]["QualificationTypeStatus"] == "Inactive"
    client.delete_qualification_type(QualificationTypeId=type_id)
    with pytest.raises(client.exceptions.RequestError) as caught:
        client.get_qualification_type(QualificationTypeId=type_id)
    assert refused(caught) == "QualificationTypeDoesNotExist"


def test_a_qualification_granted_to_everybody_is_had_at_once(client: Client) -> None:
    made = client.create_qualification_type(
        Name="Everybody",
        Description="for all",
        QualificationTypeStatus="Active",
        AutoGranted=True,
        AutoGrantedValue=5,
    )["QualificationType"]
    worker = world.worker()
    kind = QualificationType.objects.get(qualification_type_id=made["QualificationTypeId"])
    qualifying.request(kind=kind, worker=worker)
    score = client.get_qualification_score(
        QualificationTypeId=made["QualificationTypeId"], WorkerId=worker.worker_id
    )
    assert score["Qualification"]["IntegerValue"] == 5


def test_blocks_and_messages(client: Client) -> None:
    stranger = world.worker()
    assignment_id, worker_id = done(hit_id_of(client))
    client.approve_assignment(AssignmentId=assignment_id)
    answer = client.notify_workers(
        Subject="Thanks",
        MessageText="There is more",
        WorkerIds=[worker_id, stranger.worker_id, "ANOBODY"],
    )
    assert {row["WorkerId"] for row in answer["NotifyWorkersFailureStatuses"]} == {
        stranger.worker_id,
        "ANOBODY",
    }
    client.create_worker_block(WorkerId=worker_id, Reason="asked to stop")
    assert client.list_worker_blocks()["WorkerBlocks"] == [
        {"WorkerId": worker_id, "Reason": "asked to stop"}
    ]
    client.delete_worker_block(WorkerId=worker_id, Reason="came back")
    client.delete_worker_block(WorkerId=worker_id)
    assert client.list_worker_blocks()["WorkerBlocks"] == []


def test_a_hit_ends_when_its_expiration_is_moved_to_the_past(client: Client) -> None:
    hit_id = hit_id_of(client, MaxAssignments=3)
    client.update_expiration_for_hit(HITId=hit_id, ExpireAt=datetime(2015, 1, 1, tzinfo=UTC))
    hit = client.get_hit(HITId=hit_id)["HIT"]
    assert (hit["HITStatus"], hit["NumberOfAssignmentsAvailable"]) == ("Reviewable", 0)
    assert client.get_account_balance()["OnHoldBalance"] == "0.00"
    client.update_expiration_for_hit(HITId=hit_id, ExpireAt=datetime.now(UTC) + timedelta(hours=1))
    hit = client.get_hit(HITId=hit_id)["HIT"]
    assert (hit["HITStatus"], hit["NumberOfAssignmentsAvailable"]) == ("Assignable", 3)
    assert client.get_account_balance()["OnHoldBalance"] == "2.34"


def test_reviewing_and_back(client: Client) -> None:
    hit_id = hit_id_of(client)
    with pytest.raises(client.exceptions.RequestError) as caught:
        client.update_hit_review_status(HITId=hit_id)
    assert refused(caught) == "InvalidHITState"
    done(hit_id)
    client.update_hit_review_status(HITId=hit_id)
    assert client.list_reviewable_hits(Status="Reviewing")["NumResults"] == 1
    assert client.list_reviewable_hits()["NumResults"] == 0
    client.update_hit_review_status(HITId=hit_id, Revert=True)
    assert client.list_reviewable_hits()["NumResults"] == 1


def test_more_assignments_make_a_reviewable_hit_assignable(client: Client) -> None:
    hit_id = hit_id_of(client)
    done(hit_id)
    more = {"HITId": hit_id, "NumberOfAdditionalAssignments": 1, "UniqueRequestToken": "more"}
    client.create_additional_assignments_for_hit(**more)
    with pytest.raises(client.exceptions.RequestError, match="has already been processed"):
        client.create_additional_assignments_for_hit(**more)
    hit = client.get_hit(HITId=hit_id)["HIT"]
    assert (hit["MaxAssignments"], hit["HITStatus"]) == (2, "Assignable")


def test_nine_assignments_do_not_become_ten(client: Client) -> None:
    hit_id = hit_id_of(client, MaxAssignments=9)
    with pytest.raises(client.exceptions.RequestError) as caught:
        client.create_additional_assignments_for_hit(HITId=hit_id, NumberOfAdditionalAssignments=1)
    assert refused(caught) == "InvalidMaximumAssignmentsIncrease"
    many = hit_id_of(client, MaxAssignments=10)
    client.create_additional_assignments_for_hit(HITId=many, NumberOfAdditionalAssignments=5)


def test_a_hit_takes_the_reward_of_its_new_type(client: Client) -> None:
    hit_id = hit_id_of(client)
    dearer = client.create_hit_type(**(TYPE | {"Reward": "2.00"}))["HITTypeId"]
    client.update_hit_type_of_hit(HITId=hit_id, HITTypeId=dearer)
    assert client.get_account_balance()["OnHoldBalance"] == "2.40"
    assignment_id, _ = done(hit_id)
    client.approve_assignment(AssignmentId=assignment_id)
    assert client.get_account_balance()["AvailableBalance"] == "997.60"


def test_a_rejection_can_be_turned(client: Client) -> None:
    hit_id = hit_id_of(client)
    assignment_id, _ = done(hit_id)
    with pytest.raises(client.exceptions.RequestError, match="between 1 and"):
        client.reject_assignment(AssignmentId=assignment_id, RequesterFeedback="")
    client.reject_assignment(AssignmentId=assignment_id, RequesterFeedback="wrong")
    with pytest.raises(client.exceptions.RequestError, match="status of: Submitted"):
        client.approve_assignment(AssignmentId=assignment_id)
    client.approve_assignment(AssignmentId=assignment_id, OverrideRejection=True)
    found = client.get_assignment(AssignmentId=assignment_id)["Assignment"]
    assert found["AssignmentStatus"] == "Approved"
    assert client.get_account_balance()["AvailableBalance"] == "999.22"
