"""Signature Version 4, computed anew by botocore's own signer."""

import hashlib
import hmac
import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from django.http import HttpRequest
from django.utils import timezone

from hits.marketplace.models import Requester

SERVICE = "mturk-requester"
CLOCKS_DIFFER = timedelta(minutes=15)
MUST_BE_SIGNED = {"host", "x-amz-date", "x-amz-target"}
_AUTHORIZATION = re.compile(
    r"AWS4-HMAC-SHA256 +Credential=(?P<key>[^/,\s]{1,128})/(?P<date>\d{8})/(?P<region>[\w-]{1,64})"
    r"/(?P<service>[\w-]{1,64})/aws4_request, *SignedHeaders=(?P<headers>[\w;-]{1,2000}),"
    r" *Signature=(?P<signature>[0-9a-f]{64})"
)


class NotSigned(Exception):
    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


@dataclass(frozen=True)
class _Claim:
    key: str
    date: str
    region: str
    service: str
    headers: str
    signature: str


def requester_of(request: HttpRequest) -> Requester:
    claim = _claim(request)
    _check_time(request, claim)
    requester = Requester.objects.filter(access_key=claim.key).first()
    if requester is None:
        raise NotSigned(
            "UnrecognizedClientException", "The security token included in the request is invalid."
        )
    if not hmac.compare_digest(_signature(request, claim, requester), claim.signature):
        raise NotSigned(
            "InvalidSignatureException",
            "The request signature we calculated does not match the signature you provided. "
            "Check your AWS Secret Access Key and signing method.",
        )
    return requester


def _claim(request: HttpRequest) -> _Claim:
    header = request.headers.get("Authorization", "")
    if not header:
        raise NotSigned(
            "MissingAuthenticationTokenException", "Request is missing Authentication Token"
        )
    found = _AUTHORIZATION.fullmatch(header)
    if found is None or not found["key"].isprintable():
        raise NotSigned(
            "IncompleteSignatureException", "Authorization header is not a Signature Version 4."
        )
    claim = _Claim(**found.groupdict())
    if not set(claim.headers.split(";")) >= MUST_BE_SIGNED or claim.service != SERVICE:
        raise NotSigned(
            "InvalidSignatureException",
            f"Credential should be scoped to the service '{SERVICE}', and the headers "
            f"{', '.join(sorted(MUST_BE_SIGNED))} signed.",
        )
    return claim


def _check_time(request: HttpRequest, claim: _Claim) -> None:
    given = request.headers.get("X-Amz-Date", "")
    try:
        signed_at = datetime.strptime(given, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
    except ValueError:
        raise NotSigned(
            "IncompleteSignatureException", "X-Amz-Date must be in ISO-8601 basic format."
        ) from None
    if abs(timezone.now() - signed_at) > CLOCKS_DIFFER or not given.startswith(claim.date):
        raise NotSigned("InvalidSignatureException", f"Signature expired: {given}")


def _signature(request: HttpRequest, claim: _Claim, requester: Requester) -> str:
    signed = AWSRequest(
        method=request.method,
        url=request.build_absolute_uri(),
        headers={name: request.headers.get(name, "") for name in claim.headers.split(";")},
        data=request.body,
    )
    # A header that names the body's hash would be believed by the signer.
    if signed.headers.get("X-Amz-Content-SHA256"):
        del signed.headers["X-Amz-Content-SHA256"]
        signed.headers["X-Amz-Content-SHA256"] = hashlib.sha256(request.body).hexdigest()
    signed.context["timestamp"] = request.headers["X-Amz-Date"]
    credentials = Credentials(requester.access_key, requester.secret_key)
    signer = SigV4Auth(credentials, claim.service, claim.region)
    to_sign = signer.string_to_sign(signed, signer.canonical_request(signed))
    signature: str = signer.signature(to_sign, signed)
    return signature
