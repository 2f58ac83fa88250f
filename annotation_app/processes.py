"""Child processes that end with us, even when we end by kill -9."""

import ctypes
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

PR_SET_PDEATHSIG = 1

StopSignals = Sequence[tuple[signal.Signals, float]]


@dataclass(frozen=True)
class User:
    uid: int
    gid: int


class UserOptions(TypedDict, total=False):
    user: int
    group: int
    extra_groups: list[int]


@dataclass(frozen=True)
class Program:
    name: str
    command: Sequence[str | Path]
    environment: Mapping[str, str]
    # Each signal in turn, with the seconds it is given, until the process is gone.
    stop_signals: StopSignals
    # What it gets when we are gone; None stands for the first of stop_signals.
    death_signal: signal.Signals | None = None
    user: User | None = None
    cwd: Path | None = None


class Child:
    def __init__(self, program: Program, folder: Path) -> None:
        self.name = program.name
        self.log = folder / "log" / f"{program.name}.log"
        self.stop_signals = program.stop_signals
        self.pid_file = folder / "run" / f"{program.name}.pid"
        self.process = _start(program, self.log)
        _write_pid_file(self.pid_file, self.process.pid, program.stop_signals)

    def has_ended(self) -> bool:
        return self.process.poll() is not None

    def log_tail(self, lines: int = 20) -> str:
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-lines:])

    def stop(self) -> None:
        for stop_signal, patience in self.stop_signals:
            if self.has_ended():
                break
            self.process.send_signal(stop_signal)
            try:
                self.process.wait(patience)
            except subprocess.TimeoutExpired:
                continue
        _kill_group(self.process.pid)
        self.process.wait()
        self.pid_file.unlink(missing_ok=True)


@contextmanager
def running(program: Program, folder: Path) -> Iterator[Child]:
    child = Child(program, folder)
    try:
        yield child
    finally:
        child.stop()


def as_user(user: User | None) -> UserOptions:
    """The options of subprocess that hand a process to the user."""
    return {} if user is None else {"user": user.uid, "group": user.gid, "extra_groups": []}


def dies_with_parent(death_signal: signal.Signals) -> Callable[[], None] | None:
    """For preexec_fn, and for forks. Only Linux can do this; elsewhere the next start stops the
    orphans."""
    if sys.platform != "linux":
        return None
    prctl = ctypes.CDLL(None).prctl
    parent = os.getpid()

    def tie() -> None:
        prctl(PR_SET_PDEATHSIG, int(death_signal), 0, 0, 0)
        if os.getppid() != parent:
            os._exit(1)

    return tie


def stop_orphans(folder: Path) -> None:
    """Stop what a launcher that was killed has left running."""
    for pid_file in (folder / "run").glob("*.pid"):
        try:
            record = json.loads(pid_file.read_text())
        except json.JSONDecodeError:
            record = None
        if record and record["birth"] and birth(record["pid"]) == record["birth"]:
            _stop_stranger(record["pid"], record["birth"], record["stop"])
        pid_file.unlink()


def birth(pid: int) -> str | None:
    """What tells a process from a later one with the same pid; None when there is none."""
    if Path("/proc/self/stat").exists():
        return _birth_in_proc(pid)
    state, _, started = _ps(pid, "stat=,lstart=").partition(" ")
    return None if state.startswith("Z") else started.strip() or None


def command_of(pid: int) -> str:
    """The process's command line; nothing when there is no such process."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")
    except (FileNotFoundError, ProcessLookupError):
        return _ps(pid, "command=")


def _ps(pid: int, columns: str) -> str:
    command = ["ps", "-o", columns, "-p", str(pid)]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()


def _birth_in_proc(pid: int) -> str | None:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None
    state, started = fields[0], fields[19]
    boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    return None if state in "ZX" else f"{boot} {started}"


def _start(program: Program, log: Path) -> subprocess.Popen[bytes]:
    log.parent.mkdir(parents=True, exist_ok=True)
    if log.exists():
        log.replace(log.with_suffix(".previous.log"))
    death_signal = program.death_signal or program.stop_signals[0][0]
    with log.open("wb") as output:
        return subprocess.Popen(
            program.command,
            env=dict(program.environment),
            cwd=program.cwd,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            # Out of the terminal's reach: Ctrl-C comes to us, and we stop them in order.
            start_new_session=True,
            # Safe beside threads: it makes two system calls and takes no lock.
            preexec_fn=dies_with_parent(death_signal),
            **as_user(program.user),
        )


def _write_pid_file(pid_file: Path, pid: int, stop_signals: StopSignals) -> None:
    pid_file.parent.mkdir(parents=True, exist_ok=True)
    record = {
        "pid": pid,
        "birth": birth(pid),
        "stop": [list(pair) for pair in stop_signals],
    }
    pid_file.write_text(json.dumps(record))


def _stop_stranger(pid: int, born: str, stop_signals: Sequence[tuple[int, float]]) -> None:
    for stop_signal, patience in (*stop_signals, (signal.SIGKILL, 5.0)):
        try:
            os.kill(pid, stop_signal)
        except ProcessLookupError:
            break
        deadline = time.monotonic() + patience
        while time.monotonic() < deadline and birth(pid) == born:
            time.sleep(0.05)
        if birth(pid) != born:
            break
    _kill_group(pid)


def _kill_group(leader: int) -> None:
    # macOS answers "not permitted" for a group whose members are all gone.
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, signal.SIGKILL)
