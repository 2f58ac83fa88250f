import base64
import json
import urllib.request
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError
from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from django.conf import LazySettings
from django.db.models import F
from moto.server import ThreadedMotoServer

from hits.marketplace.models import Event, Fault
from tests.marketplace.asking import QUESTION, TYPE, Client, done, refused

TOPIC = "arn:aws:sns:us-east-1:123456789012:hits"


class Subscriber(ThreadingHTTPServer):
    """Takes what is posted, or refuses it with the status it was told to."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Taking)
        self.taken: list[tuple[Any, dict[str, Any]]] = []
        self.status = 200

    @property
    def events(self) -> list[str]:
        messages = [json.loads(body["Message"]) for _, body in self.taken]
        return [event["EventType"] for message in messages for event in message["Events"]]


class Taking(BaseHTTPRequestHandler):
    server: Subscriber

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.server.status == 200:
            self.server.taken.append((self.headers, body))
        self.send_response(self.server.status)
        self.send_header("Location", f"http://127.0.0.1:{self.server.server_port}/elsewhere")
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def subscriber(settings: LazySettings) -> Iterator[Subscriber]:
    server = Subscriber()
    settings.MARKETPLACE_SUBSCRIBERS = {TOPIC: f"http://127.0.0.1:{server.server_port}/told"}
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def notified(client: Client, *event_types: str, **to: str) -> str:
    """A HIT type whose events are told."""
    hit_type_id = client.create_hit_type(**TYPE)["HITTypeId"]
    client.update_notification_settings(
        HITTypeId=hit_type_id,
        Notification={
            "Destination": TOPIC,
            "Transport": "SNS",
            "Version": "2014-08-15",
            "EventTypes": list(event_types),
            **to,
        },
        Active=True,
    )
    return str(hit_type_id)


def hit_of(client: Client, hit_type_id: str) -> str:
    made = client.create_hit_with_hit_type(
        HITTypeId=hit_type_id, LifetimeInSeconds=3600, Question=QUESTION
    )
    return str(made["HIT"]["HITId"])


def assert_signed(message: dict[str, Any]) -> None:
    with urllib.request.urlopen(message["SigningCertURL"]) as answer:
        key = x509.load_pem_x509_certificate(answer.read()).public_key()
    assert isinstance(key, rsa.RSAPublicKey)
    names = ["Message", "MessageId", "Timestamp", "TopicArn", "Type"]
    text = "".join(f"{name}\n{message[name]}\n" for name in names)
    signature = base64.b64decode(message["Signature"])
    key.verify(signature, text.encode(), padding.PKCS1v15(), hashes.SHA256())
    with pytest.raises(InvalidSignature):
        key.verify(signature, b"else", padding.PKCS1v15(), hashes.SHA256())


def test_a_subscriber_is_told_what_happened_in_signed_messages(
    client: Client, subscriber: Subscriber
) -> None:
    hit_type_id = notified(client, "HITCreated", "AssignmentSubmitted", "HITReviewable")
    hit_id = hit_of(client, hit_type_id)
    assignment_id, _ = done(hit_id)
    (headers, first), (_, second) = subscriber.taken
    assert headers["x-amz-sns-topic-arn"] == TOPIC
    assert first["SignatureVersion"] == "2"
    assert_signed(first)
    [created] = json.loads(first["Message"])["Events"]
    assert created["HITId"] == hit_id
    assert created["HITTypeId"] == hit_type_id
    told = json.loads(second["Message"])
    assert told["EventDocVersion"] == "2014-08-15"
    assert [event["EventType"] for event in told["Events"]] == [
        "HITReviewable",
        "AssignmentSubmitted",
    ]
    assert told["Events"][1]["AssignmentId"] == assignment_id


def test_what_was_not_asked_for_is_not_told(client: Client, subscriber: Subscriber) -> None:
    hit_type_id = notified(client, "HITReviewable")
    hit_of(client, hit_type_id)
    client.update_notification_settings(HITTypeId=hit_type_id, Active=False)
    done(hit_of(client, hit_type_id))
    assert subscriber.taken == []


def test_what_could_not_be_told_is_told_later_in_the_same_document(
    client: Client, subscriber: Subscriber
) -> None:
    subscriber.status = 503
    hit_of(client, notified(client, "HITCreated"))
    waiting = Event.objects.get()
    assert waiting.told_at is None
    assert "503" in waiting.problem
    subscriber.status = 200
    client.get_account_balance()
    assert subscriber.taken == []
    Event.objects.update(try_at=F("created_at"))
    client.get_account_balance()
    assert subscriber.events == ["HITCreated"]
    [(_, body)] = subscriber.taken
    assert json.loads(body["Message"])["EventDocId"] == waiting.document_id
    client.get_account_balance()
    assert len(subscriber.taken) == 1


def test_a_redirect_is_not_followed(client: Client, subscriber: Subscriber) -> None:
    subscriber.status = 302
    hit_of(client, notified(client, "HITCreated"))
    assert "302" in Event.objects.get().problem


def test_a_message_can_come_twice(
    client: Client, subscriber: Subscriber, settings: LazySettings
) -> None:
    settings.MARKETPLACE_FAULTS = True
    Fault.objects.create(kind=Fault.Kind.DUPLICATE_NOTIFICATION, remaining=1)
    hit_of(client, notified(client, "HITCreated"))
    documents = [json.loads(body["Message"])["EventDocId"] for _, body in subscriber.taken]
    assert len(documents) == 2
    assert len(set(documents)) == 1


def test_a_test_notification_is_sent(client: Client, subscriber: Subscriber) -> None:
    client.send_test_event_notification(
        Notification={
            "Destination": TOPIC,
            "Transport": "SNS",
            "Version": "2014-08-15",
            "EventTypes": ["Ping"],
        },
        TestEventType="Ping",
    )
    assert subscriber.events == ["Ping"]


def test_a_queue_is_told(client: Client, settings: LazySettings) -> None:
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    _, port = server.get_host_and_port()
    settings.MARKETPLACE_QUEUE_HOSTS = [f"127.0.0.1:{port}"]
    queues = boto3.client(
        "sqs",
        endpoint_url=f"http://127.0.0.1:{port}",
        region_name="us-east-1",
        aws_access_key_id="any",
        aws_secret_access_key="any",
    )
    try:
        queue = queues.create_queue(QueueName="hits")["QueueUrl"]
        hit_id = hit_of(client, notified(client, "HITCreated", Transport="SQS", Destination=queue))
        [message] = queues.receive_message(QueueUrl=queue)["Messages"]
        [event] = json.loads(message["Body"])["Events"]
        assert (event["EventType"], event["HITId"]) == ("HITCreated", hit_id)
    finally:
        server.stop()


@pytest.mark.parametrize(
    ("transport", "destination"),
    [
        ("SQS", "http://169.254.169.254/latest/meta-data"),
        ("SQS", "http://127.0.0.1:6379/queue"),
        ("SQS", "http://queue.example@127.0.0.1:9999/queue"),
        ("SQS", "http://queue.example:80/queue?x=1"),
        ("SQS", "file:///etc/passwd"),
        ("SQS", "http://[::1"),
        ("SQS", "not an address"),
        ("SNS", "http://127.0.0.1/told"),
        ("Email", "someone@example.org"),
    ],
)
def test_only_hosts_that_the_settings_name_are_called(
    client: Client, settings: LazySettings, transport: str, destination: str
) -> None:
    settings.MARKETPLACE_QUEUE_HOSTS = ["queue.example", "queue.example:80"]
    with pytest.raises(ClientError) as caught:
        notified(client, "HITCreated", Transport=transport, Destination=destination)
    assert refused(caught) == "InvalidTransportEndpoint"


def test_a_queue_that_is_no_longer_allowed_is_not_called(
    client: Client, settings: LazySettings, subscriber: Subscriber
) -> None:
    queue = f"http://127.0.0.1:{subscriber.server_port}/queue"
    settings.MARKETPLACE_QUEUE_HOSTS = [f"127.0.0.1:{subscriber.server_port}"]
    hit_type_id = notified(client, "HITCreated", Transport="SQS", Destination=queue)
    settings.MARKETPLACE_QUEUE_HOSTS = []
    hit_of(client, hit_type_id)
    assert "do not allow" in Event.objects.get().problem
    assert subscriber.taken == []
