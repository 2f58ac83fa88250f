"""A requester's dealings with workers: blocks and messages."""

from collections.abc import Mapping
from typing import Any

from hits.marketplace.errors import RequestError
from hits.marketplace.models import Assignment, Block, Message, Requester, Worker
from hits.marketplace.operations import finding, limits, rendering
from hits.marketplace.operations.pages import page

Given = Mapping[str, Any]
AT_MOST_WORKERS = 100


def create_worker_block(requester: Requester, given: Given) -> dict[str, Any]:
    reason = limits.text(given, "Reason", at_most=4096, required=True)
    Block.objects.update_or_create(
        requester=requester, worker=finding.worker(given["WorkerId"]), defaults={"reason": reason}
    )
    return {}


def delete_worker_block(requester: Requester, given: Given) -> dict[str, Any]:
    Block.objects.filter(requester=requester, worker=finding.worker(given["WorkerId"])).delete()
    return {}


def list_worker_blocks(requester: Requester, given: Given) -> dict[str, Any]:
    found = Block.objects.filter(requester=requester).select_related("worker")
    return page(given, found, name="WorkerBlocks", render=rendering.block)


def notify_workers(requester: Requester, given: Given) -> dict[str, Any]:
    """Only who has had work approved or rejected by the requester can be written to."""
    subject = limits.text(given, "Subject", at_most=200, required=True)
    text = limits.text(given, "MessageText", at_most=4096, required=True)
    worker_ids = list(dict.fromkeys(given["WorkerIds"]))
    if not 1 <= len(worker_ids) <= AT_MOST_WORKERS:
        raise RequestError(
            "ParameterOutOfRange", f"Between 1 and {AT_MOST_WORKERS} workers can be notified."
        )
    known = {row.worker_id: row for row in Worker.objects.filter(worker_id__in=worker_ids)}
    decided = Assignment.objects.filter(
        hit__requester=requester,
        worker__in=known.values(),
        status__in=[Assignment.Status.APPROVED, Assignment.Status.REJECTED],
    ).values_list("worker__worker_id", flat=True)
    reachable = set(decided)
    Message.objects.bulk_create(
        Message(requester=requester, worker=known[worker_id], subject=subject, text=text)
        for worker_id in worker_ids
        if worker_id in reachable
    )
    return {
        "NotifyWorkersFailureStatuses": [
            _failure(worker_id, is_known=worker_id in known)
            for worker_id in worker_ids
            if worker_id not in reachable
        ]
    }


def _failure(worker_id: str, *, is_known: bool) -> dict[str, str]:
    known = "The worker has not had work approved or rejected by you"
    return {
        "NotifyWorkersFailureCode": "HardFailure",
        "NotifyWorkersFailureMessage": known if is_known else "The WorkerId is not valid",
        "WorkerId": worker_id,
    }


OPERATIONS = {
    "CreateWorkerBlock": create_worker_block,
    "DeleteWorkerBlock": delete_worker_block,
    "ListWorkerBlocks": list_worker_blocks,
    "NotifyWorkers": notify_workers,
}
