"""How long a function takes here: by the clock, and in CPU seconds of all threads."""

import time
from collections.abc import Callable
from typing import Any, TypeVar

Result = TypeVar("Result")


def timed(function: Callable[[], Result]) -> tuple[Result, dict[str, float]]:
    clock, cpu = time.perf_counter(), time.process_time()
    result = function()
    return result, {
        "seconds": time.perf_counter() - clock,
        "cpu_seconds": time.process_time() - cpu,
    }


def best_of(times: int, function: Callable[[], Result]) -> tuple[Result, dict[str, float]]:
    """The run that took the least CPU: the one that others on the machine disturbed least."""
    runs = [timed(function) for _ in range(times)]
    return min(runs, key=lambda run: run[1]["cpu_seconds"])


def row(name: str, taken: dict[str, Any], ours: dict[str, Any]) -> list[str]:
    ratios = [
        f"{taken[unit] / ours[unit]:.0f} ×" if taken is not ours else ""
        for unit in ("seconds", "cpu_seconds")
    ]
    return [name, f"{taken['seconds']:.2f}", f"{taken['cpu_seconds']:.2f}", *ratios]


COLUMNS = ["", "seconds", "CPU seconds", "ours is faster, by the clock", "in CPU"]
