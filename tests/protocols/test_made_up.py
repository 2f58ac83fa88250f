"""A protocol is one module and one template: one that is made up here does all that others do."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.conf import LazySettings
from django.test import Client

from hits import protocol as contract
from hits import protocols
from hits.protocol import registry
from tests import making
from tests.protocols import made_up, test_contract
from tests.protocols.test_contract import Case

pytestmark = pytest.mark.django_db(transaction=True)

FOLDER = Path(made_up.__file__).parent
PROMISES = [promise for name, promise in vars(test_contract).items() if name.startswith("test_")]


@pytest.fixture
def added(monkeypatch: pytest.MonkeyPatch, settings: LazySettings) -> Iterator[str]:
    """The made-up protocol, as if its two files lay where those of the others lie."""
    registered = dict(registry())
    monkeypatch.setattr(contract, "_registered", registered)
    monkeypatch.setattr(protocols, "__path__", [*protocols.__path__, str(FOLDER)])
    engine: Any = settings.TEMPLATES[0]
    settings.TEMPLATES = [engine | {"DIRS": [*engine["DIRS"], FOLDER / "templates"]}]
    registry.cache_clear()
    assert "seasons" in registry()
    yield "seasons"
    del sys.modules["hits.protocols.seasons"]
    del protocols.seasons  # type: ignore[attr-defined]
    registry.cache_clear()


def test_there_is_one_module_and_one_template() -> None:
    files = [path.name for path in FOLDER.rglob("*.*") if path.suffix != ".pyc"]
    assert sorted(files) == ["__init__.py", "seasons.html", "seasons.py"]


@pytest.mark.parametrize("promise", PROMISES, ids=lambda promise: promise.__name__)
def test_it_keeps_the_contract(promise: Callable[[Case], None], added: str) -> None:
    promise(Case(added))


def test_it_is_in_the_gallery_and_can_be_chosen_for_a_study(added: str) -> None:
    client = Client()
    client.force_login(making.corpus(images=1).owner)
    assert "Does the text tell the season?" in client.get(f"/research/forms/{added}/").text
    assert "Seasons" in client.get("/research/studies/new/").text


def test_it_is_gone_when_its_files_are() -> None:
    assert "seasons" not in registry()
