from typing import Any

import pytest
from botocore.exceptions import ClientError

from hits.marketplace import work
from hits.marketplace.models import HIT, Requester
from tests.marketplace import world
from tests.marketplace.asking import QUESTION, Client, connected, hit_id_of, refused

EXISTS = {"QualificationTypeId": "00000000000000000040", "Comparator": "Exists"}
FURTHER_THAN_1 = {
    "QualificationTypeId": "00000000000000000071",
    "Comparator": "GreaterThan",
    "IntegerValues": [1],
}


def test_what_is_not_there_or_not_allowed_is_said_as_mechanical_turk_says_it(
    client: Client,
) -> None:
    nobody = "3" + "X" * 29
    with pytest.raises(client.exceptions.RequestError, match=f"Hit {nobody} does not") as caught:
        client.get_hit(HITId=nobody)
    assert refused(caught) == "HITDoesNotExist"
    with pytest.raises(client.exceptions.RequestError) as caught:
        client.approve_assignment(AssignmentId=nobody)
    assert refused(caught) == "AssignmentDoesNotExist"
    hit_id = hit_id_of(client)
    with pytest.raises(client.exceptions.RequestError) as caught:
        client.delete_hit(HITId=hit_id)
    assert refused(caught) == "InvalidHITState"
    accepted = work.accept(worker=world.worker(), hit=HIT.objects.get(hit_id=hit_id))
    with pytest.raises(client.exceptions.RequestError) as caught:
        client.get_assignment(AssignmentId=accepted.assignment_id)
    assert refused(caught) == "InvalidAssignmentState"
    with pytest.raises(client.exceptions.RequestError) as caught:
        client.send_bonus(
            WorkerId=accepted.worker.worker_id,
            BonusAmount="1.00",
            AssignmentId=accepted.assignment_id,
            Reason="too early",
        )
    assert refused(caught) == "AssignmentDoesNotExist"
    with pytest.raises(client.exceptions.RequestError) as caught:
        hit_id_of(client, Reward="9000.00", MaxAssignments=9)
    assert refused(caught) == "InsufficientFunds"
    for operation in (
        lambda: client.get_file_upload_url(AssignmentId=nobody, QuestionIdentifier="q"),
        lambda: client.list_review_policy_results_for_hit(HITId=hit_id),
        lambda: hit_id_of(client, HITLayoutId=nobody),
    ):
        with pytest.raises(client.exceptions.RequestError) as caught:
            operation()
        assert refused(caught) == "NotSupported"


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"Title": "x" * 129}, "ParameterLengthOutOfRange"),
        ({"LifetimeInSeconds": 29}, "ParameterOutOfRange"),
        ({"AssignmentDurationInSeconds": 31536001}, "ParameterOutOfRange"),
        ({"MaxAssignments": 0}, "ParameterOutOfRange"),
        ({"RequesterAnnotation": "x" * 256}, "ParameterLengthOutOfRange"),
        ({"Question": "not xml"}, "XMLParseError"),
        ({"Question": QUESTION.replace("https:", "http:")}, "XMLParseError"),
        ({"Question": QUESTION.replace("<FrameHeight>0</FrameHeight>", "")}, "XMLParseError"),
        ({"Question": QUESTION.replace(">0<", ">tall<")}, "XMLParseError"),
        ({"Question": QUESTION.replace("2006-07-14", "2005-01-01")}, "XMLParseError"),
        ({"Question": QUESTION + " " * 65_535}, "ParameterLengthOutOfRange"),
        (
            {
                "Question": QUESTION.replace(
                    "<ExternalQuestion", '<!DOCTYPE x [<!ENTITY e "e">]><ExternalQuestion', 1
                )
            },
            "XMLParseError",
        ),
        (
            {
                "QualificationRequirements": [
                    {"QualificationTypeId": "00000000000000000040", "Comparator": "Exists"}
                ]
                * 11
            },
            "InvalidQualificationRequirement",
        ),
        (
            {
                "QualificationRequirements": [
                    {
                        "QualificationTypeId": "00000000000000000071",
                        "Comparator": "GreaterThan",
                        "IntegerValues": [1],
                    }
                ]
            },
            "InvalidQualificationRequirement",
        ),
        (
            {
                "QualificationRequirements": [
                    {"QualificationTypeId": "3NOTTHERE", "Comparator": "Exists"}
                ]
            },
            "QualificationTypeDoesNotExist",
        ),
    ],
)
def test_a_hit_that_breaks_a_documented_rule_is_refused(
    client: Client, change: dict[str, Any], code: str
) -> None:
    with pytest.raises(client.exceptions.RequestError) as caught:
        hit_id_of(client, **change)
    assert refused(caught) == code
    assert client.get_account_balance()["OnHoldBalance"] == "0.00"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"Reward": "$1"}, "regular expression pattern"),
        ({"UniqueRequestToken": "x" * 65}, "less than or equal to 64"),
    ],
)
def test_what_botocore_itself_lets_through_is_checked_by_its_model(
    client: Client, change: dict[str, Any], words: str
) -> None:
    with pytest.raises(ClientError, match=words) as caught:
        hit_id_of(client, **change)
    assert caught.value.response["Error"]["Code"] == "ValidationException"


def test_requesters_do_not_see_each_other(client: Client, market: str, owner: Requester) -> None:
    hit_id = hit_id_of(client)
    other = connected(market, world.requester("Other"))
    assert other.list_hits()["HITs"] == []
    with pytest.raises(other.exceptions.RequestError) as caught:
        other.get_hit(HITId=hit_id)
    assert refused(caught) == "HITDoesNotExist"


def test_a_wrong_secret_is_refused(market: str, owner: Requester) -> None:
    owner.secret_key = "another"
    owner.save()
    with pytest.raises(ClientError) as caught:
        connected(market, owner).get_account_balance()
    assert caught.value.response["Error"]["Code"] == "InvalidSignatureException"
    owner.access_key = "AKIANOBODY"
    with pytest.raises(ClientError) as caught:
        connected(market, owner).get_account_balance()
    assert caught.value.response["Error"]["Code"] == "UnrecognizedClientException"
