"""Calls of the API that many tests make, and how their refusals read."""

from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError

from hits.marketplace import work
from hits.marketplace.models import HIT, Requester
from tests.marketplace import world

# boto3 makes its clients from its models when it runs.
Client = Any

QUESTION = """<?xml version="1.0" encoding="UTF-8"?>
<ExternalQuestion xmlns="http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2006-07-14/ExternalQuestion.xsd">
  <ExternalURL>https://example.org/work?study=1&amp;page=2</ExternalURL>
  <FrameHeight>0</FrameHeight>
</ExternalQuestion>"""

TYPE: dict[str, Any] = {
    "AutoApprovalDelayInSeconds": 86400,
    "AssignmentDurationInSeconds": 600,
    "Reward": "0.65",
    "Title": "Judge twenty pairs",
    "Keywords": "image, caption",
    "Description": "Say whether a caption describes an image.",
}


def hit_id_of(client: Client, **given: Any) -> str:
    made = client.create_hit(**(TYPE | {"LifetimeInSeconds": 3600, "Question": QUESTION} | given))
    return str(made["HIT"]["HITId"])


def done(hit_id: str, *, answer: str = "yes") -> tuple[str, str]:
    """A worker does the HIT: the assignment's id and the worker's."""
    assignment = work.accept(worker=world.worker(), hit=HIT.objects.get(hit_id=hit_id))
    work.submit(assignment=assignment, answers=[("choice", answer)])
    return assignment.assignment_id, assignment.worker.worker_id


def refused(caught: pytest.ExceptionInfo[ClientError]) -> str:
    response: dict[str, Any] = {**caught.value.response}
    return str(response["TurkErrorCode"]).removeprefix("AWS.MechanicalTurk.")


def connected(market: str, requester: Requester) -> Client:
    return boto3.client(
        "mturk",
        endpoint_url=market,
        region_name="us-east-1",
        aws_access_key_id=requester.access_key,
        aws_secret_access_key=world.SECRET,
    )
