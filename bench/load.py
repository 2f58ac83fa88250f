"""The load generator, a process of its own: raters who work, each on a connection of theirs.

It says "ready" when all are logged in, then takes lines of numbers from its standard input: for
each it does so many cycles and prints what it saw as JSON.
"""

import argparse
import asyncio
import importlib
import json
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from bench.people import RATERS
from bench.rater import Failed, NothingLeft, Rater, Seen

GIVE_UP_AFTER = 20
LOGINS_AT_ONCE = 4
WHOLE = "cycle"


async def work(raters: list[Rater], cycles: int) -> dict[str, Any]:
    seen = Seen()
    left = cycles

    async def go_on(rater: Rater) -> None:
        nonlocal left
        failures = 0
        rater.seen = seen
        while left > 0 and failures < GIVE_UP_AFTER:
            left -= 1
            started = time.perf_counter()
            try:
                await rater.cycle()
            except Failed:
                left += 1
                failures += 1
            except NothingLeft:
                return
            else:
                seen.seconds[WHOLE].append(time.perf_counter() - started)
                seen.cycles += 1
                failures = 0

    started, cpu = time.perf_counter(), time.process_time()
    await asyncio.gather(*map(go_on, raters))
    return _summary(seen, time.perf_counter() - started, time.process_time() - cpu)


def _summary(seen: Seen, seconds: float, cpu: float) -> dict[str, Any]:
    return {
        "cycles": seen.cycles,
        "seconds": seconds,
        "cpu_seconds": cpu,
        "milliseconds": {step: _percentiles(found) for step, found in seen.seconds.items()},
        "bytes": {step: round(n / len(seen.seconds[step])) for step, n in seen.bytes.items()},
        "reconnections": seen.reconnections,
        "errors": dict(seen.errors),
        "first_errors": seen.first_errors,
        "acknowledged": seen.acknowledged,
    }


def _percentiles(seconds: list[float]) -> dict[str, float]:
    ordered = sorted(seconds)
    return {
        f"p{share}": round(1000 * ordered[min(len(ordered) - 1, len(ordered) * share // 100)], 1)
        for share in (50, 95, 99)
    }


async def _generate(kind: type[Rater], site: str, the_work: str, output: Path) -> None:
    raters = [kind(site, number, the_work) for number in range(RATERS)]
    for first in range(0, RATERS, LOGINS_AT_ONCE):
        await _together([rater.log_in for rater in raters[first : first + LOGINS_AT_ONCE]])
    print("ready", flush=True)
    while line := await asyncio.to_thread(sys.stdin.readline):
        output.write_text(json.dumps(await work(raters, int(line))))
        print("done", flush=True)
    await _together([rater.session.close for rater in raters])


async def _together(calls: list[Callable[[], Awaitable[None]]]) -> None:
    await asyncio.gather(*(call() for call in calls))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m bench.load")
    for name in ("raters", "site", "work", "output"):
        parser.add_argument(name)
    asked = parser.parse_args()
    module, _, class_name = asked.raters.partition(":")
    rater_class = getattr(importlib.import_module(module), class_name)
    asyncio.run(_generate(rater_class, asked.site, asked.work, Path(asked.output)))
