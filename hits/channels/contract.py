"""The contract of a channel: it brings people to our pages and settles with them.

Handing out units is never a channel's work. A channel turns records into calls and answers into
records; what was meant, made and paid is kept by the pipeline and the models.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from enum import StrEnum
from typing import Protocol

from hits.records import Json


class State(StrEnum):
    OPEN = "open"
    PAUSED = "paused"
    CLOSED = "closed"


class Result(StrEnum):
    """How a creating or paying call ended."""

    DONE = "done"
    ALREADY_DONE = "already"
    RETRY = "retry"
    REFUSED = "refused"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Outcome:
    result: Result
    answer: Json = field(default_factory=dict)
    message: str = ""

    @property
    def succeeded(self) -> bool:
        return self.result in {Result.DONE, Result.ALREADY_DONE}


@dataclass(frozen=True, slots=True)
class Call:
    """A creating or paying call as the ledger keeps it: made again, it must do nothing twice."""

    action: str
    token: str
    request: Json
    meant_at: datetime


@dataclass(frozen=True, slots=True)
class Requirement:
    """What a worker must have to see, preview or accept a HIT."""

    qualification: str
    comparator: str
    values: tuple[int | str, ...] = ()
    hides: bool = True


@dataclass(frozen=True, slots=True)
class Terms:
    """What a worker is promised, and who may work."""

    title: str
    description: str
    keywords: str
    reward: Decimal
    duration: timedelta
    lifetime: timedelta
    auto_approval: timedelta
    requirements: tuple[Requirement, ...] = ()


@dataclass(frozen=True, slots=True)
class Entry:
    """Somebody who came to a page, as the address has it: a claim until it is confirmed."""

    worker: str
    ref: str
    hit_id: str
    is_preview: bool
    is_verified: bool


@dataclass(frozen=True, slots=True)
class FormToPost:
    """How the worker's own browser hands a page over."""

    action: str
    fields: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Submitted:
    """A submission on the channel's own list."""

    ref: str
    hit_id: str
    worker: str
    state: str
    submitted_at: datetime
    auto_approval_at: datetime | None
    receipt: str


@dataclass(frozen=True, slots=True)
class Capabilities:
    framed: bool
    preview: bool
    expiry: bool
    bonus: bool
    unreject: bool
    events: bool


@dataclass(frozen=True, slots=True)
class Cost:
    """What pages cost on a channel, with its fee."""

    pages: int
    reward: Decimal
    fee: Decimal

    @property
    def page(self) -> Decimal:
        return self.reward + self.fee

    @property
    def total(self) -> Decimal:
        return self.pages * self.page


class Refusal(Exception):
    """What came in does not belong to the channel, or is not allowed; the text says why."""


class Channel(Protocol):
    name: str
    capabilities: Capabilities
    frame_ancestors: Sequence[str]
    """Origins that may frame our worker pages."""
    submit_origin: str
    """Where the browser posts when a page is handed over; empty where it is not."""

    def calls_to_publish(self, terms: Terms) -> Json:
        """The request that makes the publication itself: a HIT type, or one study."""
        ...

    def call_for_ticket(self, *, publication_ref: str, url: str, key: str, terms: Terms) -> Json:
        """The request that makes one HIT, whose address is ours."""
        ...

    def make(self, call: Call) -> Outcome:
        """Make a creating or paying call, and say how it ended. Never raises for an answer."""
        ...

    def look_up(self, call: Call) -> Outcome:
        """Whether a call whose end is unknown was done, by the channel's own lists: done with
        its answer, or to be made (again)."""
        ...

    def set_state(self, hit_ids: Sequence[str], state: State) -> Iterator[tuple[str, Outcome]]: ...

    def admit(self, query: Mapping[str, str]) -> Entry: ...

    def finish(self, *, ref: str, receipt: str) -> FormToPost: ...

    def list_submissions(self, publication_ref: str) -> Iterator[Submitted]: ...

    def balance(self) -> Decimal: ...

    def cost(self, *, pages: int, reward: Decimal) -> Cost: ...

    def notify(self, workers: Sequence[str], subject: str, text: str) -> Mapping[str, str]:
        """Write to workers; the answer names who could not be reached, and why."""
        ...

    def parse_event(self, headers: Mapping[str, str], body: bytes) -> list[str]:
        """Ids of HITs about which something may be new. A hint: only lists are the truth."""
        ...
