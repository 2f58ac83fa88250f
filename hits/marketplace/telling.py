"""Notifications on their way: events of one destination go out together, at least once. What could
not be told stays, and is tried again when somebody next looks, less and less often."""

import json
from datetime import timedelta
from itertools import groupby

import boto3
import structlog
from botocore.awsrequest import AWSRequest
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError, HTTPClientError
from botocore.httpsession import URLLib3Session
from django.db import transaction
from django.utils import timezone

from hits.marketplace import destinations, faults, signing
from hits.marketplace.ids import thing_id
from hits.marketplace.models import Event, NotificationSetting

SECONDS = 2
A_MESSAGE = 50
AT_ONCE = 5
LONGEST_WAIT = timedelta(hours=1)

log = structlog.get_logger("marketplace")


class NotTold(Exception):
    pass


def tell_due() -> None:
    waiting = Event.objects.filter(told_at__isnull=True, try_at__lte=timezone.now())
    if not waiting.exists():
        return
    _bundle()
    due = waiting.exclude(document_id="").order_by("try_at").values_list("document_id", flat=True)
    for document_id in list(dict.fromkeys(due[: AT_ONCE * A_MESSAGE]))[:AT_ONCE]:
        if told := _claimed(document_id):
            _tell(told)


@transaction.atomic
def _bundle() -> None:
    """Events that are not in a message yet, by where they go."""
    new = list(
        Event.objects.filter(document_id="", told_at__isnull=True)
        .select_for_update(skip_locked=True)
        .order_by("requester_id", "transport", "destination", "version", "id")[:1000]
    )
    for _, group in groupby(
        new, key=lambda row: (row.requester_id, row.transport, row.destination, row.version)
    ):
        rows = list(group)
        for start in range(0, len(rows), A_MESSAGE):
            message = rows[start : start + A_MESSAGE]
            Event.objects.filter(pk__in=[row.pk for row in message]).update(document_id=thing_id())


@transaction.atomic
def _claimed(document_id: str) -> list[Event]:
    """The message's events, unless somebody else is telling them; the next try is put off."""
    now = timezone.now()
    rows = list(
        Event.objects.filter(document_id=document_id, told_at__isnull=True)
        .select_for_update(skip_locked=True, of=("self",))
        .select_related("requester")
        .order_by("id")
    )
    if not rows or rows[0].try_at > now:
        return []
    wait = min(timedelta(seconds=5 * 2 ** min(rows[0].attempts, 12)), LONGEST_WAIT)
    for row in rows:
        row.attempts = min(row.attempts + 1, 32_000)
        row.try_at = now + wait
    Event.objects.bulk_update(rows, ["attempts", "try_at"])
    return rows


def _tell(rows: list[Event]) -> None:
    first = rows[0]
    of_message = Event.objects.filter(document_id=first.document_id)
    times = 2 if faults.strikes(faults.Kind.DUPLICATE_NOTIFICATION, first.transport) else 1
    try:
        for _ in range(times):
            _send(first, _message(rows))
    except (NotTold, BotoCoreError, ClientError, HTTPClientError) as problem:
        log.warning("not told", destination=first.destination, problem=str(problem))
        of_message.update(problem=str(problem)[:1000])
    else:
        of_message.update(told_at=timezone.now(), problem="")


def _message(rows: list[Event]) -> str:
    first = rows[0]
    return json.dumps(
        {
            "EventDocVersion": first.version,
            "EventDocId": first.document_id,
            "CustomerId": first.requester.requester_id,
            "Events": [row.body for row in rows],
        }
    )


def _send(event: Event, message: str) -> None:
    if event.transport == NotificationSetting.Transport.SQS:
        _to_queue(event, message)
    else:
        _to_subscriber(event, message)


def _to_queue(event: Event, message: str) -> None:
    """Signed with the requester's own key, at the endpoint that the queue's address names."""
    if not destinations.is_queue(event.destination):
        raise NotTold("The settings do not allow this queue.")
    boto3.client(
        "sqs",
        endpoint_url=event.destination,
        region_name="us-east-1",
        aws_access_key_id=event.requester.access_key,
        aws_secret_access_key=event.requester.secret_key,
        config=Config(
            connect_timeout=SECONDS, read_timeout=SECONDS, retries={"total_max_attempts": 1}
        ),
    ).send_message(QueueUrl=event.destination, MessageBody=message)


def _to_subscriber(event: Event, message: str) -> None:
    address = destinations.subscriber(event.destination)
    if address is None:
        return
    signed = signing.notification(topic=event.destination, message=message)
    request = AWSRequest(
        method="POST",
        url=address,
        data=json.dumps(signed).encode(),
        headers={
            "Content-Type": "text/plain; charset=UTF-8",
            "x-amz-sns-message-type": signed["Type"],
            "x-amz-sns-message-id": signed["MessageId"],
            "x-amz-sns-topic-arn": signed["TopicArn"],
        },
    )
    response = URLLib3Session(timeout=SECONDS).send(request.prepare())
    if not 200 <= response.status_code < 300:
        raise NotTold(f"The subscriber answered {response.status_code}.")
