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
# Set by the tests for themselves; the demo has its own.
TEST_SETTINGS = ("ENVIRONMENT", "SECRET_KEY", "ALLOWED_HOSTS", "DATA_DIR", "EMAIL_BACKEND")


@pytest.fixture(autouse=True)
def _no_settings_of_the_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in TEST_SETTINGS:
        monkeypatch.delenv(name, raising=False)


@contextmanager
def demo(folder: Path, port: int) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "annotation_app.launcher", "demo"]
    with subprocess.Popen(
        [*command, "--folder", str(folder), "--port", str(port), "--images", "150"],
        cwd=BASE_DIR,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def read_until(process: subprocess.Popen[str], words: str) -> str:
    assert process.stdout is not None
    read = ""
    for line in process.stdout:
        read += line
        if words in line:
            return read
    pytest.fail(f"the demo ended before it said {words!r}:\n{read}")


@pytest.fixture(scope="module")
def port() -> int:
    return two_free_ports()


def test_the_demo_runs_until_ctrl_c_and_leaves_nothing_running(folder: Path, port: int) -> None:
    with demo(folder, port) as process:
        said = read_until(process, "Ctrl-C stops everything")
        assert f"http://127.0.0.1:{port}" in said
        for served in (port, port + 1):
            with urllib.request.urlopen(f"http://127.0.0.1:{served}/health/") as answer:
                assert answer.status == 200
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 0
    assert everything_in(folder) == []


def test_a_second_start_tells_the_same_logins_without_filling_anything(
    folder: Path, port: int
) -> None:
    logins = []
    for _ in range(2):
        with demo(folder, port) as process:
            said = read_until(process, "Ctrl-C stops everything")
            process.send_signal(signal.SIGINT)
            process.wait(30)
        logins.append(said.partition("Log in as")[2].partition("Logs are in")[0])
    assert "with the password" in logins[0]
    assert logins[1] == logins[0]
    assert "A study with answers in it" not in said
    assert (folder / "demo-logins").stat().st_mode & 0o077 == 0


def test_kill_9_of_the_demo_leaves_nothing_running(folder: Path, port: int) -> None:
    with demo(folder, port) as process:
        read_until(process, "Ctrl-C stops everything")
        assert everything_in(folder) != []
        process.kill()
    deadline = time.monotonic() + 30
    while everything_in(folder) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert everything_in(folder) == []


def test_a_second_demo_on_the_same_folder_is_refused(folder: Path, port: int) -> None:
    with demo(folder, port) as process:
        read_until(process, "✓ PostgreSQL and Valkey")
        with demo(folder, port + 1) as second:
            read_until(second, f"is in use by process {process.pid}")
            assert second.wait(30) == 1
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0


def test_a_part_that_dies_is_named_and_everything_stops(folder: Path, port: int) -> None:
    with demo(folder, port) as process:
        read_until(process, "Ctrl-C stops everything")
        valkey = json.loads((folder / "run/valkey.pid").read_text())["pid"]
        os.kill(valkey, signal.SIGKILL)
        said = read_until(process, "has ended")
        assert process.wait(30) == 1
    assert "valkey has ended" in said
    assert everything_in(folder) == []


def test_the_demo_has_a_marketplace_with_workers_and_a_requester(folder: Path, port: int) -> None:
    with demo(folder, port) as process:
        said = read_until(process, "Ctrl-C stops everything")
        market = said.partition(f"http://127.0.0.1:{port + 1}")[2]
        found = re.search(r"wanda .*with the password (\S+)", market, re.DOTALL)
        assert found is not None
        form = urlencode({"name": "wanda", "password": found[1]}).encode()
        origin = f"http://127.0.0.1:{port + 1}"
        login = urllib.request.Request(f"{origin}/login/", form, {"Origin": origin})
        with urllib.request.build_opener(HTTPCookieProcessor()).open(login) as answer:
            assert "wanda" in answer.read().decode()
        assert requesters_balance(folder, origin) == "1000.00"
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 0


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
    with socket.create_server(("127.0.0.1", port)), demo(folder, first) as process:
        said = read_until(process, "cannot be used")
        assert process.wait(30) == 1
    assert f"Port {port} of 127.0.0.1" in said
    assert f"PORT={port + 1} make demo" in said
