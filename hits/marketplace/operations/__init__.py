"""One function an operation of the API: a requester and checked parameters in, an answer out."""

from collections.abc import Callable, Mapping
from typing import Any

from hits.marketplace.models import Requester
from hits.marketplace.operations import (
    account,
    assignments,
    hit_types,
    hits,
    qualifications,
    workers,
)

Operation = Callable[[Requester, dict[str, Any]], Mapping[str, Any]]

OPERATIONS: dict[str, Operation] = {
    **account.OPERATIONS,
    **assignments.OPERATIONS,
    **hit_types.OPERATIONS,
    **hits.OPERATIONS,
    **qualifications.OPERATIONS,
    **workers.OPERATIONS,
}

LEFT_OUT = {
    "GetFileUploadURL": "no question of this marketplace takes file uploads.",
    "ListReviewPolicyResultsForHIT": "HITs of this marketplace have no review policies.",
}
