"""The requester's API: AWS JSON 1.1 over HTTP, as botocore's model of Mechanical Turk has it."""

import json
import time
import uuid
from collections.abc import Mapping
from typing import Any

import structlog
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt

from hits.marketplace import faults, shapes
from hits.marketplace.errors import RequestError
from hits.marketplace.models import Requester
from hits.marketplace.operations import LEFT_OUT, OPERATIONS
from hits.marketplace.settling import settle_due
from hits.marketplace.signature import NotSigned, requester_of

CONTENT_TYPE = "application/x-amz-json-1.1"
CODES = "AWS.MechanicalTurk."

log = structlog.get_logger("marketplace")


class Refusal(Exception):
    """An answer that is not the operation's: its name, its words and its HTTP status."""

    def __init__(self, name: str, message: str, status: int = 400, **more: str) -> None:
        super().__init__(message)
        self.body = {"__type": name, "Message": message, "message": message, **more}
        self.status = status


@csrf_exempt
def requester_api(request: HttpRequest) -> HttpResponse:
    try:
        answer, status = _answered(request), 200
    except Refusal as refusal:
        answer, status = refusal.body, refusal.status
    response = HttpResponse(json.dumps(answer), status=status, content_type=CONTENT_TYPE)
    response["x-amzn-RequestId"] = str(uuid.uuid4())
    if status >= 400:
        response["x-amzn-ErrorType"] = answer["__type"]
    return response


def _answered(request: HttpRequest) -> Mapping[str, Any]:
    operation = _operation(request)
    try:
        requester = requester_of(request)
    except NotSigned as problem:
        raise Refusal(problem.code, problem.message) from None
    given = _given(request, operation)
    settle_due()
    return _done(operation, requester, given)


def _operation(request: HttpRequest) -> str:
    prefix, _, operation = request.headers.get("X-Amz-Target", "").partition(".")
    is_json = request.content_type == CONTENT_TYPE
    if prefix != shapes.TARGET_PREFIX or operation not in shapes.OPERATIONS or not is_json:
        raise Refusal("UnknownOperationException", "The operation is not known.")
    return operation


def _given(request: HttpRequest, operation: str) -> dict[str, Any]:
    shape = shapes.operation(operation).input_shape
    try:
        given = json.loads(request.body or b"{}", parse_constant=_no_constant)
    except (ValueError, RecursionError):
        raise Refusal("SerializationException", "The request is not JSON.") from None
    found = shapes.problems(shape, given)
    if wrong := [problem for problem in found if problem.is_type]:
        raise Refusal("SerializationException", str(wrong[0]))
    if found:
        many = "errors" if len(found) > 1 else "error"
        listed = "; ".join(map(str, found))
        raise Refusal("ValidationException", f"{len(found)} validation {many} detected: {listed}")
    parsed: dict[str, Any] = shapes.parsed(shape, given)
    return parsed


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _done(operation: str, requester: Requester, given: dict[str, Any]) -> Mapping[str, Any]:
    faults.delay(operation)
    if faults.strikes(faults.Kind.THROTTLE, operation):
        raise Refusal("ThrottlingException", "Rate exceeded")
    if faults.strikes(faults.Kind.FAIL_BEFORE, operation):
        raise _service_fault()
    try:
        answer = _perform(operation, requester, given)
    except RequestError as error:
        stamped = f"{error.message} ({int(time.time() * 1000)} s)"
        raise Refusal("RequestError", stamped, TurkErrorCode=CODES + error.code) from None
    if faults.strikes(faults.Kind.FAIL_AFTER, operation):
        raise _service_fault()
    return answer


@transaction.atomic
def _perform(operation: str, requester: Requester, given: dict[str, Any]) -> Mapping[str, Any]:
    if operation in LEFT_OUT:
        raise RequestError("NotSupported", f"{operation} is not supported: {LEFT_OUT[operation]}")
    answer = OPERATIONS[operation](requester, given)
    if found := shapes.problems(shapes.operation(operation).output_shape, answer):
        raise AssertionError(f"{operation} answered what the model does not allow: {found[0]}")
    serialized: Mapping[str, Any] = shapes.serialized(answer)
    return serialized


def _service_fault() -> Refusal:
    return Refusal(
        "ServiceFault",
        "Amazon Mechanical Turk is temporarily unable to process your request. "
        "Try your call again.",
        status=500,
        TurkErrorCode="AWS.ServiceUnavailable",
    )
