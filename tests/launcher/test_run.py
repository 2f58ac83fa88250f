import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from annotation_app.launcher import main
from tests.launcher.holder import Holder, alive_after

LAUNCHER = [sys.executable, "-m", "annotation_app.launcher"]


def run(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*LAUNCHER, "run", "--fast", "--folder", folder, "--", *command],
        capture_output=True,
        text=True,
        check=False,
        timeout=30,
    )


def test_a_command_finds_both_servers_and_its_exit_code_is_ours(folder: Path) -> None:
    answer = run(folder, "sh", "-c", "echo $DATABASE_URL $REDIS_URL; exit 7")
    database, valkey = answer.stdout.split()
    assert database.startswith("postgresql://annotation:")
    assert valkey.startswith("redis://:")
    assert answer.returncode == 7


def test_the_secret_key_stays_the_same_from_start_to_start(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SECRET_KEY", raising=False)
    first, second = (run(folder, "sh", "-c", "echo $SECRET_KEY").stdout for _ in range(2))
    assert first == second
    assert len(first.strip()) >= 50


def test_what_the_environment_says_is_kept(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATA_DIR", "/elsewhere")
    assert run(folder, "sh", "-c", "echo $DATA_DIR").stdout == "/elsewhere\n"


def test_a_command_of_a_demo_on_another_port_finds_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SITE_URL", raising=False)
    monkeypatch.setenv("PORT", "9000")
    secret = folder / "marketplace_secret_key"
    secret.write_text("s" * 60)
    answer = run(folder, "sh", "-c", "echo $SITE_URL $CHANNEL_LOCAL_URL")
    secret.unlink()
    assert answer.stdout.split() == ["http://127.0.0.1:9000", "http://127.0.0.1:9001"]


def test_a_command_joins_servers_that_are_running(folder: Path, holder: Holder) -> None:
    urls = holder.start()
    answer = run(folder, "sh", "-c", "echo $DATABASE_URL $REDIS_URL")
    assert answer.stdout.split() == [urls["DATABASE_URL"], urls["REDIS_URL"]]


def test_a_refusal_is_said_in_one_message_without_a_traceback(new_folder: Path) -> None:
    (new_folder / "postgres").mkdir(parents=True)
    (new_folder / "postgres/PG_VERSION").write_text("16\n")
    answer = run(new_folder, "true")
    assert answer.returncode == 1
    assert "holds data of PostgreSQL 16" in answer.stderr.replace("\n", " ")
    assert "Traceback" not in answer.stderr


@pytest.mark.parametrize("stop", [signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
def test_a_stopped_launcher_leaves_neither_command_nor_servers(
    folder: Path, stop: signal.Signals
) -> None:
    command = ["sh", "-c", "echo ready; sleep 60"]
    with subprocess.Popen(
        [*LAUNCHER, "run", "--fast", "--folder", folder, "--", *command],
        stdout=subprocess.PIPE,
    ) as launcher:
        assert launcher.stdout is not None
        launcher.stdout.readline()
        tied = psutil.Process(launcher.pid).children()
        launcher.send_signal(stop)
        launcher.wait(10)
    assert alive_after(5, tied) == []


@pytest.mark.parametrize("images", ["49", "100001", "-60", "many"])
def test_a_demo_of_another_size_than_it_can_have_is_refused_before_anything_starts(
    images: str, new_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(["demo", f"--images={images}", "--folder", str(new_folder)])
    assert f"--images: from 50 to 100,000, not {images}" in capsys.readouterr().err
    assert not new_folder.exists()
