from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from signal import SIGTERM

import redis

from annotation_app.embedded.binaries import valkey_program
from annotation_app.embedded.ownership import (
    local_secret,
    make_own_folder,
    write_private,
)
from annotation_app.embedded.starting import SERVER_ENVIRONMENT, started_on_free_port
from annotation_app.processes import Child, Program, User


@dataclass(frozen=True)
class Valkey:
    folder: Path
    data: Path
    user: User | None
    durable: bool

    @contextmanager
    def running(self) -> Iterator[tuple[Child, str]]:
        binary = valkey_program(self.user)
        password = local_secret(self.folder / "valkey.password")
        make_own_folder(self.data, self.user)

        def program(port: int) -> Program:
            # In a file, since everybody on the machine can read a command line.
            configuration = self.data / "valkey.conf"
            write_private(configuration, self._configuration(port, password), self.user)
            return Program(
                name="valkey",
                command=[binary, configuration],
                environment=SERVER_ENVIRONMENT,
                stop_signals=[(SIGTERM, 10.0)],
                user=self.user,
                cwd=self.data,
            )

        def is_ready(_child: Child, port: int) -> bool:
            with closing(redis.Redis(host="127.0.0.1", port=port, password=password)) as client:
                try:
                    return bool(client.ping())
                except (redis.ConnectionError, redis.exceptions.BusyLoadingError):
                    return False

        with started_on_free_port(program, self.folder, is_ready) as (child, port):
            yield child, f"redis://:{password}@127.0.0.1:{port}/0"

    def _configuration(self, port: int, password: str) -> str:
        lines = [
            "bind 127.0.0.1",
            f"port {port}",
            f"requirepass {password}",
            "save 60 1" if self.durable else 'save ""',
        ]
        return "\n".join(lines) + "\n"
