"""The live server of tests: no thread of it outlives the test whose requests it answers."""

import socket
from contextlib import suppress
from threading import Condition
from typing import Any

from django.core.servers.basehttp import ThreadedWSGIServer
from pytest_django.live_server_helper import LiveServer

# A request that is under way is answered first, on however crowded a machine.
LONGEST = 60


class Server(ThreadedWSGIServer):
    """A client that keeps its connection alive keeps a thread here, and that a session at the
    database; nothing but the client would end it."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._changed = Condition()
        self._connected: set[Any] = set()

    def process_request(self, request: Any, client_address: Any) -> None:
        with self._changed:
            self._connected.add(request)
        super().process_request(request, client_address)

    def close_request(self, request: Any) -> None:
        super().close_request(request)
        with self._changed:
            self._connected.discard(request)
            self._changed.notify_all()

    def hang_up(self) -> None:
        """Take no further request of those who are connected, and wait for the last answer."""
        with self._changed:
            for request in self._connected:
                # Who has gone already is not connected any more.
                with suppress(OSError):
                    request.shutdown(socket.SHUT_RD)
            assert self._changed.wait_for(lambda: not self._connected, LONGEST)


def started(address: str) -> LiveServer:
    server = LiveServer(address, start=False)
    server.thread.server_class = Server  # type: ignore[attr-defined]
    server.start()
    return server
