"""The contract of a protocol, and the registry of those there are.

A protocol is one module in hits/protocols and one template. It knows neither the database nor
the other protocols: payloads, answers and settings are plain data.
"""

import pkgutil
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module
from random import Random
from typing import Any, ClassVar, Generic, TypeVar

from pydantic import BaseModel, ConfigDict

from hits.records import Aggregate, Fields, Items, Json, Option, Query, ReleaseSource, UnitDraft


class Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class FieldErrors(Exception):
    """What is missing or wrong in an answer, by field."""

    def __init__(self, errors: Mapping[str, str]) -> None:
        super().__init__(str(dict(errors)))
        self.errors = dict(errors)


Settings = TypeVar("Settings", bound=Frozen)
Wording = TypeVar("Wording", bound=Frozen)


class Protocol(ABC, Generic[Settings, Wording]):
    slug: ClassVar[str]
    name: ClassVar[str]
    template: ClassVar[str]
    settings_model: type[Settings]
    shown_settings: ClassVar[frozenset[str]] = frozenset()
    wording_model: type[Wording]

    @abstractmethod
    def composition(self, settings: Settings) -> Mapping[str, int]:
        """How many units of each pool a page has. The first pool is the one to be judged."""

    def fill(self, settings: Settings) -> Sequence[str]:
        """The pools that fill a page when the first runs short, in order."""
        return []

    @abstractmethod
    def units(
        self, queries: Iterable[Query], targets: Sequence[int], settings: Settings, random: Random
    ) -> Iterator[UnitDraft]:
        """What the machines proposed, as units to judge and golds, query by query."""

    @abstractmethod
    def items(self, payload: Json) -> tuple[Sequence[int], Sequence[int]]:
        """The ids of the images and of the captions that a unit shows."""

    def arrange(self, payload: Json, random: Random) -> Json | None:
        """What is decided by chance when a unit is put on a page; stored beside the answer."""
        return None

    @abstractmethod
    def show(self, payload: Json, shown: Json | None, items: Items) -> Json:
        """What the page says of a unit: never its gold, its machine or its ids."""

    @abstractmethod
    def form(self, settings: Settings, wording: Wording) -> Mapping[str, list[Option]]: ...

    @abstractmethod
    def parse(self, fields: Fields, shown: Json | None, settings: Settings) -> Json:
        """The answer to store, or FieldErrors."""

    @abstractmethod
    def check(self, answer: Json, gold: Json) -> bool: ...

    @abstractmethod
    def describe(self, answer: Json, wording: Wording) -> str:
        """An answer, or a gold, in words for reviewers."""

    @abstractmethod
    def aggregate(self, answers: Sequence[Json]) -> Aggregate: ...

    def export(self, source: ReleaseSource, settings: Settings) -> Mapping[str, Iterable[str]]:
        """The files of the protocol's public format, by name, as streams of text."""
        return {}

    columns: ClassVar[Sequence[str]]

    @abstractmethod
    def row(self, answer: Json) -> Sequence[Any]:
        """An answer as the cells of `columns` in the flat table of judgments."""


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
