from datetime import UTC, datetime, timedelta

import pytest
from django.conf import LazySettings
from django.test import Client

from hits.marketplace.models import Requester
from tests.marketplace import world
from tests.marketplace.signed import HOST, TARGET, headers_of, sent

pytestmark = pytest.mark.django_db
BODY = b"{}"


@pytest.fixture
def owner(settings: LazySettings) -> Requester:
    settings.MARKETPLACE_HOST = HOST
    return world.requester()


def error_of(body: bytes, headers: dict[str, str]) -> str:
    status, answer = sent(body, headers)
    assert status == 400
    return str(answer["__type"])


def test_a_signed_call_is_answered(owner: Requester) -> None:
    status, answer = sent(BODY, headers_of(owner, "GetAccountBalance", BODY))
    assert (status, answer["AvailableBalance"]) == (200, "1000.00")


def test_a_call_without_a_signature_is_refused(owner: Requester) -> None:
    headers = headers_of(owner, "GetAccountBalance", BODY)
    del headers["Authorization"]
    assert error_of(BODY, headers) == "MissingAuthenticationTokenException"


def test_a_changed_body_is_refused(owner: Requester) -> None:
    headers = headers_of(owner, "GetAccountBalance", BODY)
    assert error_of(b'{"x": 1}', headers) == "InvalidSignatureException"


def test_a_body_whose_hash_is_only_claimed_is_refused(owner: Requester) -> None:
    headers = headers_of(owner, "GetAccountBalance", BODY)
    for claimed in ("UNSIGNED-PAYLOAD", "0" * 64):
        headers["X-Amz-Content-SHA256"] = claimed
        headers["Authorization"] = headers["Authorization"].replace(
            "SignedHeaders=content-type;host;",
            "SignedHeaders=content-type;host;x-amz-content-sha256;",
        )
        assert error_of(BODY, dict(headers)) == "InvalidSignatureException"


def test_another_operation_than_the_signed_one_is_refused(owner: Requester) -> None:
    headers = headers_of(owner, "GetAccountBalance", BODY)
    headers["X-Amz-Target"] = f"{TARGET}.ListHITs"
    assert error_of(BODY, headers) == "InvalidSignatureException"


def test_a_target_that_was_not_signed_is_refused(owner: Requester) -> None:
    headers = headers_of(owner, "GetAccountBalance", BODY)
    headers["Authorization"] = headers["Authorization"].replace(";x-amz-target", "")
    assert error_of(BODY, headers) == "InvalidSignatureException"


def test_an_old_signature_is_refused(owner: Requester) -> None:
    headers = headers_of(owner, "GetAccountBalance", BODY)
    then = datetime.now(UTC) - timedelta(minutes=16)
    headers["X-Amz-Date"] = then.strftime("%Y%m%dT%H%M%SZ")
    assert error_of(BODY, headers) == "InvalidSignatureException"


@pytest.mark.parametrize(
    "authorization",
    ["Bearer x", "AWS4-HMAC-SHA256", "AWS4-HMAC-SHA256 Credential=\x00/20260101/r/s/aws4_request"],
)
def test_another_authorization_is_refused(owner: Requester, authorization: str) -> None:
    headers = headers_of(owner, "GetAccountBalance", BODY)
    headers["Authorization"] = authorization
    assert error_of(BODY, headers) == "IncompleteSignatureException"


@pytest.mark.parametrize(
    "change",
    [
        {"X-Amz-Target": ""},
        {"X-Amz-Target": f"{TARGET}.MakeTea"},
        {"X-Amz-Target": "DynamoDB_20120810.ListTables"},
        {"Content-Type": "text/plain"},
    ],
)
def test_what_is_no_operation_is_refused(owner: Requester, change: dict[str, str]) -> None:
    headers = headers_of(owner, "GetAccountBalance", BODY) | change
    assert error_of(BODY, headers) == "UnknownOperationException"


def test_the_api_is_at_the_marketplaces_host_alone(
    owner: Requester, settings: LazySettings
) -> None:
    headers = headers_of(owner, "GetAccountBalance", BODY)
    settings.MARKETPLACE_HOST = "127.0.0.1:8001"
    answer = Client().post("/", BODY, content_type="application/x-amz-json-1.1", headers=headers)
    assert "x-amzn-RequestId" not in answer.headers
    settings.MARKETPLACE_HOST = ""
    answer = Client().post("/", BODY, content_type="application/x-amz-json-1.1", headers=headers)
    assert "x-amzn-RequestId" not in answer.headers
