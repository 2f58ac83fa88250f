"""Where notifications go: only to queues on hosts, and to subscribers of topics, that the settings
name. Nothing that a requester writes is ever called otherwise."""

import re
from urllib.parse import urlsplit

from django.conf import settings

TOPIC = re.compile(r"arn:aws[\w-]*:sns:[\w-]+:\w+:[\w-]{1,256}(\.fifo)?")


def is_allowed(transport: str, destination: str) -> bool:
    if transport == "SQS":
        return is_queue(destination)
    if transport == "SNS":
        return bool(TOPIC.fullmatch(destination))
    return False


def is_queue(address: str) -> bool:
    try:
        parts = urlsplit(address)
        has_port = parts.port is not None
    except ValueError:
        return False
    host = f"{parts.hostname}:{parts.port}" if has_port else parts.hostname
    return (
        parts.scheme in {"http", "https"}
        and parts.username is None
        and not parts.query
        and not parts.fragment
        and host in settings.MARKETPLACE_QUEUE_HOSTS
    )


def subscriber(topic: str) -> str | None:
    """Who is told of what is published to a topic; nobody, if nobody subscribed."""
    address: str | None = settings.MARKETPLACE_SUBSCRIBERS.get(topic)
    return address
