"""The demo as a newcomer starts it, on ports and in a folder of its own."""

import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.ports import two_free_ports

ROOT = Path(__file__).resolve().parents[2]
# Set by the tests for themselves; the demo has its own.
OF_TESTS = {"DATABASE_URL", "REDIS_URL", "DATA_DIR", "SECRET_KEY", "EMAIL_BACKEND"}


@dataclass(frozen=True)
class Demo:
    folder: Path
    port: int
    password: str
    workers_password: str

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def framed_at(self) -> str:
        """Where the marketplace's frames find it: another site than the marketplace's."""
        return f"http://localhost:{self.port}"

    @property
    def market(self) -> str:
        return f"http://127.0.0.1:{self.port + 1}"


@contextmanager
def running_demo(folder: Path) -> Iterator[Demo]:
    port = two_free_ports()
    command = [sys.executable, "-m", "annotation_app.launcher", "demo"]
    environment = {name: value for name, value in os.environ.items() if name not in OF_TESTS}
    # What the marketplace has is asked for, and decisions are paid, without a pause.
    environment |= {"SYNC_SECONDS": "2", "PAY_AFTER_SECONDS": "1"}
    with subprocess.Popen(
        [*command, "--folder", str(folder), "--port", str(port), "--images", "60"],
        cwd=ROOT,
        env={**environment, "SITE_URL": f"http://localhost:{port}"},
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        said = []
        for line in process.stdout or ():
            said.append(line)
            if "Ctrl-C" in line:
                break
        passwords = re.findall(r"password (\S+)", "".join(said))
        assert len(passwords) == 2, "".join(said)
        yield Demo(folder, port, *passwords)
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 0
    for each in (port, port + 1):
        with socket.socket() as probe:
            assert probe.connect_ex(("127.0.0.1", each)) != 0
