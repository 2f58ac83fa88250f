"""Rows as the API shows them."""

from decimal import Decimal
from typing import Any

from hits.marketplace import states
from hits.marketplace.models import (
    HIT,
    Assignment,
    Block,
    Bonus,
    Qualification,
    QualificationRequest,
    QualificationType,
)


def amount(value: Decimal) -> str:
    return f"{value:.2f}"


def hit(row: HIT) -> dict[str, Any]:
    kind = row.hit_type
    return {
        "HITId": row.hit_id,
        "HITTypeId": kind.hit_type_id,
        "HITGroupId": kind.hit_group_id,
        "CreationTime": row.created_at,
        "Title": kind.title,
        "Description": kind.description,
        "Question": row.question,
        "Keywords": kind.keywords,
        "HITStatus": row.status,
        "MaxAssignments": row.max_assignments,
        "Reward": amount(kind.reward),
        "AutoApprovalDelayInSeconds": kind.auto_approval_seconds,
        "Expiration": row.expires_at,
        "AssignmentDurationInSeconds": kind.assignment_seconds,
        "QualificationRequirements": kind.requirements,
        "HITReviewStatus": "NotReviewed",
        "NumberOfAssignmentsPending": row.pending,
        "NumberOfAssignmentsAvailable": 0 if states.is_over(row) else row.free,
        "NumberOfAssignmentsCompleted": row.completed,
        **_where_said(RequesterAnnotation=row.annotation),
    }


def assignment(row: Assignment) -> dict[str, Any]:
    return {
        "AssignmentId": row.assignment_id,
        "WorkerId": row.worker.worker_id,
        "HITId": row.hit.hit_id,
        "AssignmentStatus": row.status,
        "AutoApprovalTime": row.auto_approval_at,
        "AcceptTime": row.accepted_at,
        "SubmitTime": row.submitted_at,
        "Deadline": row.deadline,
        "Answer": row.answer,
        **_where_said(
            ApprovalTime=row.approved_at,
            RejectionTime=row.rejected_at,
            RequesterFeedback=row.feedback,
        ),
    }


def bonus(row: Bonus) -> dict[str, Any]:
    return {
        "WorkerId": row.worker.worker_id,
        "BonusAmount": amount(row.amount),
        "AssignmentId": row.assignment.assignment_id,
        "Reason": row.reason,
        "GrantTime": row.granted_at,
    }


def qualification_type(row: QualificationType) -> dict[str, Any]:
    return {
        "QualificationTypeId": row.qualification_type_id,
        "CreationTime": row.created_at,
        "Name": row.name,
        "Description": row.description,
        "QualificationTypeStatus": "Active" if row.is_active else "Inactive",
        "IsRequestable": True,
        "AutoGranted": row.auto_granted,
        **_where_said(
            Keywords=row.keywords,
            Test=row.test,
            AnswerKey=row.answer_key,
            TestDurationInSeconds=row.test_seconds,
            RetryDelayInSeconds=row.retry_seconds,
            AutoGrantedValue=row.auto_granted_value if row.auto_granted else None,
        ),
    }


def qualification(row: Qualification) -> dict[str, Any]:
    return {
        "QualificationTypeId": row.kind.qualification_type_id,
        "WorkerId": row.worker.worker_id,
        "GrantTime": row.granted_at,
        "IntegerValue": row.value,
        "Status": "Granted" if row.is_granted else "Revoked",
    }


def qualification_request(row: QualificationRequest) -> dict[str, Any]:
    return {
        "QualificationRequestId": row.request_id,
        "QualificationTypeId": row.kind.qualification_type_id,
        "WorkerId": row.worker.worker_id,
        "SubmitTime": row.submitted_at,
        **_where_said(Test=row.kind.test, Answer=row.answer),
    }


def block(row: Block) -> dict[str, Any]:
    return {"WorkerId": row.worker.worker_id, "Reason": row.reason}


def _where_said(**members: Any) -> dict[str, Any]:
    return {name: value for name, value in members.items() if value not in (None, "")}
