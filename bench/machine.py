"""What processes use: CPU seconds and peak memory, as the kernel counts them."""

import os
import platform
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import psutil


def cpu_seconds(pid: int) -> float:
    """Of a process, its living descendants, and those it has waited for."""
    total = 0.0
    for process in [psutil.Process(pid), *psutil.Process(pid).children(recursive=True)]:
        try:
            times = process.cpu_times()
        except psutil.NoSuchProcess:
            continue
        total += times.user + times.system + times.children_user + times.children_system
    return total


def machine_cpu_seconds() -> float:
    times = psutil.cpu_times()
    return float(times.user + times.nice + times.system + times.irq + times.softirq)


def peak_memory_mb(pid: int) -> float:
    """The largest of a process and its living descendants, at the most it ever had."""
    pids = [pid, *(child.pid for child in psutil.Process(pid).children(recursive=True))]
    return max(_peak_mb(each) for each in pids)


def _peak_mb(pid: int) -> float:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / 1024
    return 0.0


def describe() -> dict[str, str | int | float]:
    return {
        "cores": os.cpu_count() or 0,
        "memory_gb": round(psutil.virtual_memory().total / 2**30, 1),
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
    }


@dataclass(frozen=True)
class Usage:
    """CPU seconds between two moments, by part; `foreign` belongs to none of them."""

    by_part: dict[str, float]
    machine: float

    def foreign_share(self, beside: float = 0.0) -> float:
        """`beside` are CPU seconds of ours that were counted elsewhere."""
        foreign = self.machine - sum(self.by_part.values()) - beside
        return round(max(0.0, foreign) / self.machine, 3) if self.machine else 0.0


class Meter:
    """Counts from its making on. This process is one of the parts, with the
    children it has waited for."""

    def __init__(self, parts: dict[str, Iterable[int]]) -> None:
        self.parts = {name: list(pids) for name, pids in parts.items()}
        self._start = self._now()
        self._machine = machine_cpu_seconds()

    def usage(self) -> Usage:
        by_part = {name: value - self._start[name] for name, value in self._now().items()}
        return Usage(by_part, machine_cpu_seconds() - self._machine)

    def _now(self) -> dict[str, float]:
        now = {name: sum(map(cpu_seconds, pids)) for name, pids in self.parts.items()}
        return now | {"bench": sum(os.times()[:4])}
