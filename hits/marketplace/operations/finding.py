"""A requester's own things by their ids; what belongs to others does not exist."""

from hits.marketplace import states
from hits.marketplace.errors import RequestError
from hits.marketplace.models import HIT, Assignment, HITType, QualificationType, Requester, Worker


def own_hit(requester: Requester, hit_id: str) -> HIT:
    found = HIT.objects.select_related("hit_type").filter(requester=requester, hit_id=hit_id)
    hit = found.first()
    if hit is None:
        raise RequestError("HITDoesNotExist", f"Hit {hit_id} does not exist.")
    return hit


def own_hit_locked(requester: Requester, hit_id: str) -> HIT:
    return states.locked(own_hit(requester, hit_id).pk)


def own_hit_type(requester: Requester, hit_type_id: str) -> HITType:
    found = HITType.objects.filter(requester=requester, hit_type_id=hit_type_id).first()
    if found is None:
        raise RequestError("HITTypeDoesNotExist", f"HITType {hit_type_id} does not exist.")
    return found


def own_assignment(requester: Requester, assignment_id: str) -> Assignment:
    found = (
        Assignment.objects.filter(
            hit__requester=requester,
            assignment_id=assignment_id,
            status__in=Assignment.LIVE,
        )
        .select_related("hit__hit_type", "worker")
        .first()
    )
    if found is None:
        raise RequestError("AssignmentDoesNotExist", f"Assignment {assignment_id} does not exist.")
    return found


def own_assignment_locked(requester: Requester, assignment_id: str) -> Assignment:
    """With its HIT's row locked, and as it is since then."""
    found = own_assignment(requester, assignment_id)
    hit = states.locked(found.hit_id)
    assignment = Assignment.objects.select_related("worker").get(pk=found.pk)
    assignment.hit = hit
    return assignment


def qualification_type(type_id: str) -> QualificationType:
    found = QualificationType.objects.filter(
        qualification_type_id=type_id, deleted_at__isnull=True
    ).first()
    if found is None:
        raise RequestError(
            "QualificationTypeDoesNotExist", f"QualificationType {type_id} does not exist."
        )
    return found


def own_qualification_type(requester: Requester, type_id: str) -> QualificationType:
    found = qualification_type(type_id)
    if found.requester_id != requester.pk:
        raise RequestError(
            "PermissionDeniedException",
            f"You do not own the QualificationType {type_id}.",
        )
    return found


def worker(worker_id: str) -> Worker:
    found = Worker.objects.filter(worker_id=worker_id).first()
    if found is None:
        raise RequestError("InvalidWorkerId", f"WorkerId is invalid: {worker_id}")
    return found
