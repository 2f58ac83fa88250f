"""HITs: made, looked at, extended, expired, deleted."""

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any

from django.db.models import QuerySet
from django.utils import timezone

from hits.marketplace import events, money, states
from hits.marketplace.errors import RequestError, already_processed, wrong_state
from hits.marketplace.models import HIT, HITType, Requester
from hits.marketplace.operations import finding, limits, once, rendering
from hits.marketplace.operations.hit_types import hit_type
from hits.marketplace.operations.pages import page
from hits.marketplace.questions import external_question

Given = Mapping[str, Any]
Status = HIT.Status
BILLION = 1_000_000_000
UNSUPPORTED = ("AssignmentReviewPolicy", "HITReviewPolicy", "HITLayoutId", "HITLayoutParameters")


def create_hit(requester: Requester, given: Given) -> dict[str, Any]:
    return _create(requester, given, hit_type)


def create_hit_with_hit_type(requester: Requester, given: Given) -> dict[str, Any]:
    return _create(requester, given, _named_hit_type)


def _named_hit_type(requester: Requester, given: Given) -> HITType:
    return finding.own_hit_type(requester, given["HITTypeId"])


def _create(
    requester: Requester, given: Given, kind_of: Callable[[Requester, Given], HITType]
) -> dict[str, Any]:
    for name in UNSUPPORTED:
        if name in given:
            raise RequestError("NotSupported", f"{name} is not supported.")
    token, is_new = once.claim(requester, "CreateHIT", given.get("UniqueRequestToken"))
    if token is not None and not is_new:
        raise RequestError("HitAlreadyExists", f"Hit {token.made} already exists.")
    hit = _new_hit(requester, given, kind_of(requester, given))
    once.remember(token, hit.hit_id)
    events.note("HITCreated", hit)
    return {"HIT": rendering.hit(hit)}


def _new_hit(requester: Requester, given: Given, kind: HITType) -> HIT:
    if "Question" not in given:
        raise RequestError(
            "MissingParameter", "Either a Question or a HITLayoutId must be provided."
        )
    question = external_question(given["Question"])
    assignments = limits.number(given, "MaxAssignments", 1, BILLION, default=1)
    lifetime = limits.number(given, "LifetimeInSeconds", 30, limits.YEAR)
    expires_at = timezone.now() + timedelta(seconds=lifetime)
    hit = HIT.objects.create(
        requester=requester,
        hit_type=kind,
        question=given["Question"],
        external_url=question.url,
        frame_height=question.frame_height,
        annotation=limits.text(given, "RequesterAnnotation", at_most=255),
        max_assignments=assignments,
        expires_at=expires_at,
        dispose_at=expires_at + states.AFTERLIFE,
    )
    money.reserve(hit, assignments)
    hit.refresh_from_db(fields=["created_at"])
    return hit


def get_hit(requester: Requester, given: Given) -> dict[str, Any]:
    return {"HIT": rendering.hit(finding.own_hit(requester, given["HITId"]))}


def list_hits(requester: Requester, given: Given) -> dict[str, Any]:
    return _hits(given, _kept(requester))


def list_reviewable_hits(requester: Requester, given: Given) -> dict[str, Any]:
    found = _kept(requester).filter(status=given.get("Status", Status.REVIEWABLE))
    if "HITTypeId" in given:
        found = found.filter(hit_type=finding.own_hit_type(requester, given["HITTypeId"]))
    return _hits(given, found)


def list_hits_for_qualification_type(requester: Requester, given: Given) -> dict[str, Any]:
    uses = [{"QualificationTypeId": given["QualificationTypeId"]}]
    return _hits(given, _kept(requester).filter(hit_type__requirements__contains=uses))


def _kept(requester: Requester) -> QuerySet[HIT]:
    found = HIT.objects.filter(requester=requester).exclude(status=Status.DISPOSED)
    return found.select_related("hit_type")


def _hits(given: Given, found: QuerySet[HIT]) -> dict[str, Any]:
    return page(given, found, name="HITs", render=rendering.hit, newest_first=True)


def create_additional_assignments_for_hit(requester: Requester, given: Given) -> dict[str, Any]:
    token, is_new = once.claim(
        requester, "CreateAdditionalAssignmentsForHIT", given.get("UniqueRequestToken")
    )
    if token is not None and not is_new:
        raise already_processed(token.token)
    hit = finding.own_hit_locked(requester, given["HITId"])
    more = limits.number(given, "NumberOfAdditionalAssignments", 1, BILLION)
    _refuse_disposed(hit)
    if hit.max_assignments < money.MANY <= hit.max_assignments + more:
        raise RequestError(
            "InvalidMaximumAssignmentsIncrease",
            "HITs created with fewer than 10 assignments cannot be extended to have 10 or more "
            "assignments.",
        )
    if hit.max_assignments + more > BILLION:
        raise RequestError("ParameterOutOfRange", f"A HIT has at most {BILLION} assignments.")
    hit.max_assignments += more
    hit.save(update_fields=["max_assignments"])
    if not states.is_over(hit):
        money.reserve(hit, more)
    states.refresh(hit)
    events.note("HITExtended", hit)
    return {}


def update_expiration_for_hit(requester: Requester, given: Given) -> dict[str, Any]:
    hit = finding.own_hit_locked(requester, given["HITId"])
    _refuse_disposed(hit)
    now, expires_at = timezone.now(), given["ExpireAt"]
    if expires_at > now + timedelta(seconds=limits.YEAR):
        raise RequestError("ParameterOutOfRange", "A HIT can live for at most 365 days.")
    was_over = states.is_over(hit)
    hit.expires_at = expires_at
    hit.dispose_at = max(expires_at, now) + states.AFTERLIFE
    hit.has_expired = False
    hit.save(update_fields=["expires_at", "dispose_at", "has_expired"])
    if expires_at <= now:
        states.expire(hit, is_news=not was_over)
        return {}
    if was_over:
        money.reserve(hit, hit.free)
    states.refresh(hit)
    events.note("HITExtended", hit)
    return {}


def delete_hit(requester: Requester, given: Given) -> dict[str, Any]:
    hit = finding.own_hit_locked(requester, given["HITId"])
    if hit.status not in {Status.REVIEWABLE, Status.REVIEWING}:
        raise wrong_state("HIT", hit.status, "Reviewing", "Reviewable")
    if hit.submitted:
        raise RequestError(
            "InvalidHITState",
            f"Hit {hit.hit_id} has submitted assignments that are neither approved nor rejected.",
        )
    states.dispose(hit)
    return {}


def update_hit_review_status(requester: Requester, given: Given) -> dict[str, Any]:
    hit = finding.own_hit_locked(requester, given["HITId"])
    before, after = Status.REVIEWABLE, Status.REVIEWING
    if given.get("Revert", False):
        before, after = after, before
    if hit.status != before:
        raise wrong_state("HIT", hit.status, before)
    hit.status = after
    hit.save(update_fields=["status"])
    return {}


def update_hit_type_of_hit(requester: Requester, given: Given) -> dict[str, Any]:
    kind = finding.own_hit_type(requester, given["HITTypeId"])
    hit = finding.own_hit_locked(requester, given["HITId"])
    _refuse_disposed(hit)
    held = hit.reserved
    money.release(hit, held)
    hit.hit_type = kind
    hit.save(update_fields=["hit_type"])
    money.reserve(hit, held)
    return {}


def _refuse_disposed(hit: HIT) -> None:
    if hit.status == Status.DISPOSED:
        raise wrong_state(
            "HIT", hit.status, "Assignable", "Unassignable", "Reviewable", "Reviewing"
        )


OPERATIONS = {
    "CreateHIT": create_hit,
    "CreateHITWithHITType": create_hit_with_hit_type,
    "GetHIT": get_hit,
    "ListHITs": list_hits,
    "ListReviewableHITs": list_reviewable_hits,
    "ListHITsForQualificationType": list_hits_for_qualification_type,
    "CreateAdditionalAssignmentsForHIT": create_additional_assignments_for_hit,
    "UpdateExpirationForHIT": update_expiration_for_hit,
    "DeleteHIT": delete_hit,
    "UpdateHITReviewStatus": update_hit_review_status,
    "UpdateHITTypeOfHIT": update_hit_type_of_hit,
}
