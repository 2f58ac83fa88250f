"""Qualification types, who has them, and who asks for them."""

from collections.abc import Mapping
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Q
from django.utils import timezone

from hits.marketplace import qualifying
from hits.marketplace.errors import RequestError, wrong_state
from hits.marketplace.models import (
    Qualification,
    QualificationRequest,
    QualificationType,
    Requester,
)
from hits.marketplace.operations import finding, limits, rendering
from hits.marketplace.operations.pages import page
from hits.marketplace.questions import elements

Given = Mapping[str, Any]
State = QualificationRequest.State


def create_qualification_type(requester: Requester, given: Given) -> dict[str, Any]:
    made = QualificationType(
        requester=requester,
        name=limits.text(given, "Name", at_most=200, required=True),
        keywords=limits.text(given, "Keywords", at_most=1000),
    )
    _set(made, given)
    if "AutoGrantedValue" not in given:
        made.auto_granted_value = 1
    try:
        with transaction.atomic():
            made.save()
    except IntegrityError:
        raise RequestError(
            "QualificationTypeAlreadyExists",
            "You have already created a QualificationType with this name. A QualificationType's "
            "name must be unique among all of the QualificationTypes created by the same user.",
        ) from None
    made.refresh_from_db()
    return {"QualificationType": rendering.qualification_type(made)}


def update_qualification_type(requester: Requester, given: Given) -> dict[str, Any]:
    row = finding.own_qualification_type(requester, given["QualificationTypeId"])
    _set(row, given)
    row.save()
    return {"QualificationType": rendering.qualification_type(row)}


def _set(row: QualificationType, given: Given) -> None:
    if "Description" in given:
        row.description = limits.text(given, "Description", at_most=2000, required=True)
    if "QualificationTypeStatus" in given:
        row.is_active = given["QualificationTypeStatus"] == "Active"
    if "RetryDelayInSeconds" in given:
        row.retry_seconds = limits.number(given, "RetryDelayInSeconds", 0, limits.YEAR)
    _set_test(row, given)
    row.auto_granted = given.get("AutoGranted", row.auto_granted)
    row.auto_granted_value = given.get("AutoGrantedValue", row.auto_granted_value)
    if row.auto_granted and row.test:
        raise RequestError(
            "InvalidParameterValue", "A QualificationType with a Test cannot be AutoGranted."
        )


def _set_test(row: QualificationType, given: Given) -> None:
    if "Test" not in given:
        if "AnswerKey" in given or "TestDurationInSeconds" in given:
            raise RequestError(
                "InvalidParameterValue",
                "AnswerKey and TestDurationInSeconds belong to a Test, which must be given too.",
            )
        return
    if "TestDurationInSeconds" not in given:
        raise RequestError(
            "MissingParameter", "If a Test is given, TestDurationInSeconds must be given too."
        )
    row.test = _xml(given, "Test", "QuestionForm")
    row.answer_key = _xml(given, "AnswerKey", "AnswerKey") if "AnswerKey" in given else ""
    row.test_seconds = limits.number(given, "TestDurationInSeconds", 1, limits.YEAR)


def _xml(given: Given, name: str, root: str) -> str:
    value: str = given[name]
    found = elements(value, name)[0]
    if found.name != root:
        raise RequestError("XMLParseError", f"{name} must be a {root}, not a {found.name}.")
    return value


def get_qualification_type(_requester: Requester, given: Given) -> dict[str, Any]:
    row = finding.qualification_type(given["QualificationTypeId"])
    return {"QualificationType": rendering.qualification_type(row)}


def delete_qualification_type(requester: Requester, given: Given) -> dict[str, Any]:
    row = finding.own_qualification_type(requester, given["QualificationTypeId"])
    row.deleted_at = timezone.now()
    row.save(update_fields=["deleted_at"])
    for pending in row.requests.filter(state=State.PENDING):
        qualifying.settle(pending, State.REJECTED, "The qualification type was deleted.")
    return {}


def list_qualification_types(requester: Requester, given: Given) -> dict[str, Any]:
    found = QualificationType.objects.filter(deleted_at__isnull=True)
    if given.get("MustBeOwnedByCaller", False):
        found = found.filter(requester=requester)
    for word in given.get("Query", "").split():
        found = found.filter(
            Q(name__icontains=word) | Q(description__icontains=word) | Q(keywords__icontains=word)
        )
    return page(
        given,
        found,
        name="QualificationTypes",
        render=rendering.qualification_type,
        newest_first=True,
    )


def list_workers_with_qualification_type(requester: Requester, given: Given) -> dict[str, Any]:
    kind = finding.own_qualification_type(requester, given["QualificationTypeId"])
    granted = given.get("Status", "Granted") == "Granted"
    found = kind.qualifications.filter(is_granted=granted).select_related("kind", "worker")
    return page(given, found, name="Qualifications", render=rendering.qualification)


def associate_qualification_with_worker(requester: Requester, given: Given) -> dict[str, Any]:
    kind = finding.own_qualification_type(requester, given["QualificationTypeId"])
    worker = finding.worker(given["WorkerId"])
    qualifying.grant(kind=kind, worker=worker, value=given.get("IntegerValue", 1))
    if given.get("SendNotification", True):
        text = f"You have been given this qualification: {kind.description}"
        qualifying.tell(kind=kind, worker=worker, text=text)
    return {}


def disassociate_qualification_from_worker(requester: Requester, given: Given) -> dict[str, Any]:
    row = _score(requester, given)
    row.is_granted = False
    row.reason = limits.text(given, "Reason", at_most=4096)
    row.save(update_fields=["is_granted", "reason"])
    return {}


def get_qualification_score(requester: Requester, given: Given) -> dict[str, Any]:
    return {"Qualification": rendering.qualification(_score(requester, given))}


def _score(requester: Requester, given: Given) -> Qualification:
    kind = finding.own_qualification_type(requester, given["QualificationTypeId"])
    worker = finding.worker(given["WorkerId"])
    row = kind.qualifications.select_related("kind", "worker").filter(worker=worker).first()
    if row is None:
        raise RequestError(
            "QualificationDoesNotExist",
            "You requested a Qualification that does not exist. Please check the "
            f"QualificationTypeId {kind.qualification_type_id} and the WorkerId "
            f"{worker.worker_id}.",
        )
    if not row.is_granted:
        raise wrong_state("Qualification", "Revoked", "Granted")
    return row


def list_qualification_requests(requester: Requester, given: Given) -> dict[str, Any]:
    found = QualificationRequest.objects.filter(kind__requester=requester, state=State.PENDING)
    if "QualificationTypeId" in given:
        found = found.filter(
            kind=finding.own_qualification_type(requester, given["QualificationTypeId"])
        )
    return page(
        given,
        found.select_related("kind", "worker"),
        name="QualificationRequests",
        render=rendering.qualification_request,
    )


def accept_qualification_request(requester: Requester, given: Given) -> dict[str, Any]:
    row = _pending(requester, given)
    qualifying.settle(row, State.GRANTED)
    qualifying.grant(kind=row.kind, worker=row.worker, value=given.get("IntegerValue", 1))
    return {}


def reject_qualification_request(requester: Requester, given: Given) -> dict[str, Any]:
    reason = limits.text(given, "Reason", at_most=4096)
    row = _pending(requester, given)
    qualifying.settle(row, State.REJECTED, reason)
    if reason:
        qualifying.tell(kind=row.kind, worker=row.worker, text=reason)
    return {}


def _pending(requester: Requester, given: Given) -> QualificationRequest:
    request_id = given["QualificationRequestId"]
    row = (
        QualificationRequest.objects.select_for_update(of=("self",))
        .select_related("kind", "worker")
        .filter(kind__requester=requester, request_id=request_id)
        .first()
    )
    if row is None:
        raise RequestError(
            "QualificationRequestDoesNotExist",
            f"QualificationRequest {request_id} does not exist.",
        )
    if row.state != State.PENDING:
        raise wrong_state("QualificationRequest", row.state, "Submitted")
    return row


OPERATIONS = {
    "CreateQualificationType": create_qualification_type,
    "UpdateQualificationType": update_qualification_type,
    "GetQualificationType": get_qualification_type,
    "DeleteQualificationType": delete_qualification_type,
    "ListQualificationTypes": list_qualification_types,
    "ListWorkersWithQualificationType": list_workers_with_qualification_type,
    "AssociateQualificationWithWorker": associate_qualification_with_worker,
    "DisassociateQualificationFromWorker": disassociate_qualification_from_worker,
    "GetQualificationScore": get_qualification_score,
    "ListQualificationRequests": list_qualification_requests,
    "AcceptQualificationRequest": accept_qualification_request,
    "RejectQualificationRequest": reject_qualification_request,
}
