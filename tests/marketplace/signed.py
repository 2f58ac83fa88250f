"""Signed calls without boto3's own checks, so that anything can be sent."""

import json
from typing import Any

from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from django.test import Client

from hits.marketplace.models import Requester

HOST = "testserver"
TARGET = "MTurkRequesterServiceV20170117"


def headers_of(requester: Requester, operation: str, body: bytes) -> dict[str, str]:
    request = AWSRequest(
        "POST",
        f"http://{HOST}/",
        headers={
            "Content-Type": "application/x-amz-json-1.1",
            "X-Amz-Target": f"{TARGET}.{operation}",
        },
        data=body,
    )
    credentials = Credentials(requester.access_key, requester.secret_key)
    SigV4Auth(credentials, "mturk-requester", "us-east-1").add_auth(request)
    return dict(request.headers.items()) | {"Host": HOST}


def call(requester: Requester, operation: str, given: Any) -> tuple[int, Any]:
    """The status and the answer; `given` is JSON to be, or bytes."""
    body = given if isinstance(given, bytes) else json.dumps(given).encode()
    return sent(body, headers_of(requester, operation, body))


def sent(body: bytes, headers: dict[str, str]) -> tuple[int, Any]:
    browser = Client(raise_request_exception=False)
    answer = browser.post(
        "/", body, content_type=headers.pop("Content-Type", "text/plain"), headers=headers
    )
    assert answer["Content-Type"] == "application/x-amz-json-1.1", answer.content[:300]
    return answer.status_code, json.loads(answer.content)
