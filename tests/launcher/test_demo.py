"""make demo from start to stop, as its user sees it."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlencode
from urllib.request import HTTPCookieProcessor

import boto3
import pytest

from annotation_app.demo_marketplace import marketplace_environment
from tests.launcher.holder import everything_in
from tests.ports import two_free_ports

BASE_DIR = Path(__file__).resolve().parents[2]
PATIENCE_SECONDS = 120
# Set by the tests for themselves; the demo has its own.
TEST_SETTINGS = ("ENVIRONMENT", "SECRET_KEY", "ALLOWED_HOSTS", "DATA_DIR", "EMAIL_BACKEND")


@pytest.fixture(autouse=True)
def _no_settings_of_the_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in TEST_SETTINGS:
        monkeypatch.delenv(name, raising=False)


class Demo:
    """As its user has it: started, and ended by whatever the test does to it."""

    def __init__(self, folder: Path, port: int) -> None:
        command = [sys.executable, "-m", "annotation_app.launcher", "demo", "--images", "60"]
        self.process = subprocess.Popen(
            [*command, "--folder", str(folder), "--port", str(port)],
            cwd=BASE_DIR,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def says(self, words: str) -> str:
        """What it says until it says this."""
        assert self.process.stdout is not None
        read = ""
        for line in self.process.stdout:
            read += line
            if words in line:
                return read
        pytest.fail(f"the demo ended before it said {words!r}:\n{read}")

    def interrupt(self) -> int:
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(PATIENCE_SECONDS)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()
        if self.process.stdout is not None:
            self.process.stdout.close()


@contextmanager
def demo(folder: Path, port: int) -> Iterator[Demo]:
    started = Demo(folder, port)
    try:
        yield started
    finally:
        started.kill()


class Demos:
    """One after the other in one folder. Starting takes long: who only looks at a demo leaves it
    to the next test, and who ends it makes that one start another."""

    def __init__(self, folder: Path, port: int) -> None:
        self.folder, self.port = folder, port
        self.said: list[str] = []
        self.last: Demo | None = None

    def running(self) -> Demo:
        if self.last is None or self.last.process.poll() is not None:
            self.end()
            self.last = Demo(self.folder, self.port)
            self.said.append(self.last.says("Ctrl-C stops everything"))
        return self.last

    def end(self) -> None:
        if self.last is not None:
            self.last.kill()


@pytest.fixture(scope="module")
def port() -> int:
    return two_free_ports()


@pytest.fixture(scope="module")
def demos(folder: Path, port: int) -> Iterator[Demos]:
    made = Demos(folder, port)
    yield made
    made.end()


def test_the_demo_answers_where_it_says(demos: Demos) -> None:
    demos.running()
    assert f"http://127.0.0.1:{demos.port}" in demos.said[-1]
    for served in (demos.port, demos.port + 1):
        with urllib.request.urlopen(f"http://127.0.0.1:{served}/health/") as answer:
            assert answer.status == 200


def test_the_demo_has_a_marketplace_with_workers_and_a_requester(demos: Demos) -> None:
    demos.running()
    origin = f"http://127.0.0.1:{demos.port + 1}"
    market = demos.said[-1].partition(origin)[2]
    found = re.search(r"wanda .*with the password (\S+)", market, re.DOTALL)
    assert found is not None
    form = urlencode({"name": "wanda", "password": found[1]}).encode()
    login = urllib.request.Request(f"{origin}/login/", form, {"Origin": origin})
    with urllib.request.build_opener(HTTPCookieProcessor()).open(login) as answer:
        assert "wanda" in answer.read().decode()
    assert requesters_balance(demos.folder, origin) == "1000.00"


def test_a_second_demo_on_the_same_folder_is_refused(demos: Demos) -> None:
    first = demos.running()
    with demo(demos.folder, two_free_ports()) as second:
        second.says(f"is in use by process {first.process.pid}")
        assert second.process.wait(PATIENCE_SECONDS) == 1
    assert first.process.poll() is None


def test_ctrl_c_leaves_nothing_running(demos: Demos) -> None:
    assert demos.running().interrupt() == 0
    assert everything_in(demos.folder) == []


def test_a_second_start_tells_the_same_logins_without_filling_anything(demos: Demos) -> None:
    if not demos.said:
        demos.running().interrupt()
    demos.running()
    first, last = (
        said.partition("Log in as")[2].partition("Logs are in")[0]
        for said in (demos.said[0], demos.said[-1])
    )
    assert "with the password" in first
    assert last == first
    assert "A study with answers in it" in demos.said[0]
    assert "A study with answers in it" not in demos.said[-1]
    assert (demos.folder / "demo-logins").stat().st_mode & 0o077 == 0


def test_a_part_that_dies_is_named_and_everything_stops(demos: Demos) -> None:
    running = demos.running()
    valkey = json.loads((demos.folder / "run/valkey.pid").read_text())["pid"]
    os.kill(valkey, signal.SIGKILL)
    said = running.says("has ended")
    assert running.process.wait(PATIENCE_SECONDS) == 1
    assert "valkey has ended" in said
    assert everything_in(demos.folder) == []


def test_sigterm_while_it_starts_leaves_nothing_running(demos: Demos) -> None:
    demos.end()
    with demo(demos.folder, demos.port) as starting:
        starting.says("✓ PostgreSQL and Valkey")
        starting.process.send_signal(signal.SIGTERM)
        assert starting.process.wait(PATIENCE_SECONDS) == 0
    assert everything_in(demos.folder) == []


def test_kill_9_of_the_demo_leaves_nothing_running(demos: Demos) -> None:
    running = demos.running()
    assert everything_in(demos.folder) != []
    running.kill()
    deadline = time.monotonic() + PATIENCE_SECONDS
    while everything_in(demos.folder) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert everything_in(demos.folder) == []


def requesters_balance(folder: Path, endpoint: str) -> str:
    settings = marketplace_environment(folder, 0)
    client = boto3.client(
        "mturk",
        endpoint_url=endpoint,
        region_name="us-east-1",
        aws_access_key_id=settings["CHANNEL_LOCAL_ACCESS_KEY"],
        aws_secret_access_key=settings["CHANNEL_LOCAL_SECRET_KEY"],
    )
    return str(client.get_account_balance()["AvailableBalance"])


@pytest.mark.parametrize("offset", [0, 1], ids=["the web server's", "the marketplace's"])
def test_a_port_in_use_is_said(folder: Path, offset: int) -> None:
    first = two_free_ports()
    port = first + offset
    with socket.create_server(("127.0.0.1", port)), demo(folder, first) as refused:
        said = refused.says("cannot be used")
        assert refused.process.wait(PATIENCE_SECONDS) == 1
    assert f"Port {port} of 127.0.0.1" in said
    assert f"PORT={port + 1} make demo" in said
