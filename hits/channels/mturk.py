"""Mechanical Turk's requester API, at Amazon or wherever else it is spoken."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import timedelta
from decimal import Decimal

from hits.channels import costs
from hits.channels.contract import (
    Call,
    Capabilities,
    Cost,
    Entry,
    FormToPost,
    Order,
    Outcome,
    Refusal,
    Requirement,
    Submitted,
)
from hits.records import Json

PREVIEW = "ASSIGNMENT_ID_NOT_AVAILABLE"
_ID = re.compile(r"[A-Za-z0-9]{1,64}")


def open_channel(name: str, values: Mapping[str, str]) -> "MTurk":
    return MTurk(name, values)


class MTurk:
    capabilities = Capabilities(
        tickets=True,
        framed=True,
        preview=True,
        expiry=True,
        bonus=True,
        unreject=timedelta(days=30),
        events=True,
        most_requirements=10,
        most_notified=100,
        remembers_tokens=timedelta(hours=24),
    )

    def __init__(self, name: str, values: Mapping[str, str]) -> None:
        self.name = name
        self.values = values
        self.submit_origin = values["submit"].rstrip("/")
        frames = values.get("frames") or self.submit_origin
        self.frame_ancestors: Sequence[str] = [each.strip() for each in frames.split(",")]

    def write(self, order: Order) -> Json:
        raise NotImplementedError

    def has_token(self, action: str) -> bool:
        return action in {"ticket", "bonus"}

    def make(self, call: Call) -> Outcome:
        raise NotImplementedError

    def look_up(self, call: Call) -> Outcome:
        raise NotImplementedError

    def admit(self, query: Mapping[str, str]) -> Entry:
        ref, hit_id = query.get("assignmentId", ""), query.get("hitId", "")
        worker = query.get("workerId", "")
        is_preview = ref == PREVIEW
        if is_preview:
            return Entry(worker="", ref="", hit_id=hit_id, is_preview=True, is_verified=False)
        if not all(_ID.fullmatch(part) for part in (ref, hit_id, worker)):
            raise Refusal("This address lacks what the marketplace adds to it.")
        return Entry(worker=worker, ref=ref, hit_id=hit_id, is_preview=False, is_verified=False)

    def finish(self, *, ref: str, receipt: str) -> FormToPost:
        return FormToPost(
            action=f"{self.submit_origin}/mturk/externalSubmit",
            fields={"assignmentId": ref, "receipt": receipt},
        )

    def list_submissions(
        self, publication_ref: str, hit_ids: Collection[str]
    ) -> Iterator[Submitted]:
        raise NotImplementedError

    def balance(self) -> Decimal | None:
        raise NotImplementedError

    def cost(
        self, *, pages: int, reward: Decimal, requirements: Sequence[Requirement] = ()
    ) -> Cost:
        masters = any(each.qualification == Requirement.MASTERS for each in requirements)
        return Cost(pages=pages, reward=reward, fee=costs.fee(reward, masters=masters))

    def bonus_cost(self, amount: Decimal) -> Decimal:
        return amount + costs.bonus_fee(amount)

    def parse_event(self, headers: Mapping[str, str], body: bytes) -> list[str]:
        raise NotImplementedError

    def poll_events(self) -> list[str]:
        raise NotImplementedError
