"""One run of the rater cycle against a web server, ours or a peer's, and its figures."""

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from bench.cluster import ROOT, BenchError, Cluster
from bench.machine import Meter, Usage, peak_memory_mb
from bench.web import Web

WARM_UP = 64
COUNTED = 64


@dataclass(frozen=True)
class Generator:
    process: subprocess.Popen[str]
    output: Path

    def work(self, cycles: int) -> dict[str, Any]:
        self._pipe(self.process.stdin).write(f"{cycles}\n")
        self._pipe(self.process.stdin).flush()
        self.wait_for("done")
        seen: dict[str, Any] = json.loads(self.output.read_text())
        return seen

    def wait_for(self, word: str) -> None:
        if self._pipe(self.process.stdout).readline().strip() != word:
            raise BenchError("The load generator has ended.")

    @staticmethod
    def _pipe(pipe: IO[str] | None) -> IO[str]:
        assert pipe is not None
        return pipe


@contextmanager
def generating(raters: str, web: Web, work: str, output: Path) -> Iterator[Generator]:
    with subprocess.Popen(
        [sys.executable, "-m", "bench.load", raters, web.url, work, output],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        generator = Generator(process, output)
        generator.wait_for("ready")
        try:
            yield generator
        finally:
            process.terminate()


@dataclass(frozen=True)
class Run:
    """The figures, the answers that were acknowledged, and statements by their shape."""

    figures: dict[str, Any]
    acknowledged: dict[str, list[str]]
    statements: Counter[str]


def measure(
    cluster: Cluster, database: str, web: Web, *, raters: str, work: str, cycles: int
) -> Run:
    """Statements are counted in a few cycles after those that are timed."""
    output = cluster.folder / "generator.json"
    with generating(raters, web, work, output) as generator:
        warm_up = generator.work(WARM_UP)
        parts = {"app": [web.pid], "postgres": [cluster.pid("postgres")]}
        meter = Meter({**parts, "valkey": [cluster.pid("valkey")]})
        timed = generator.work(cycles)
        usage = meter.usage()
        with cluster.counted_statements(database) as statements:
            counted = generator.work(COUNTED)
    if not timed["cycles"] or not counted["cycles"]:
        raise BenchError(f"No cycle was completed: {timed['first_errors'] or timed['errors']}")
    per_cycle = Counter({shape: n / counted["cycles"] for shape, n in statements.items()})
    figures = _figures(timed, usage) | {
        "statements_per_cycle": round(per_cycle.total(), 2),
        "peak_memory_mb": round(peak_memory_mb(web.pid)),
    }
    runs = (warm_up, timed, counted)
    acknowledged = {key: said for run in runs for key, said in run["acknowledged"].items()}
    return Run(figures, acknowledged, per_cycle)


def _figures(timed: dict[str, Any], usage: Usage) -> dict[str, Any]:
    by_part = usage.by_part | {"generator": timed["cpu_seconds"]}
    each = {name: round(1000 * used / timed["cycles"], 2) for name, used in by_part.items()}
    each["served"] = round(sum(each[part] for part in ("app", "postgres", "valkey")), 2)
    seen = ("milliseconds", "bytes", "reconnections", "errors", "first_errors")
    return {
        "cycles": timed["cycles"],
        "seconds": round(timed["seconds"], 2),
        "cycles_per_second": round(timed["cycles"] / timed["seconds"], 2),
        "cpu_ms_per_cycle": each,
        "foreign_cpu_share": usage.foreign_share(beside=timed["cpu_seconds"]),
        **{name: timed[name] for name in seen},
    }
