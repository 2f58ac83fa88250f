"""The contract of a protocol, and the registry of those there are.

A protocol is one module in hits/protocols and one template. It knows neither the database nor
the other protocols: payloads, answers and settings are plain data.
"""

import pkgutil
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from functools import cache
from importlib import import_module
from random import Random
from typing import Any, ClassVar, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, Field, GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema

from hits.exporters.formats import Kind
from hits.records import (
    Aggregate,
    Fields,
    Items,
    Json,
    JudgedUnit,
    Named,
    Option,
    ReleaseSource,
    Tallied,
    UnitDraft,
    UnitSource,
)

UNIT, GOLD = "unit", "gold"

# How well a caption fits an image, by their ids: from 0, not at all, to 1; None where nobody knows.
Fits = Callable[[int, int], float | None]

# A gold may say under this name why its answer is right. Whoever trained on it reads it; a
# protocol's check and describe take no notice of it.
EXPLANATION = "explanation"


class Source(StrEnum):
    """Where units can come from."""

    PROPOSALS = "proposals"
    CORPUS = "corpus"
    STUDIES = "studies"
    ROWS = "rows"
    DETAILS = "details"


class Report(StrEnum):
    """What a report of a study says beside what it says of every study."""

    COMPARISONS = "comparisons"
    CONVERSION = "conversion"
    SCORES = "scores"
    RETEST = "retest"
    LONGEST = "longest"
    RENOVATION = "renovation"
    IMPORTANCE = "importance"
    BIAS = "bias"


class Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Row(Frozen):
    """A line of an uploaded file that a unit, or a gold, is made of."""

    explanation: str = Field(
        "", max_length=1000, description="Of a gold: why this is right, for those who train."
    )


def explained(gold: Json, row: Json) -> Json:
    return {**gold, EXPLANATION: row[EXPLANATION]} if row.get(EXPLANATION) else gold


class PageSettings(Frozen):
    """The settings of a protocol whose pages have units of one kind, and golds among them."""

    units_a_page: int = Field(
        10, ge=1, le=200, title="Questions on a page", description="Besides the golds."
    )
    golds_a_page: int = Field(
        1,
        ge=0,
        le=20,
        title="Golds on a page",
        description="Questions whose answer is known, as far as there are some.",
    )


class _Reference(str):
    """An outside id in an uploaded row; where it is stored, the id here stands in its place."""

    __slots__ = ()

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        text = core_schema.str_schema(min_length=1, max_length=200, coerce_numbers_to_str=True)
        return core_schema.no_info_after_validator_function(cls, text)


class ImageRef(_Reference):
    __slots__ = ()


class CaptionRef(_Reference):
    __slots__ = ()


class RegionRef(_Reference):
    __slots__ = ()


class FieldErrors(Exception):
    """What is missing or wrong in an answer, by field."""

    def __init__(self, errors: Mapping[str, str]) -> None:
        super().__init__(str(dict(errors)))
        self.errors = dict(errors)


def only(fields: Fields, name: str) -> str:
    """What was said in a field that takes one value; of several, none is chosen."""
    values = fields.get(name) or [""]
    if len(values) > 1:
        raise FieldErrors({name: "Give one answer, not several."})
    return values[0]


Settings = TypeVar("Settings", bound=Frozen)
Wording = TypeVar("Wording", bound=Frozen)


class Protocol(ABC, Generic[Settings, Wording]):
    slug: ClassVar[str]
    name: ClassVar[str]
    description: ClassVar[str]
    template: ClassVar[str]
    scripts: ClassVar[Sequence[str]] = ()
    styles: ClassVar[Sequence[str]] = ()
    settings_model: type[Settings]
    shown_settings: ClassVar[frozenset[str]] = frozenset()
    wording_model: type[Wording]
    judgments_wanted: ClassVar[int] = 1

    # The public dataset that its files are a part of. Studies on one corpus whose protocols name
    # the same one can be released together; without one, studies of the protocol itself.
    dataset: ClassVar[str] = ""

    # What units are made of: of which sources, of proposals in which directions, of studies of
    # which protocols, and of uploaded rows of which form. Whoever worked in a study of one of
    # the protocols it is apart from, on the same corpus, never works in this one.
    sources: ClassVar[frozenset[Source]]
    directions: ClassVar[Sequence[str]] = ()
    feeders: ClassVar[frozenset[str]] = frozenset()
    apart_from: ClassVar[frozenset[str]] = frozenset()
    row_model: type[Frozen] | None = None

    def unfit(self, row: Json, named: Named) -> str:
        """Why a row, with ids here in the place of outside ones, does not fit the items that it
        names; empty if it does."""
        return ""

    # Payloads that show the form to people who have no study yet: image 1 to 6 and caption 1 to 6,
    # each of its image, stand for items of a corpus.
    specimens: ClassVar[Sequence[Json]]

    @abstractmethod
    def composition(self, settings: Settings) -> Mapping[str, int]:
        """How many units of each pool a page has. The first pool is the one to be judged."""

    def fill(self, settings: Settings) -> Sequence[str]:
        """The pools that fill a page when the first runs short, in order."""
        return []

    def asks_corpus(self, settings: Settings) -> bool:
        """Whether the corpus alone gives units."""
        return Source.CORPUS in self.sources

    @abstractmethod
    def units(self, source: UnitSource, settings: Settings, random: Random) -> Iterator[UnitDraft]:
        """What the study was given, as units to judge and golds. Units with the key of an earlier
        one are left out."""

    @abstractmethod
    def items(self, payload: Json) -> tuple[Sequence[int], Sequence[int]]:
        """The ids of the images and of the captions that a unit shows."""

    # Whether its public files say which side or letter was which: answers without that are of no
    # use to it.
    tells_what_was_shown: ClassVar[bool] = False

    @property
    def is_arranged(self) -> bool:
        """Whether chance decides something when a unit is put on a page."""
        return type(self).arrange is not Protocol.arrange

    def arrange(self, payload: Json, turn: int, random: Random) -> Json | None:
        """What is decided by chance when a unit is put on a page; stored beside the answer.
        `turn` grows by one with everybody who is asked, so that turn % 2 balances sides."""
        return None

    @abstractmethod
    def show(self, payload: Json, shown: Json | None, items: Items) -> Json:
        """What the page says of a unit: never its gold, its machine or its ids."""

    @abstractmethod
    def form(self, settings: Settings, wording: Wording) -> Mapping[str, list[Option]]: ...

    @abstractmethod
    def parse(self, fields: Fields, payload: Json, shown: Json | None, settings: Settings) -> Json:
        """The answer to store, or FieldErrors."""

    # Of how many places, shown at random, an answer is one; 0 where nothing is shown so.
    places: ClassVar[int] = 0

    def place(self, answer: Json, shown: Json | None) -> int | None:
        """In which of them, from 0, what was chosen stood."""
        return None

    def later_key(self, payload: Json, answer: Json) -> str | None:
        """The key of the unit by which a study that this one feeds asks whether an answer holds."""
        return None

    def told(self, fields: Fields) -> Fields:
        """The fields of the form that say what a file of judgments made elsewhere says."""
        return fields

    def ways(
        self, payload: Json, shown: Json | None, settings: Settings, random: Random
    ) -> Sequence[Fields]:
        """The form filled in, once for each thing that can be said of a unit, in an order that
        means something and not as it is shown. This is what a simulated crowd answers with."""
        offered = next(iter(self.form(settings, self.wording_model()).values()))
        return [{"choice": [option.value]} for option in offered]

    def truth(self, payload: Json, fits: Fits) -> float | None:
        """Where the right answer stands, from the first way (0) to the last (1), in a corpus whose
        pairs are known."""
        return None

    @abstractmethod
    def check(self, answer: Json, gold: Json) -> bool: ...

    def gold_of(self, answers: Sequence[Json]) -> tuple[str, Json] | None:
        """The pool and the rule of the gold that people's answers to a unit make, if they do."""
        return None

    def is_denied(self, answers: Sequence[Json]) -> bool:
        """Whether people say that the caption of a unit does not describe its image at all."""
        return False

    @abstractmethod
    def describe(self, answer: Json, wording: Wording) -> str:
        """An answer, or a gold, in words for reviewers."""

    def named(self, answer: Json, payload: Json, shown: Json | None) -> Json:
        """An answer, or a gold, in which the parts of a unit are called as its people saw them."""
        return answer

    def retell(self, answer: Json, wording: Wording) -> str:
        """An answer, or a gold, in words for the person whose answer it is."""
        return self.describe(answer, wording)

    @abstractmethod
    def aggregate(self, answers: Sequence[Json]) -> Aggregate: ...

    def tallies(self, settings: Settings, wording: Wording) -> Sequence[Tallied]:
        """What is counted for the first results; by machine and rank, too, for the first of it
        if it has options."""
        return []

    # What else a report computes: of systems side by side as in hits.sides, of the units that
    # people let through, of the first number that is tallied; the latter by what the payload has
    # under this name, and for ordered pairs by what it has under the two names of their ends.
    reports: ClassVar[frozenset[Report]] = frozenset()
    finds_positives: ClassVar[bool] = False
    """Whether a unit is a yes or a no, so that what is found has a precision and a recall."""
    scores_by: ClassVar[str] = ""
    ordered_ends: ClassVar[tuple[str, str] | None] = None

    def renovated(self, unit: JudgedUnit) -> tuple[str, str, str | None]:
        """The original, the proposed and the final text of a unit that is about a text; no final
        one where the proposal was given up."""
        raise NotImplementedError(f"{self.slug} renovates no texts.")

    def grade(self, answer: Json) -> float:
        """How far an answer says that a pair matches, from 0 to 1."""
        return float(self.aggregate([answer]).positive)

    def export(self, source: ReleaseSource, settings: Settings) -> Mapping[str, Iterable[str]]:
        """The files of the protocol's public format, by name, as streams of text. A name that
        several protocols of a dataset write under is that of JsonLists."""
        return {}

    # Columns are of text where nothing else is said. Cells of caption_columns are ids of captions
    # here, as is the list that `arrange` gives under the name captions_in_order; in a release they
    # are outside ids.
    columns: ClassVar[Sequence[str]]
    column_kinds: ClassVar[Mapping[str, Kind]] = {}
    caption_columns: ClassVar[frozenset[str]] = frozenset()
    captions_in_order: ClassVar[str] = ""

    # Columns, and fields of an answer, in which people write: remarks, which a release can leave
    # out, and what the question asks them to write.
    remarks: ClassVar[frozenset[str]] = frozenset()
    written: ClassVar[frozenset[str]] = frozenset()

    def without_words(self, answer: Json) -> Json | None:
        """The answer with nothing in it that a person wrote; None if there is no answer then."""
        gone = self.remarks | self.written
        return {name: "" if name in gone else value for name, value in answer.items()}

    @abstractmethod
    def row(self, answer: Json) -> Sequence[Any]:
        """An answer as the cells of `columns` in the flat table of judgments."""


Paged = TypeVar("Paged", bound=PageSettings)


class PagedProtocol(Protocol[Paged, Wording]):
    """Pages of units of one kind, with golds among them."""

    def composition(self, settings: Paged) -> Mapping[str, int]:
        return {UNIT: settings.units_a_page, GOLD: settings.golds_a_page}


_registered: dict[str, Protocol[Any, Any]] = {}


def register(cls: type[Protocol[Any, Any]]) -> type[Protocol[Any, Any]]:
    _registered[cls.slug] = cls()
    return cls


@cache
def registry() -> Mapping[str, Protocol[Any, Any]]:
    package = import_module("hits.protocols")
    for module in pkgutil.iter_modules(package.__path__):
        import_module(f"{package.__name__}.{module.name}")
    return _registered


def protocol(slug: str) -> Protocol[Any, Any]:
    return registry()[slug]


def released_together(slug: str) -> frozenset[str]:
    """The protocols whose studies fit into one release with those of this one."""
    dataset = protocol(slug).dataset
    parts = {each.slug for each in registry().values() if dataset and each.dataset == dataset}
    return frozenset({slug} | parts)
