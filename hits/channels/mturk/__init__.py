"""Mechanical Turk's requester API, at Amazon or wherever else it is spoken."""

import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any
from urllib.parse import urljoin
from xml.etree import ElementTree

from boto3.session import Session
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from hits.channels import costs, sns
from hits.channels.contract import (
    Call,
    Capabilities,
    Cost,
    Entry,
    FormToPost,
    NoAnswer,
    Order,
    Outcome,
    Refusal,
    Requirement,
    Result,
    Submitted,
)
from hits.channels.mturk.orders import MOST_NOTIFIED, MOST_REQUIREMENTS, Place, request_of
from hits.channels.mturk.outcomes import AlreadyThere, Denied, ending_of
from hits.records import Json

PREVIEW = "ASSIGNMENT_ID_NOT_AVAILABLE"
RECEIPT = "receipt"
# So many tickets are asked about one by one before the list of all is worth a look.
FEW_TICKETS = 20
# Repeating is the ledger's work: a client that repeats by itself hides what happened.
# A call that makes or pays something is repeated by the ledger alone, which writes it down first.
CONFIG = Config(connect_timeout=5, read_timeout=20, retries={"total_max_attempts": 1})
# To read again is harmless: throttled or failed, botocore tries anew after a growing, random while.
READING = Config(
    connect_timeout=5, read_timeout=20, retries={"mode": "standard", "total_max_attempts": 6}
)
# Somebody waits for the page that shows the balance.
QUICK = Config(
    connect_timeout=2, read_timeout=3, retries={"mode": "standard", "total_max_attempts": 3}
)
_ID = re.compile(r"[A-Za-z0-9]{1,64}")

OPERATIONS: Mapping[str, str] = {
    "publication": "create_hit_type",
    "ticket": "create_hit_with_hit_type",
    "end": "update_expiration_for_hit",
    "delete": "delete_hit",
    "approve": "approve_assignment",
    "reject": "reject_assignment",
    "bonus": "send_bonus",
    "qualification": "create_qualification_type",
    "qualify": "associate_qualification_with_worker",
    "block": "create_worker_block",
    "unblock": "delete_worker_block",
    "notify": "notify_workers",
    "subscribe": "update_notification_settings",
}
WITH_TOKEN = frozenset({"ticket", "bonus"})


def open_channel(name: str, values: Mapping[str, str]) -> "MTurk":
    return MTurk(name, values)


class MTurk:
    capabilities = Capabilities(
        tickets=True,
        bonus=True,
        unreject=timedelta(days=30),
        most_requirements=MOST_REQUIREMENTS,
        most_notified=MOST_NOTIFIED,
        remembers_tokens=timedelta(hours=24),
    )

    def __init__(self, name: str, values: Mapping[str, str]) -> None:
        self.name = name
        self.submit_origin = values["submit"].rstrip("/")
        frames = values.get("frames") or self.submit_origin
        self.frame_ancestors: Sequence[str] = [each.strip() for each in frames.split(",")]
        self.place = Place(
            masters=values.get("masters", ""),
            topic=values.get("topic", ""),
            queue=values.get("queue", ""),
        )
        self.sends_events = bool(self.place.topic or self.place.queue)
        self.event_hosts = tuple(filter(None, values.get("events", "").split(",")))
        session = Session(
            aws_access_key_id=values["access_key"],
            aws_secret_access_key=values["secret_key"],
            region_name=values["region"],
        )
        self.client: Any = session.client("mturk", endpoint_url=values["url"], config=CONFIG)
        self.reading: Any = session.client("mturk", endpoint_url=values["url"], config=READING)
        self.quick: Any = session.client("mturk", endpoint_url=values["url"], config=QUICK)
        self.queue: Any = None
        if self.place.queue:
            origin = urljoin(self.place.queue, "/")
            self.queue = session.client("sqs", endpoint_url=origin, config=CONFIG)

    def write(self, order: Order) -> Json:
        return request_of(order, self.place)

    def has_token(self, action: str) -> bool:
        return action in WITH_TOKEN

    def make(self, call: Call) -> Outcome:
        token = {"UniqueRequestToken": call.token} if call.action in WITH_TOKEN else {}
        operation = getattr(self.client, OPERATIONS[call.action])
        try:
            return ending_of(lambda: _made(call.action, operation(**call.request, **token)))
        except AlreadyThere as there:
            if there.made:
                return Outcome(Result.ALREADY_DONE, answer={"id": there.made})
            return self._found_or(call, Outcome(Result.UNKNOWN, message="made, but not named"))
        except Denied as denied:
            # It says no also to what it has done before; its own records tell.
            return self._found_or(call, Outcome(Result.REFUSED, message=str(denied)))

    def _found_or(self, call: Call, otherwise: Outcome) -> Outcome:
        if call.action == "ticket" and otherwise.result is Result.REFUSED:
            return otherwise
        found = self.look_up(call)
        if found.succeeded:
            return Outcome(Result.ALREADY_DONE, answer=found.answer)
        return otherwise if found.result is Result.RETRY else found

    def look_up(self, call: Call) -> Outcome:
        found: dict[str, Callable[[Json], Json | None]] = {
            "ticket": self._ticket_made,
            "end": self._ended,
            "delete": self._deleted,
            "approve": lambda request: self._decided(request, "Approved"),
            "reject": lambda request: self._decided(request, "Rejected"),
            "bonus": lambda request: self._bonus_paid(request, call.done_before),
            "qualification": self._qualification_made,
            "qualify": self._qualified,
        }
        # Whatever else there is does nothing when it is done again.
        if call.action not in found:
            return Outcome(Result.RETRY)
        answer: list[Json | None] = []

        def look() -> Json:
            answer.append(found[call.action](call.request))
            return answer[0] or {}

        try:
            outcome = ending_of(look)
        except (Denied, AlreadyThere) as denied:
            return Outcome(Result.RETRY, message=str(denied))
        if outcome.result is not Result.DONE:
            return Outcome(Result.UNKNOWN, message=outcome.message)
        return Outcome(Result.RETRY) if answer[0] is None else outcome

    def _ticket_made(self, request: Json) -> Json | None:
        for hit in self._pages("list_hits", "HITs"):
            if hit.get("RequesterAnnotation") == request["RequesterAnnotation"]:
                return _hit(hit)
        return None

    def _ended(self, request: Json) -> Json | None:
        hit = self.reading.get_hit(HITId=request["HITId"])["HIT"]
        is_over = hit["HITStatus"] == "Disposed" or hit["Expiration"] <= datetime.now(UTC)
        return {} if is_over else None

    def _deleted(self, request: Json) -> Json | None:
        hit = self.reading.get_hit(HITId=request["HITId"])["HIT"]
        return {} if hit["HITStatus"] == "Disposed" else None

    def _decided(self, request: Json, status: str) -> Json | None:
        found = self.reading.get_assignment(AssignmentId=request["AssignmentId"])["Assignment"]
        return {} if found["AssignmentStatus"] == status else None

    def _bonus_paid(self, request: Json, others: int) -> Json | None:
        """Its list has no tokens: one more like it than are known is this one."""
        paid = self._pages(
            "list_bonus_payments", "BonusPayments", AssignmentId=request["AssignmentId"]
        )
        alike = [
            bonus
            for bonus in paid
            if Decimal(bonus["BonusAmount"]) == Decimal(request["BonusAmount"])
            and bonus["WorkerId"] == request["WorkerId"]
            and bonus.get("Reason") == request["Reason"]
        ]
        return {} if len(alike) > others else None

    def _qualification_made(self, request: Json) -> Json | None:
        found = self._pages(
            "list_qualification_types",
            "QualificationTypes",
            Query=request["Name"],
            MustBeRequestable=False,
            MustBeOwnedByCaller=True,
        )
        for kind in found:
            if kind["Name"] == request["Name"]:
                return {"id": kind["QualificationTypeId"]}
        return None

    def _qualified(self, request: Json) -> Json | None:
        asked = {name: request[name] for name in ("QualificationTypeId", "WorkerId")}
        found = self.reading.get_qualification_score(**asked)["Qualification"]
        return {} if found["Status"] == "Granted" else None

    def _pages(self, operation: str, key: str, **request: Any) -> Iterator[Json]:
        paginator = self.reading.get_paginator(operation)
        for page in paginator.paginate(**request, PaginationConfig={"PageSize": 100}):
            yield from page[key]

    def admit(self, query: Mapping[str, str]) -> Entry:
        ref, hit_id = query.get("assignmentId", ""), query.get("hitId", "")
        worker = query.get("workerId", "")
        if ref in {"", PREVIEW}:
            return Entry(worker="", ref="", hit_id=hit_id, is_preview=True, is_verified=False)
        if not all(_ID.fullmatch(part) for part in (ref, hit_id, worker)):
            raise Refusal("This address lacks what the marketplace adds to it.")
        return Entry(worker=worker, ref=ref, hit_id=hit_id, is_preview=False, is_verified=False)

    def finish(self, *, ref: str, worker: str, receipt: str) -> FormToPost:
        """With the worker: an id of an assignment may have passed to somebody else meanwhile."""
        return FormToPost(
            action=f"{self.submit_origin}/mturk/externalSubmit",
            fields={"assignmentId": ref, "workerId": worker, RECEIPT: receipt},
        )

    def list_submissions(
        self, publication_ref: str, hit_ids: Collection[str]
    ) -> Iterator[Submitted]:
        try:
            wanted = self._reviewable(publication_ref, hit_ids)
            for hit_id in wanted:
                for found in self._pages("list_assignments_for_hit", "Assignments", HITId=hit_id):
                    yield _submitted(found)
        except (ClientError, BotoCoreError) as failure:
            raise NoAnswer(str(failure)) from failure

    def _reviewable(self, publication_ref: str, hit_ids: Collection[str]) -> Collection[str]:
        if len(hit_ids) <= FEW_TICKETS:
            return hit_ids
        wanted = set(hit_ids)
        listed = self._pages("list_reviewable_hits", "HITs", HITTypeId=publication_ref)
        return [hit["HITId"] for hit in listed if hit["HITId"] in wanted]

    def balance(self) -> Decimal | None:
        try:
            return Decimal(self.quick.get_account_balance()["AvailableBalance"])
        except (ClientError, BotoCoreError) as failure:
            raise NoAnswer(str(failure)) from failure

    def cost(
        self, *, pages: int, reward: Decimal, requirements: Sequence[Requirement] = ()
    ) -> Cost:
        masters = any(each.qualification == Requirement.MASTERS for each in requirements)
        return Cost(pages=pages, reward=reward, fee=costs.fee(reward, masters=masters))

    def bonus_cost(self, amount: Decimal) -> Decimal:
        return amount + costs.bonus_fee(amount)

    def parse_event(self, headers: Mapping[str, str], body: bytes) -> list[str]:
        if not self.place.topic:
            raise Refusal("No topic is configured for this channel.")
        text = sns.authentic(body, topic=self.place.topic, hosts=self.event_hosts)
        return [] if text is None else _hinted(text)

    def poll_events(self) -> list[str]:
        if self.queue is None:
            return []
        found: list[str] = []
        try:
            answer = self.queue.receive_message(
                QueueUrl=self.place.queue, MaxNumberOfMessages=10, WaitTimeSeconds=0
            )
            for message in answer.get("Messages", []):
                found += _hinted(message["Body"])
                self.queue.delete_message(
                    QueueUrl=self.place.queue, ReceiptHandle=message["ReceiptHandle"]
                )
        except (ClientError, BotoCoreError) as failure:
            raise NoAnswer(str(failure)) from failure
        return found


def _made(action: str, answer: Json) -> Json:
    match action:
        case "publication":
            return {"id": answer["HITTypeId"]}
        case "ticket":
            return _hit(answer["HIT"])
        case "qualification":
            return {"id": answer["QualificationType"]["QualificationTypeId"]}
        case "notify":
            failures = answer.get("NotifyWorkersFailureStatuses", [])
            return {
                "failures": {
                    each["WorkerId"]: each.get("NotifyWorkersFailureMessage", "")
                    for each in failures
                }
            }
    return {}


def _hit(hit: Json) -> Json:
    expiration = hit.get("Expiration")
    return {"id": hit["HITId"]} | (
        {"expires_at": expiration.isoformat()} if isinstance(expiration, datetime) else {}
    )


def _submitted(found: Json) -> Submitted:
    return Submitted(
        ref=found["AssignmentId"],
        hit_id=found["HITId"],
        worker=found["WorkerId"],
        state=found["AssignmentStatus"].lower(),
        submitted_at=found["SubmitTime"],
        auto_approval_at=found.get("AutoApprovalTime"),
        receipt=receipt_in(found.get("Answer", "")),
    )


def receipt_in(answer: str) -> str:
    """Our receipt among a worker's answers; empty where there is none."""
    if "<!DOCTYPE" in answer or "<!ENTITY" in answer:
        return ""
    try:
        root = ElementTree.fromstring(answer)  # noqa: S314 - without a DTD nothing expands
    except ElementTree.ParseError:
        return ""
    for each in root.iterfind("{*}Answer"):
        if each.findtext("{*}QuestionIdentifier") == RECEIPT:
            return (each.findtext("{*}FreeText") or "").strip()
    return ""


def _hinted(text: str) -> list[str]:
    """The HITs that a batch of events speaks of."""
    try:
        events = json.loads(text)["Events"]
        return sorted({event["HITId"] for event in events if "HITId" in event})
    except (ValueError, KeyError, TypeError):
        return []
