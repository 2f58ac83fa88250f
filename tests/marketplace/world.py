"""A requester, workers and HITs at the marketplace, made without its API."""

from datetime import timedelta
from decimal import Decimal
from typing import Any
from uuid import uuid4

from django.utils import timezone

from hits.marketplace import money
from hits.marketplace.accounts import enroll_worker, open_requester
from hits.marketplace.models import HIT, HITType, Requester, Worker

SECRET = "a-secret-of-the-tests"


def requester(name: str = "Requester", balance: str = "1000.00", access_key: str = "") -> Requester:
    return open_requester(
        name=name,
        access_key=access_key or f"AKIA{uuid4().hex.upper()}",
        secret_key=SECRET,
        balance=Decimal(balance),
    )


def worker(name: str = "", **given: Any) -> Worker:
    return enroll_worker(name=name or f"worker {uuid4().hex}", password="a long password", **given)


def hit_type(owner: Requester, *, reward: str = "0.65", **given: Any) -> HITType:
    return HITType.objects.create(
        requester=owner,
        fingerprint=uuid4().hex,
        reward=Decimal(reward),
        **{
            "title": "Judge pairs",
            "description": "Twenty pairs of an image and a caption",
            "assignment_seconds": 600,
            "auto_approval_seconds": 3600,
            **given,
        },
    )


def hit(kind: HITType, *, assignments: int = 1, lives: timedelta = timedelta(days=1)) -> HIT:
    expires_at = timezone.now() + lives
    made = HIT.objects.create(
        requester=kind.requester,
        hit_type=kind,
        question="",
        external_url="https://example.org/work?hit=1",
        frame_height=0,
        max_assignments=assignments,
        expires_at=expires_at,
        dispose_at=expires_at + timedelta(days=120),
    )
    money.reserve(made, assignments)
    return made
