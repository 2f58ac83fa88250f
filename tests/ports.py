import random
import socket
from contextlib import ExitStack


def two_free_ports() -> int:
    """The first of two neighbouring ports that nothing uses, below those that the system gives to
    whoever asks for any."""
    while True:
        port = random.SystemRandom().randrange(20_000, 32_000, 2)
        with ExitStack() as held:
            try:
                for each in (port, port + 1):
                    probe = held.enter_context(socket.socket())
                    probe.bind(("127.0.0.1", each))
            except OSError:
                continue
            return port
