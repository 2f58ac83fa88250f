"""The contract of a channel: it brings people to our pages and settles with them.

Handing out units is never a channel's work. A channel turns records into calls and answers into
records; what was meant, made and paid is kept by the pipeline and the models.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from enum import StrEnum
from typing import ClassVar, Protocol

from hits.records import Json


class Result(StrEnum):
    """How a creating or paying call ended."""

    DONE = "done"
    ALREADY_DONE = "already"
    RETRY = "retry"
    REFUSED = "refused"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was made is named by `id` in the answer, when it lasts by `expires_at`."""

    result: Result
    answer: Json = field(default_factory=dict)
    message: str = ""

    @property
    def succeeded(self) -> bool:
        return self.result in {Result.DONE, Result.ALREADY_DONE}


@dataclass(frozen=True, slots=True)
class Call:
    """An order as the ledger keeps it: made again, it must do nothing twice."""

    action: str
    token: str
    request: Json
    done_before: int = 0
    """So many calls with the same request are known to have been done."""


@dataclass(frozen=True, slots=True)
class Requirement:
    """What a worker must have to see, preview or accept a HIT.

    The qualification is an id of the channel, or one of these names."""

    APPROVED_HITS: ClassVar[str] = "approved_hits"
    APPROVAL_RATE: ClassVar[str] = "approval_rate"
    LOCALE: ClassVar[str] = "locale"
    MASTERS: ClassVar[str] = "masters"

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

    def as_json(self) -> Json:
        return {
            "title": self.title,
            "description": self.description,
            "keywords": self.keywords,
            "reward": str(self.reward),
            "duration": int(self.duration.total_seconds()),
            "lifetime": int(self.lifetime.total_seconds()),
            "auto_approval": int(self.auto_approval.total_seconds()),
            "requirements": [
                {
                    "qualification": each.qualification,
                    "comparator": each.comparator,
                    "values": list(each.values),
                    "hides": each.hides,
                }
                for each in self.requirements
            ],
        }

    @classmethod
    def from_json(cls, stored: Json) -> "Terms":
        return cls(
            title=stored["title"],
            description=stored["description"],
            keywords=stored["keywords"],
            reward=Decimal(stored["reward"]),
            duration=timedelta(seconds=stored["duration"]),
            lifetime=timedelta(seconds=stored["lifetime"]),
            auto_approval=timedelta(seconds=stored["auto_approval"]),
            requirements=tuple(
                Requirement(**each | {"values": tuple(each["values"])})
                for each in stored["requirements"]
            ),
        )


@dataclass(frozen=True, slots=True)
class Publish:
    """Offer a study on these terms: a HIT type, or one study with places."""

    action: ClassVar[str] = "publication"
    terms: Terms


@dataclass(frozen=True, slots=True)
class Ticket:
    """One page for one worker, at an address of ours. Channels that have places instead of
    HITs offer so many of them as its number says."""

    action: ClassVar[str] = "ticket"
    publication_ref: str
    key: str
    url: str
    number: int
    terms: Terms


@dataclass(frozen=True, slots=True)
class End:
    """Offer a ticket no longer. Whoever has accepted it may still hand it over."""

    action: ClassVar[str] = "end"
    hit_id: str


@dataclass(frozen=True, slots=True)
class Delete:
    """Forget a ticket that is over and settled."""

    action: ClassVar[str] = "delete"
    hit_id: str


@dataclass(frozen=True, slots=True)
class Approve:
    action: ClassVar[str] = "approve"
    ref: str
    message: str = ""
    overturns: bool = False
    """The submission was rejected before."""


@dataclass(frozen=True, slots=True)
class Reject:
    action: ClassVar[str] = "reject"
    ref: str
    message: str


@dataclass(frozen=True, slots=True)
class Bonus:
    action: ClassVar[str] = "bonus"
    ref: str
    worker: str
    amount: Decimal
    reason: str


@dataclass(frozen=True, slots=True)
class MakeQualification:
    """A qualification of our own, known by its name."""

    action: ClassVar[str] = "qualification"
    name: str
    description: str


@dataclass(frozen=True, slots=True)
class Qualify:
    action: ClassVar[str] = "qualify"
    qualification: str
    worker: str
    tells: bool = False
    """The channel writes to the worker that they have it now: also to one whose work nobody has
    reviewed, to whom no message would go."""


@dataclass(frozen=True, slots=True)
class Block:
    action: ClassVar[str] = "block"
    worker: str
    reason: str


@dataclass(frozen=True, slots=True)
class Unblock:
    action: ClassVar[str] = "unblock"
    worker: str
    reason: str


@dataclass(frozen=True, slots=True)
class Notify:
    """A message to at most `most_notified` workers; the answer says who could not be reached."""

    action: ClassVar[str] = "notify"
    workers: tuple[str, ...]
    subject: str
    text: str


@dataclass(frozen=True, slots=True)
class Subscribe:
    """Ask for hints about a publication."""

    action: ClassVar[str] = "subscribe"
    publication_ref: str


Order = (
    Publish
    | Ticket
    | End
    | Delete
    | Approve
    | Reject
    | Bonus
    | MakeQualification
    | Qualify
    | Block
    | Unblock
    | Notify
    | Subscribe
)


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
    """A submission on the channel's own list: submitted, approved or rejected."""

    ref: str
    hit_id: str
    worker: str
    state: str
    submitted_at: datetime
    auto_approval_at: datetime | None
    receipt: str


@dataclass(frozen=True, slots=True)
class Capabilities:
    tickets: bool
    """Pages are sold there; else people come by themselves."""
    bonus: bool
    unreject: timedelta | None
    """How long after it was handed in a rejected page can still be approved."""
    most_requirements: int
    most_notified: int
    remembers_tokens: timedelta
    """How long a repeated call with a token does nothing; zero where it never does."""


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
    """What came in or was asked for does not fit the channel; the text says why."""


class NoAnswer(Exception):
    """The channel could not be asked; the text says why."""


class Channel(Protocol):
    name: str
    capabilities: Capabilities
    frame_ancestors: Sequence[str]
    """Origins that may frame our worker pages."""
    submit_origin: str
    """Where the browser posts when a page is handed over; empty where it is not."""
    sends_events: bool
    """Whether hints are configured: Subscribe can be ordered."""

    def write(self, order: Order) -> Json:
        """The request that carries an order out, to be kept in the ledger; Refusal where the
        channel cannot."""
        ...

    def has_token(self, action: str) -> bool:
        """Whether a repeated call of this kind is told from a new one by its token."""
        ...

    def make(self, call: Call) -> Outcome:
        """Make a call, and say how it ended. Never raises for an answer, or for want of one."""
        ...

    def look_up(self, call: Call) -> Outcome:
        """Whether a call whose end is unknown was done, by the channel's own lists: done with
        its answer, to be made (RETRY), or not to be found out now (UNKNOWN)."""
        ...

    def admit(self, query: Mapping[str, str]) -> Entry:
        """Who came, by the parameters of the address; Refusal where they make no sense."""
        ...

    def finish(self, *, ref: str, worker: str, receipt: str) -> FormToPost: ...

    def list_submissions(
        self, publication_ref: str, hit_ids: Collection[str]
    ) -> Iterator[Submitted]:
        """What was handed over there for these tickets. Raises NoAnswer."""
        ...

    def balance(self) -> Decimal | None:
        """What can be spent; None where nothing is kept there. Raises NoAnswer."""
        ...

    def cost(
        self, *, pages: int, reward: Decimal, requirements: Sequence[Requirement] = ()
    ) -> Cost: ...

    def bonus_cost(self, amount: Decimal) -> Decimal: ...

    def parse_event(self, headers: Mapping[str, str], body: bytes) -> list[str]:
        """Ids of HITs about which something may be new; Refusal where the sender is not the
        channel. A hint: only lists are the truth."""
        ...

    def poll_events(self) -> list[str]:
        """The same from a queue, where one is configured. Raises NoAnswer."""
        ...
