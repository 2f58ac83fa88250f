"""A requester, workers and HITs, made without the requester's API."""

from datetime import timedelta
from decimal import Decimal
from itertools import count
from typing import Any

from django.db import transaction
from django.test import Client
from django.utils import timezone

from hits.marketplace import deciding, money, states
from hits.marketplace.accounts import enroll_worker, open_requester
from hits.marketplace.ids import thing_id
from hits.marketplace.models import HIT, Assignment, HITType, Requester, Worker

HOST = "127.0.0.1:8001"
PASSWORD = "a pass phrase of theirs"
_numbers = count(1)


def requester(name: str = "Vision laboratory", balance: str = "100") -> Requester:
    number = next(_numbers)
    keys = {"access_key": f"AK{number}", "secret_key": f"secret {number}"}
    return open_requester(name=name, balance=Decimal(balance), **keys)


def worker(**options: Any) -> Worker:
    return enroll_worker(name=f"worker {next(_numbers)}", password=PASSWORD, **options)


def hit_type(owner: Requester, **options: Any) -> HITType:
    defaults = {
        "fingerprint": thing_id(),
        "title": f"Describe photographs {next(_numbers)}",
        "description": "Say whether captions fit their photographs.",
        "keywords": "image, caption",
        "reward": Decimal("0.65"),
        "assignment_seconds": 3600,
        "auto_approval_seconds": 86400,
    }
    return HITType.objects.create(requester=owner, **(defaults | options))


def hit(kind: HITType, *, url: str = "https://study.example/hit/", **options: Any) -> HIT:
    expires_at = timezone.now() + timedelta(days=1)
    defaults = {
        "question": "<ExternalQuestion/>",
        "external_url": url,
        "frame_height": 0,
        "max_assignments": 1,
        "expires_at": expires_at,
        "dispose_at": expires_at + timedelta(days=120),
    }
    made = HIT.objects.create(requester=kind.requester, hit_type=kind, **(defaults | options))
    money.reserve(made, made.max_assignments)
    return made


@transaction.atomic
def decide(assignment: Assignment, *, approve: bool, feedback: str) -> None:
    fresh = Assignment.objects.select_related("worker").get(pk=assignment.pk)
    fresh.hit = states.locked(fresh.hit_id)
    (deciding.approve if approve else deciding.reject)(fresh, feedback=feedback)


def client(who: Worker | None = None) -> Client:
    """A browser at the marketplace, logged in where a worker is given."""
    made = Client(headers={"host": HOST, "origin": f"http://{HOST}"})
    if who is not None:
        made.post("/login/", {"name": who.name, "password": PASSWORD})
    return made
