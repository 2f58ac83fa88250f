import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.launcher.holder import Holder


@pytest.fixture(autouse=True)
def _no_servers_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DATABASE_URL", raising=False)
    monkeypatch.delenv("REDIS_URL", raising=False)


def open_folder() -> Path:
    """One that every user may enter, which pytest's own folders are not."""
    made = Path(tempfile.mkdtemp(prefix="launcher-"))
    made.chmod(0o755)
    return made


@pytest.fixture(scope="session")
def folder() -> Iterator[Path]:
    """Where servers have run before, which makes for a faster start; the tests share it."""
    made = open_folder()
    yield made / "var"
    shutil.rmtree(made)


@pytest.fixture
def new_folder() -> Iterator[Path]:
    """Where no server has ever run."""
    made = open_folder()
    yield made / "var"
    shutil.rmtree(made)


@pytest.fixture
def holder(folder: Path) -> Iterator[Holder]:
    """A process of its own that keeps servers running in the folder."""
    held = Holder(folder)
    yield held
    held.kill_everything()
