"""gunicorn, two processes of four threads, as the product runs; and commands beside it."""

import json
import secrets
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from annotation_app.processes import Child, Program, running
from bench.cluster import ROOT, BenchError, Cluster

WORKERS, THREADS = 2, 4
START_SECONDS = 60.0


@dataclass(frozen=True)
class Web:
    url: str
    child: Child

    @property
    def pid(self) -> int:
        return self.child.process.pid


def environment(cluster: Cluster, database: str) -> dict[str, str]:
    """Production's, on a database of the cluster."""
    return {
        "PATH": "/usr/bin:/bin",
        "PYTHONPATH": str(ROOT),
        "ENVIRONMENT": "production",
        "DJANGO_SETTINGS_MODULE": "bench.settings",
        "SECRET_KEY": secrets.token_hex(32),
        "ALLOWED_HOSTS": "127.0.0.1",
        "SITE_URL": "http://127.0.0.1",
        "DATABASE_URL": cluster.url(database),
        "REDIS_URL": cluster.servers.urls["REDIS_URL"],
        "DATA_DIR": str(cluster.folder / "data"),
        "STATIC_ROOT": str(cluster.folder / "static"),
        "EMAIL_BACKEND": "django.core.mail.backends.dummy.EmailBackend",
    }


@contextmanager
def serving(
    cluster: Cluster,
    application: str,
    settings: Mapping[str, str],
    *,
    python: str | Path = sys.executable,
    ready: str = "/health/",
) -> Iterator[Web]:
    port = _free_port()
    program = Program(
        name="web",
        command=[
            *(python, "-m", "gunicorn", application, "--bind", f"127.0.0.1:{port}"),
            *("--worker-class", "gthread", "--workers", str(WORKERS), "--threads", str(THREADS)),
            *("--graceful-timeout", "5", "--timeout", "1200"),
        ],
        environment=settings,
        stop_signals=[(signal.SIGTERM, 10.0), (signal.SIGQUIT, 5.0)],
        cwd=ROOT,
    )
    with running(program, cluster.folder) as child:
        web = Web(f"http://127.0.0.1:{port}", child)
        _wait_until(web, ready)
        yield web


def ask(command: Sequence[str | Path], settings: Mapping[str, str]) -> Any:
    """Run a command to its end; the last line it prints is JSON."""
    done = subprocess.run(
        command, env=dict(settings), cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False
    )
    if done.returncode:
        raise BenchError(f"{' '.join(map(str, command))} failed.")
    lines = done.stdout.splitlines()
    return json.loads(lines[-1]) if lines else None


def _wait_until(web: Web, path: str) -> None:
    deadline = time.monotonic() + START_SECONDS
    while True:
        try:
            with urllib.request.urlopen(web.url + path, timeout=5) as answer:
                if answer.status == 200:
                    return
        except (urllib.error.URLError, TimeoutError):
            pass
        if web.child.has_ended() or time.monotonic() > deadline:
            raise BenchError(f"The web server does not answer:\n{web.child.log_tail()}")
        time.sleep(0.1)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
