"""What people read of a measurement."""

import sys
from collections import Counter
from typing import Any

from rich.console import Console
from rich.table import Table

from bench.peers.figures import EARLIER

console = Console(width=160)


def say(text: str) -> None:
    Console(file=sys.stderr).print(text, style="dim", highlight=False)


def table(title: str, columns: list[str], rows: list[list[str]]) -> None:
    made = Table(title=title, title_justify="left", header_style="bold")
    made.add_column(columns[0])
    for column in columns[1:]:
        made.add_column(column, justify="right")
    for row in rows:
        made.add_row(*row)
    console.print(made)


def note(text: str) -> None:
    console.print(text, highlight=False)


def note_on_earlier() -> None:
    note("* measured earlier on such a machine, not in this run; see bench/peers/figures.py")


def peer_row(name: str, figures: dict[str, Any], our_seconds: float) -> list[str]:
    seconds = figures["total_seconds"]
    faster = f"{seconds / our_seconds:.1f} × faster"
    return [name, f"{seconds:.2f}", f"{figures['peak_memory_mb']:.0f}", faster]


def cycles(runs: list[dict[str, Any]]) -> None:
    columns = [
        "",
        "cycles/s",
        "CPU ms a cycle",
        "app",
        "PostgreSQL",
        "Valkey",
        "generator",
        "statements",
        "errors",
        "foreign CPU",
    ]
    rows = [_cycle_row(run) for run in runs]
    for peer in EARLIER:
        known = [f"{peer.cycles_per_second:.1f}", f"{peer.cpu_ms_per_cycle:.1f}"]
        rows.append([f"{peer.name}*", *known, *[""] * 4, f"{peer.statements_per_cycle}", "", ""])
    table("The rater cycle, 32 raters", columns, rows)
    note_on_earlier()
    latencies = [
        [run["scenario"], step, *(f"{value:.1f}" for value in run["milliseconds"][step].values())]
        for run in runs
        for step in run["milliseconds"]
    ]
    table("Milliseconds", ["", "step", "p50", "p95", "p99"], latencies)
    stored = [[run["scenario"], *map(str, run["stored"].values())] for run in runs]
    names = [name.replace("_", " ") for name in runs[0]["stored"]] if runs else []
    table("What the database has afterwards", ["", *names], stored)


def _cycle_row(run: dict[str, Any]) -> list[str]:
    cpu = run["cpu_ms_per_cycle"]
    return [
        run["scenario"],
        f"{run['cycles_per_second']:.1f}",
        f"{cpu['served']:.1f}",
        f"{cpu['app']:.1f}",
        f"{cpu['postgres']:.1f}",
        f"{cpu['valkey']:.1f}",
        f"{cpu['generator']:.1f}",
        f"{run['statements_per_cycle']:.1f}",
        str(sum(run["errors"].values())),
        f"{run['foreign_cpu_share']:.0%}",
    ]


def statements(shares: Counter[str]) -> None:
    rows = [[shape[:130], f"{share:.2f}"] for shape, share in shares.most_common(60)]
    table("Statements a cycle", ["statement", "a cycle"], rows)
