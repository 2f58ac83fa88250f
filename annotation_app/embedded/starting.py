import os
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from annotation_app.embedded.errors import ServersError
from annotation_app.processes import Child, Program, running

ATTEMPTS = 3
# Long enough for PostgreSQL to recover after a crash.
PATIENCE_SECONDS = 120.0
SERVER_ENVIRONMENT = {"PATH": os.defpath, "LC_ALL": "C", "TZ": "UTC"}


@contextmanager
def started_on_free_port(
    program: Callable[[int], Program],
    folder: Path,
    is_ready: Callable[[Child, int], bool],
) -> Iterator[tuple[Child, int]]:
    # Somebody may take the port between our looking for one and the server's binding it.
    for attempt in range(1, ATTEMPTS + 1):
        port = _free_port()
        with running(program(port), folder) as child:
            _wait_until_ready_or_ended(child, partial(is_ready, child, port))
            if not child.has_ended():
                yield child, port
                return
        if attempt == ATTEMPTS:
            raise ServersError(f"{child.name} did not start:\n{child.log_tail()}")


def _wait_until_ready_or_ended(child: Child, is_ready: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not child.has_ended() and not is_ready():
        if time.monotonic() > deadline:
            raise ServersError(f"{child.name} did not get ready:\n{child.log_tail()}")
        time.sleep(0.02)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
