"""A worker at a marketplace, seen from the frame: an address, a pass, and what is sent with it."""

import re
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

from django.test import Client
from django.utils import timezone

from hits.channels.contract import Entry
from hits.models import Assignment, Claim, Hit
from hits.pipeline.passes import write_pass
from hits.pipeline.publish import address_of
from tests import making

TOKEN = re.compile(r'name="token" value="([^"]+)"')
JSON = {"Accept": "application/json"}


def directive(response: Any, name: str) -> list[str]:
    parts = [part.split() for part in response["Content-Security-Policy"].split(";")]
    return next(part[1:] for part in parts if part and part[0] == name)


def refuses_to_be_framed(response: Any) -> bool:
    refuses = response.get("X-Frame-Options") == "DENY"
    return refuses and directive(response, "frame-ancestors") == ["'none'"]


def entry(hit: Hit, worker: str = "WORKER1", ref: str = "ASSIGNMENT1") -> Entry:
    return Entry(worker, ref, hit.hit_id, is_preview=False, is_verified=False)


def token(hit: Hit, worker: str = "WORKER1", ref: str = "ASSIGNMENT1") -> str:
    until = timezone.now() + timedelta(hours=1)
    return write_pass(hit=hit, entry=entry(hit, worker, ref), until=until)


def signed_key(hit: Hit) -> str:
    return address_of(hit).rstrip("/").rpartition("/")[2]


@dataclass
class Worker:
    hit: Hit
    worker: str = "WORKER1"
    ref: str = "ASSIGNMENT1"
    client: Client = field(default_factory=lambda: Client(enforce_csrf_checks=True))

    @property
    def path(self) -> str:
        return f"/hit/{signed_key(self.hit)}/"

    @property
    def query(self) -> dict[str, str]:
        return {
            "assignmentId": self.ref,
            "hitId": self.hit.hit_id,
            "workerId": self.worker,
            "turkSubmitTo": "http://market.example/",
        }

    @property
    def claim(self) -> Claim:
        return Claim.objects.select_related("assignment", "account").get(
            hit=self.hit, ref=self.ref, account__external_id=self.worker
        )

    @property
    def page(self) -> Assignment:
        page = self.claim.assignment
        assert page is not None
        return page

    def open(self, **query: str) -> Any:
        return self.client.get(self.path, {**self.query, **query})

    def preview(self) -> Any:
        query = {"assignmentId": "ASSIGNMENT_ID_NOT_AVAILABLE", "hitId": self.hit.hit_id}
        return self.client.get(self.path, query)

    def token(self) -> str:
        found = TOKEN.search(self.open().content.decode())
        assert found is not None
        return found[1]

    def post(self, what: str, token: str | None = None, /, **fields: Any) -> Any:
        """As a form without script posts it."""
        fields = {"token": self.token() if token is None else token, **fields}
        return self.client.post(f"{self.path}{what}?{urlencode(self.query)}", fields)

    def fetch(self, what: str, token: str | None = None, /, **fields: Any) -> Any:
        """As the page's script posts it."""
        bearer = f"Bearer {self.token() if token is None else token}"
        return self.client.post(
            f"{self.path}{what}?{urlencode(self.query)}",
            fields,
            headers={**JSON, "Authorization": bearer},
        )

    def accept(self) -> "Worker":
        """Agree, and have a page."""
        assert self.post("agree").status_code == 302
        return self

    def do(self) -> Any:
        """Answer the page well, and submit it here."""
        page = self.page
        return self.fetch("submit", revision=page.draft_revision, **making.truthful(page))
