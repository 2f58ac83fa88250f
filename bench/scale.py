"""Scale: a study of CxC's size, 267,095 units with five judgments each, from rows to release."""

import argparse
from itertools import pairwise
from typing import Any

from bench import report
from bench.cluster import Cluster, cluster
from bench.cycle import TEMPLATE, prepare
from bench.inside import do
from bench.machine import Meter
from bench.web import environment

UNITS = 267_095
JUDGMENTS = 5
RATERS = 60
DATABASE = "scale"
# How much is done when pages are drawn.
PARTS = (0.0, 0.5, 0.99, 1.0)


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--units", type=int, default=UNITS)
    parser.add_argument("--judgments", type=int, default=JUDGMENTS, help="of each unit")
    parser.add_argument("--protocol", default="matching", help="one whose units rows make")


def run(options: argparse.Namespace) -> dict[str, Any]:
    with cluster() as servers:
        prepare(servers)
        figures = _Run(servers, options.protocol, options.units, options.judgments).measured()
    _tell(options, figures)
    return {"protocol": options.protocol, "units": options.units, **figures}


class _Run:
    def __init__(self, servers: Cluster, protocol: str, units: int, judgments: int) -> None:
        self.servers = servers
        self.protocol, self.units, self.judgments = protocol, units, judgments
        servers.make_database(DATABASE, TEMPLATE)
        self.settings = environment(servers, DATABASE)

    def measured(self) -> dict[str, Any]:
        rows = str(self.servers.folder / "rows.csv")
        self._do("scale-make", units=self.units, judgments=self.judgments, slug=self.protocol,
                 rows=rows)  # fmt: skip
        meter = Meter({"postgres": [self.servers.pid("postgres")]})
        steps = {"rows": self._do("scale-rows", file=rows), "open": self._do("scale-open")}
        draws = [self._draw(PARTS[0])]
        parts = []
        for done, more in pairwise(PARTS):
            parts.append(self._judge(done, more))
            if more < 1:
                draws.append(self._draw(more))
        steps |= {"judgments": _together(parts)}
        steps |= {"aggregate": self._do("scale-aggregate"), "release": self._do("scale-release")}
        steps |= {"report": self._do("scale-report")}
        return {
            "steps": steps,
            "parts": parts,
            "draws": draws,
            "foreign_cpu_share": meter.usage().foreign_share(),
        }

    def _draw(self, done: float) -> dict[str, Any]:
        return {"done": done, **self._do("scale-draw", raters=RATERS, name=f"at{done:g}")}

    def _judge(self, done: float, more: float) -> dict[str, Any]:
        file = str(self.servers.folder / "judgments.csv")
        self._do("scale-write", slug=self.protocol, file=file, first=int(done * self.units),
                 last=int(more * self.units), each=self.judgments)  # fmt: skip
        return self._do("scale-judgments", file=file)

    def _do(self, action: str, **arguments: Any) -> dict[str, Any]:
        report.say(f"{action} …")
        meter = Meter({"postgres": [self.servers.pid("postgres")]})
        done = do(action, self.settings, **arguments)
        return done | {"postgres_cpu_seconds": round(meter.usage().by_part["postgres"], 2)}


def _together(parts: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "judgments": sum(part["judgments"] for part in parts),
        "seconds": round(sum(part["seconds"] for part in parts), 2),
        "cpu_seconds": round(sum(part["cpu_seconds"] for part in parts), 2),
        "postgres_cpu_seconds": round(sum(part["postgres_cpu_seconds"] for part in parts), 2),
        "peak_memory_mb": max(part["peak_memory_mb"] for part in parts),
    }


def _tell(options: argparse.Namespace, figures: dict[str, Any]) -> None:
    steps = figures["steps"]
    judgments = steps["judgments"]["judgments"]
    names = {
        "rows": f"{steps['rows']['rows']:,} rows in",
        "open": "units opened",
        "judgments": f"{judgments:,} judgments in",
        "aggregate": "all units aggregated",
        "release": "released",
        "report": "report computed",
    }
    report.table(
        f"{options.units:,} units of {options.protocol}",
        ["", "seconds", "CPU seconds, ours", "PostgreSQL's", "peak MB"],
        [
            [name, f"{steps[key]['seconds']:.1f}", f"{steps[key]['cpu_seconds']:.1f}",
             f"{steps[key]['postgres_cpu_seconds']:.1f}", f"{steps[key]['peak_memory_mb']}"]
            for key, name in names.items()
        ],
    )  # fmt: skip
    report.table(
        f"The next page, for {RATERS} raters who are new",
        ["done", "units open", "p50 ms", "p95 ms", "the first, ms"],
        [
            [f"{draw['done']:.0%}", f"{draw['open_units']:,}", f"{draw['p50_ms']:.1f}",
             f"{draw['p95_ms']:.1f}", f"{draw['first_ms']:.1f}"]
            for draw in figures["draws"]
        ],
    )  # fmt: skip
    report.note(f"Others had {figures['foreign_cpu_share']:.0%} of the CPU meanwhile.")
