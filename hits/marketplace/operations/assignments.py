"""Work that was handed in: looked at, approved, rejected, rewarded."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from django.utils import timezone

from hits.marketplace import deciding, money
from hits.marketplace.errors import RequestError, already_processed, wrong_state
from hits.marketplace.models import HIT, Assignment, Bonus, Requester
from hits.marketplace.operations import finding, limits, once, rendering
from hits.marketplace.operations.pages import page, page_by_time

Given = Mapping[str, Any]
Status = Assignment.Status
OVERRIDE_WITHIN = timedelta(days=30)
FEEDBACK = 1024


def get_assignment(requester: Requester, given: Given) -> dict[str, Any]:
    assignment = finding.own_assignment(requester, given["AssignmentId"])
    if assignment.status == Status.ACCEPTED:
        raise wrong_state("Assignment", assignment.status, "Reviewable", "Approved", "Rejected")
    return {
        "Assignment": rendering.assignment(assignment),
        "HIT": rendering.hit(assignment.hit),
    }


def list_assignments_for_hit(requester: Requester, given: Given) -> dict[str, Any]:
    hit = finding.own_hit(requester, given["HITId"])
    wanted = given.get("AssignmentStatuses") or Assignment.HANDED_IN
    found = hit.assignments.filter(status__in=wanted).select_related("worker", "hit")
    return page_by_time(
        given, found, name="Assignments", time="submitted_at", render=rendering.assignment
    )


def approve_assignment(requester: Requester, given: Given) -> dict[str, Any]:
    assignment = finding.own_assignment_locked(requester, given["AssignmentId"])
    feedback = limits.text(given, "RequesterFeedback", at_most=FEEDBACK)
    if assignment.status == Status.SUBMITTED:
        deciding.approve(assignment, feedback=feedback)
    elif assignment.status == Status.REJECTED and given.get("OverrideRejection", False):
        _check_override(assignment)
        deciding.approve_after_rejection(assignment, feedback=feedback)
    else:
        raise wrong_state("Assignment", assignment.status, "Submitted")
    return {}


def _check_override(assignment: Assignment) -> None:
    assert assignment.submitted_at is not None
    is_late = assignment.submitted_at + OVERRIDE_WITHIN < timezone.now()
    if is_late or assignment.hit.status == HIT.Status.DISPOSED:
        raise RequestError(
            "InvalidAssignmentState",
            "A rejection can be overridden within 30 days of the submission, and only while the "
            "HIT is not deleted.",
        )


def reject_assignment(requester: Requester, given: Given) -> dict[str, Any]:
    assignment = finding.own_assignment_locked(requester, given["AssignmentId"])
    feedback = limits.text(given, "RequesterFeedback", at_most=FEEDBACK, required=True)
    if assignment.status != Status.SUBMITTED:
        raise wrong_state("Assignment", assignment.status, "Submitted")
    deciding.reject(assignment, feedback=feedback)
    return {}


def send_bonus(requester: Requester, given: Given) -> dict[str, Any]:
    token, is_new = once.claim(requester, "SendBonus", given.get("UniqueRequestToken"))
    if token is not None and not is_new:
        raise already_processed(token.token)
    assignment = finding.own_assignment(requester, given["AssignmentId"])
    if assignment.status == Status.ACCEPTED:
        raise RequestError(
            "AssignmentDoesNotExist", f"Assignment {given['AssignmentId']} does not exist."
        )
    if assignment.worker.worker_id != given["WorkerId"]:
        raise RequestError(
            "InvalidParameterValue",
            f"Worker {given['WorkerId']} did not submit the assignment {given['AssignmentId']}.",
        )
    bonus = Bonus.objects.create(
        assignment=assignment,
        worker=assignment.worker,
        amount=limits.money(given, "BonusAmount", least=money.CENT),
        reason=limits.text(given, "Reason", at_most=4096, required=True),
    )
    money.pay_bonus(bonus)
    return {}


def list_bonus_payments(requester: Requester, given: Given) -> dict[str, Any]:
    found = Bonus.objects.select_related("worker", "assignment")
    if ("HITId" in given) == ("AssignmentId" in given):
        raise RequestError(
            "InvalidParameterValue", "Either a HITId or an AssignmentId must be specified."
        )
    if "HITId" in given:
        found = found.filter(assignment__hit=finding.own_hit(requester, given["HITId"]))
    else:
        found = found.filter(assignment=finding.own_assignment(requester, given["AssignmentId"]))
    return page(given, found, name="BonusPayments", render=rendering.bonus)


OPERATIONS = {
    "GetAssignment": get_assignment,
    "ListAssignmentsForHIT": list_assignments_for_hit,
    "ApproveAssignment": approve_assignment,
    "RejectAssignment": reject_assignment,
    "SendBonus": send_bonus,
    "ListBonusPayments": list_bonus_payments,
}
