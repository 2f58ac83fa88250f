"""What crosses from one stage to the next."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple, Protocol

Fields = Mapping[str, list[str]]
Json = dict[str, Any]


class Candidate(NamedTuple):
    """One line of a machine's ranked list for a query."""

    proposal_id: int
    target_id: int
    rank: int
    score: float


class Query(NamedTuple):
    """One query with all that the machines proposed for it and what the corpus says of it."""

    id: int
    direction: str
    candidates: tuple[Candidate, ...]
    originals: tuple[int, ...]


class UnitDraft(NamedTuple):
    key: str
    pool: str
    payload: Json
    gold: Json | None = None
    sources: tuple[Candidate, ...] = ()


@dataclass(frozen=True, slots=True)
class ImageShown:
    url: str
    width: int
    height: int


@dataclass(frozen=True, slots=True)
class Items:
    """The corpus items that units speak of, by their ids."""

    images: Mapping[int, ImageShown]
    captions: Mapping[int, str]


@dataclass(frozen=True, slots=True)
class Option:
    value: str
    label: str
    key: str
    help: str = ""


@dataclass(frozen=True, slots=True)
class Question:
    """A unit as its page shows it: known by its position alone."""

    position: int
    shown: Json
    draft: Fields = field(default_factory=dict)
    errors: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Page:
    key: str
    study_name: str
    study_slug: str
    template: str
    settings: Any
    wording: Any
    form: Mapping[str, list[Option]]
    questions: list[Question]
    pay: str
    terms: str
    lease_until: datetime
    revision: int
    saved_at: datetime | None
    is_open: bool


@dataclass(frozen=True, slots=True)
class Saved:
    saved_at: datetime
    revision: int


@dataclass(frozen=True, slots=True)
class Receipt:
    key: str
    submitted_at: datetime


@dataclass(frozen=True, slots=True)
class Aggregate:
    """What the people said of a unit together, with how many said what."""

    label: str
    positive: bool
    distribution: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class ReleasedUnit:
    """A unit with what was said of it, its items by their ids here and outside."""

    payload: Json
    pool: str
    image_ids: tuple[str, ...]
    caption_ids: tuple[str, ...]
    aggregate: Aggregate


@dataclass(frozen=True, slots=True)
class ReleasedQuery:
    """An item that machines were asked about, with what the corpus pairs it with."""

    id: int
    external_id: str
    originals: Mapping[int, str]


class ReleaseSource(Protocol):
    """What an export reads: streams in the order of the ids here, as often as it likes."""

    def units(self, by: str) -> Iterator[ReleasedUnit]:
        """Judged units, ordered by one of the ids in their payload."""
        ...

    def queries(self, direction: str) -> Iterator[ReleasedQuery]: ...
