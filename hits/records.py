"""What crosses from one stage to the next."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, NamedTuple, Protocol

Fields = Mapping[str, list[str]]
Json = dict[str, Any]
Cell = str | int | float | None


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


class Region(NamedTuple):
    """A labelled box, in pixels from the image's top left corner, and polygons within it if it
    has an outline."""

    id: int
    category: str
    x: float
    y: float
    width: float
    height: float
    area: float
    external_id: str = ""
    outline: Sequence[Sequence[float]] = ()


class CorpusImage(NamedTuple):
    """An image with what the corpus says of it."""

    id: int
    width: int
    height: int
    captions: Mapping[int, str]
    regions: tuple[Region, ...]


class Named(NamedTuple):
    """What is known of the items that uploaded rows name, by their ids: the width and height of
    images that have a file or say so, and the image that each caption belongs to."""

    sizes: Mapping[int, tuple[int, int]]
    image_of: Mapping[int, int]


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
class Tallied:
    """A field of the answers that is counted for the first results: by its options, of which an
    answer has one, or several as a list, or one for each of several things as an object; without
    options by what was said; or, between two ends, as a number."""

    field: str
    title: str
    options: Sequence["Option"] = ()
    low: float = 0
    high: float = 0
    # The options stand in an order that means more or less of something.
    is_ordered: bool = False

    @property
    def is_number(self) -> bool:
        return self.high > self.low


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
    scripts: Sequence[str]
    styles: Sequence[str]
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
    is_training: bool = False


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
    """What the people said of a unit together, with how many said what; where they gave numbers,
    or one is made of what they said, with that."""

    label: str
    positive: bool
    distribution: Mapping[str, int]
    value: float | None = None


@dataclass(frozen=True, slots=True)
class OutsideImage:
    id: str
    file_name: str


@dataclass(frozen=True, slots=True)
class OutsideCaption:
    id: str
    text: str


class CaptionedImage(NamedTuple):
    """An image with all its captions, by their ids here, as they are called outside."""

    id: int
    image: OutsideImage
    captions: Mapping[int, OutsideCaption]


@dataclass(frozen=True, slots=True)
class JudgedUnit:
    """A unit with what was said of it; its items, in the order in which its protocol names them,
    as they are called outside. Answers are those that are used, and each has what was decided by
    chance when it was asked."""

    key: str
    protocol: str
    pool: str
    payload: Json
    images: tuple[OutsideImage, ...]
    captions: tuple[OutsideCaption, ...]
    aggregate: Aggregate
    answers: Sequence[Json]
    shown: Sequence[Json | None]
    study: str = ""
    wanted: int = 1


@dataclass(frozen=True, slots=True)
class ReleasedQuery:
    """An item that machines were asked about, with what the corpus pairs it with."""

    id: int
    external_id: str
    originals: Mapping[int, str]


class Said(NamedTuple):
    """A judgment that is used: of which unit, what that is about and how many it wants, by whom,
    the answer, and what was decided by chance when it was asked."""

    unit: str
    about: Json
    wanted: int
    person: int
    answer: Json
    shown: Json | None = None


@dataclass(frozen=True, slots=True)
class Column:
    """Shares lie between 0 and 1 and are read in percent."""

    name: str
    kind: Literal["text", "count", "share", "number"] = "text"


@dataclass(frozen=True, slots=True)
class Chart:
    """How a table is drawn, by the places of its columns: those that name what stands along an
    axis, and those whose values are drawn, with the ends of their interval where there is one.
    `of` says what is counted and how many of it there are."""

    kind: Literal["bars", "stacked", "points", "lines"]
    names: Sequence[int]
    values: Sequence[int]
    along: str
    up: str
    of: str
    ends: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Table:
    """A table of a report, or why there is none."""

    slug: str
    title: str
    note: str = ""
    columns: Sequence[Column] = ()
    rows: Sequence[Sequence[Cell]] = ()
    why: str = ""
    chart: Chart | None = None


class UnitSource(Protocol):
    """What units are made of: whatever of it a study was given, streamed. What it was not given
    is empty."""

    def queries(self) -> Iterator[Query]:
        """What machines proposed, query by query."""
        ...

    def targets(self) -> Sequence[int]:
        """All that the machines had to choose from."""
        ...

    def images(self) -> Iterator[CorpusImage]:
        """The images of the corpus, or of the study's split of it, that have a file."""
        ...

    def captions_of(self, images: Iterable[int]) -> Mapping[int, Mapping[int, str]]:
        """The captions of each of these images, by their ids."""
        ...

    def judged(self) -> Iterator[JudgedUnit]:
        """The units of the studies that feed this one whose judgments are complete."""
        ...

    def rows(self) -> Iterator[Json]:
        """The lines of uploaded files, as the protocol's row model has them, with ids here in
        the place of outside ones."""
        ...

    def leave_out(self, why: str) -> None:
        """Tell whoever opens the study that something was given and makes no unit."""
        ...


class ReleaseSource(Protocol):
    """What an export reads: streams, as often as it likes."""

    @property
    def corpus(self) -> str: ...

    @property
    def split(self) -> str:
        """The splits that it is about, with + between; empty if it is about the whole corpus."""
        ...

    def by_split(self) -> Sequence["ReleaseSource"]:
        """What it has of each split by itself."""
        ...

    def units(self, by: str = "") -> Iterator[JudgedUnit]:
        """Judged units, ordered by one of the ids in their payload, or as they were made."""
        ...

    def queries(self, direction: str) -> Iterator[ReleasedQuery]: ...

    def captioned(self) -> Iterator[CaptionedImage]:
        """The images of the corpus, or of the studies' splits of it, that have captions, with all
        of them; both in the order of their ids here."""
        ...
