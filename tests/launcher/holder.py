import json
import subprocess
import sys
import time
from pathlib import Path

import psutil

KEEP_SERVERS_RUNNING = """
import json, sys, time
from annotation_app import embedded, processes
if "--untied" in sys.argv:
    processes.dies_with_parent = lambda death_signal: None
with embedded.servers(sys.argv[1], durable=False) as urls:
    print(json.dumps(urls), flush=True)
    time.sleep(60)
"""


def servers_in(folder: Path) -> list[psutil.Process]:
    """The servers that run in the folder, with the processes that they have started."""
    pids = [json.loads(path.read_text())["pid"] for path in (folder / "run").glob("*.pid")]
    leaders = [psutil.Process(pid) for pid in pids]
    return leaders + [child for leader in leaders for child in leader.children(recursive=True)]


def everything_in(folder: Path) -> list[psutil.Process]:
    """Whatever works in the folder or keeps its data there, no matter who has started it."""
    return [process for process in psutil.process_iter() if _belongs_to(process, folder)]


def _belongs_to(process: psutil.Process, folder: Path) -> bool:
    try:
        places = (process.cwd(), process.environ().get("DATA_DIR", ""))
    except (psutil.AccessDenied, psutil.NoSuchProcess, psutil.ZombieProcess):
        return False
    return is_alive(process) and any(Path(place).is_relative_to(folder) for place in places)


def alive_after(seconds: float, processes: list[psutil.Process]) -> list[psutil.Process]:
    deadline = time.monotonic() + seconds
    while (alive := [process for process in processes if is_alive(process)]) and (
        time.monotonic() < deadline
    ):
        time.sleep(0.05)
    return alive


def is_alive(process: psutil.Process) -> bool:
    # A zombie has ended; that nobody has asked for its exit code yet is not our affair.
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


class Holder:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.process: subprocess.Popen[str] | None = None
        self.servers: list[psutil.Process] = []

    def start(self, *options: str) -> dict[str, str]:
        """Returns the addresses. --untied leaves the servers alive when the process is killed."""
        self.process = subprocess.Popen(
            [sys.executable, "-c", KEEP_SERVERS_RUNNING, str(self.folder), *options],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout is not None
        urls: dict[str, str] = json.loads(self.process.stdout.readline())
        self.servers = servers_in(self.folder)
        return urls

    def kill(self) -> None:
        assert self.process is not None
        self.process.kill()
        self.process.wait()

    def servers_alive_after(self, seconds: float) -> list[psutil.Process]:
        return alive_after(seconds, self.servers)

    def kill_everything(self) -> None:
        if self.process is not None:
            self.kill()
            assert self.process.stdout is not None
            self.process.stdout.close()
        for server in self.servers:
            if is_alive(server):
                server.kill()
