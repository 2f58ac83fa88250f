import fcntl
import json
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from annotation_app.embedded.errors import FolderInUse, ServersError
from annotation_app.embedded.ownership import place_for_data, server_user, write_private
from annotation_app.embedded.postgres import Postgres
from annotation_app.embedded.valkey import Valkey
from annotation_app.processes import Child, stop_orphans


@dataclass(frozen=True)
class Servers:
    urls: Mapping[str, str]
    children: tuple[Child, ...]


@contextmanager
def servers(folder: Path | str, *, durable: bool = True) -> Iterator[dict[str, str]]:
    """DATABASE_URL and REDIS_URL: as the environment has them, else of servers started here."""
    with running_servers(Path(folder), durable=durable) as started:
        yield dict(started.urls)


@contextmanager
def running_servers(folder: Path, *, durable: bool = True) -> Iterator[Servers]:
    folder = folder.absolute()
    urls = {name: os.environ.get(name, "") for name in ("DATABASE_URL", "REDIS_URL")}
    kinds: dict[str, type[Postgres | Valkey]] = {
        "DATABASE_URL": Postgres,
        "REDIS_URL": Valkey,
    }
    children = []
    with ExitStack() as stack:
        user = server_user(folder)
        stack.enter_context(_sole_use_of(folder))
        stop_orphans(folder)
        place = stack.enter_context(place_for_data(folder, user, keep=durable))
        for name, kind in kinds.items():
            if not urls[name]:
                data = place / kind.__name__.lower()
                server = kind(folder=folder, data=data, user=user, durable=durable)
                child, urls[name] = stack.enter_context(server.running())
                children.append(child)
        stack.enter_context(_published(folder, urls))
        yield Servers(urls, tuple(children))


def urls_of_running_servers(folder: Path) -> dict[str, str] | None:
    """Where another process has its servers on this folder; None when it has none."""
    try:
        with _sole_use_of(folder.absolute()):
            return None
    except FolderInUse:
        try:
            return dict(json.loads(_published_file(folder).read_text()))
        except FileNotFoundError:
            return None


def erase_data(folder: Path) -> None:
    """Remove the folder, and what lies outside it because the servers could not enter it."""
    if not folder.exists():
        return
    with _sole_use_of(folder):
        stop_orphans(folder)
        for link in folder.iterdir():
            if link.is_symlink():
                shutil.rmtree(link.resolve(), ignore_errors=True)
        shutil.rmtree(folder)


@contextmanager
def _sole_use_of(folder: Path) -> Iterator[None]:
    with _lock_file(folder) as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.seek(0)
            raise FolderInUse(
                f"{folder} is in use by process {lock.read()}. "
                "Stop that one first, or use another folder."
            ) from None
        lock.truncate(0)
        lock.write(str(os.getpid()))
        lock.flush()
        yield


def _lock_file(folder: Path) -> TextIO:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return (folder / "lock").open("a+")
    except PermissionError as error:
        raise ServersError(f"{folder} cannot be written: {error}") from error


@contextmanager
def _published(folder: Path, urls: Mapping[str, str]) -> Iterator[None]:
    published = _published_file(folder)
    write_private(published, json.dumps(dict(urls)))
    try:
        yield
    finally:
        published.unlink(missing_ok=True)


def _published_file(folder: Path) -> Path:
    return folder / "run" / "urls.json"
