"""What is measured: python -m bench NAME prints a table and, last, its figures as JSON."""

import argparse
import json
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from types import ModuleType
from typing import Any

from bench import (
    bootstrap,
    comparisons,
    coverage,
    cycle,
    importing,
    machine,
    releasing,
    report,
    retrieval,
    scale,
    search,
    signals,
)
from bench.cluster import BenchError

BENCHES: dict[str, ModuleType] = {
    "cycle": cycle,
    "import": importing,
    "release": releasing,
    "retrieval": retrieval,
    "comparisons": comparisons,
    "bootstrap": bootstrap,
    "coverage": coverage,
    "signals": signals,
    "scale": scale,
    "search": search,
}


def main() -> int:
    if len(sys.argv) == 1:
        for name, bench in BENCHES.items():
            print(f"{name:12}{bench.__doc__}")
        print(f"{'all':12}All of them, one after the other.")
        return 0
    options = _parser().parse_args()
    try:
        figures = options.run(options)
    except BenchError as error:
        report.say(str(error))
        return 1
    measured = {
        "bench": options.bench,
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": machine.describe(),
        **figures,
    }
    print(json.dumps(measured))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m bench")
    names = parser.add_subparsers(dest="bench", required=True)
    every = names.add_parser("all", help="all of them, one after the other")
    every.set_defaults(run=_all)
    for name, bench in BENCHES.items():
        own = names.add_parser(name, help=str(bench.__doc__).replace("%", "%%"))
        bench.add_options(own)
        own.set_defaults(run=bench.run)
    return parser


def _all(_options: argparse.Namespace) -> dict[str, Any]:
    run: Callable[[list[str]], argparse.Namespace] = _parser().parse_args
    figures = {}
    for name in BENCHES:
        options = run([name])
        figures[name] = options.run(options)
    return figures


if __name__ == "__main__":
    sys.exit(main())
