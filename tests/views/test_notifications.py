"""Hints from the marketplace, signed by it and sent to us over HTTP."""

import json
from collections.abc import Iterator

import boto3
import pytest
from django.conf import LazySettings
from django.test import Client
from moto.server import ThreadedMotoServer

from hits.channels.configured import channel as channel_named
from hits.channels.mturk import MTurk
from hits.marketplace import signing
from hits.marketplace.models import Event, Fault, NotificationSetting, Requester
from hits.models import Claim, Job, Publication
from tests import selling
from workers.tasks import listen

TOPIC = "arn:aws:sns:us-east-1:123456789012:hits"


@pytest.fixture
def publication(market: str, requester: Requester, settings: LazySettings) -> Iterator[Publication]:
    """Sold at a marketplace that tells us what happens."""
    settings.CHANNELS = {"local": selling.channel_values(market, requester, topic=TOPIC)}
    here = market.replace("127.0.0.1", "localhost")
    settings.MARKETPLACE_SUBSCRIBERS = {TOPIC: f"{here}/notifications/local/"}
    opened = channel_named("local")
    yield selling.sell(selling.study(), pages=2)
    assert isinstance(opened, MTurk)
    opened.client.close()


def signed(text: str, topic: str = TOPIC) -> dict[str, str]:
    return signing.notification(topic=topic, message=text)


def events(*hit_ids: str) -> str:
    return json.dumps({"Events": [{"EventType": "HITExpired", "HITId": each} for each in hit_ids]})


def send(message: dict[str, str], channel: str = "local") -> int:
    body = json.dumps(message)
    path = f"/notifications/{channel}/"
    return Client(enforce_csrf_checks=True).post(path, body, content_type="text/plain").status_code


def asked() -> int:
    return Job.objects.filter(kind="reconcile").count()


def test_a_launch_subscribes_to_hints(publication: Publication) -> None:
    setting = NotificationSetting.objects.get()
    assert (setting.destination, setting.transport) == (TOPIC, "SNS")


def test_a_page_handed_over_there_is_confirmed_by_a_hint(publication: Publication) -> None:
    Fault.objects.create(kind="duplicate_notification", operation="*", share=1.0)
    claim = selling.do_page(selling.live_hit(publication))
    assert Event.objects.filter(told_at__isnull=False).exists()
    assert asked() == 1
    selling.run_jobs()
    assert Claim.objects.get(pk=claim.pk).theirs == "submitted"


def test_a_batch_of_events_and_its_replays_ask_once_a_publication(
    publication: Publication,
) -> None:
    hits = list(publication.hits.values_list("hit_id", flat=True))
    message = signed(events(*hits, "3UNKNOWN"))
    assert [send(message), send(message), send(message)] == [204, 204, 204]
    assert asked() == 1


@pytest.mark.parametrize("text", ["", "no json", "[]", '{"Events": 1}', '{"Events": [{}]}'])
def test_a_message_that_says_nothing_asks_for_nothing(publication: Publication, text: str) -> None:
    assert send(signed(text)) == 204
    assert asked() == 0


def test_what_the_marketplace_did_not_sign_is_refused(publication: Publication) -> None:
    hit_id = selling.live_hit(publication).hit_id
    good = signed(events(hit_id))
    assert send(good | {"Message": events("3OTHER")}) == 403
    assert send(good | {"SigningCertURL": "http://localhost:1/cert.pem"}) == 403
    assert send(signed(events(hit_id), topic="arn:aws:sns:us-east-1:1:other")) == 403
    assert send({"Type": "Notification", "TopicArn": TOPIC, "Message": events(hit_id)}) == 403
    assert asked() == 0


def test_only_configured_channels_are_listened_to(publication: Publication) -> None:
    assert send(signed(events()), channel="production") == 404
    assert Client().get("/notifications/local/").status_code == 405


def test_a_channel_without_a_topic_takes_no_hints(
    publication: Publication, settings: LazySettings
) -> None:
    values = {**settings.CHANNELS["local"]}
    del values["topic"]
    settings.CHANNELS = {"local": values}
    assert send(signed(events())) == 403


def test_hints_are_taken_from_a_queue_once(
    market: str, requester: Requester, settings: LazySettings
) -> None:
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0)
    server.start()
    try:
        host, port = server.get_host_and_port()
        keys = {"aws_access_key_id": "a", "aws_secret_access_key": "b", "region_name": "us-east-1"}
        sqs = boto3.client("sqs", endpoint_url=f"http://{host}:{port}", **keys)  # type: ignore[call-overload]
        queue = sqs.create_queue(QueueName="hints")["QueueUrl"]
        settings.MARKETPLACE_QUEUE_HOSTS = [f"{host}:{port}"]
        settings.CHANNELS = {"local": selling.channel_values(market, requester, queue=queue)}
        publication = selling.sell(selling.study(), pages=1)
        selling.do_page(selling.live_hit(publication))
        listen()
        listen()
        assert asked() == 1
        left = sqs.get_queue_attributes(
            QueueUrl=queue, AttributeNames=["ApproximateNumberOfMessages"]
        )
        assert left["Attributes"]["ApproximateNumberOfMessages"] == "0"
    finally:
        server.stop()
