"""Release: 150,000 judgments become the files of a dataset."""

import argparse
from typing import Any

from bench import report
from bench.cluster import BenchError, Cluster, cluster
from bench.cycle import ONE_UNIT, TEMPLATE, prepare
from bench.inside import do
from bench.machine import Meter
from bench.peers.figures import EARLIER
from bench.peers.turkle import peer as turkle
from bench.web import environment

UNITS = 50_000
# Units of which three judgments each make about ten thousand, a hundred thousand and a million.
SIZES = (3_335, 33_335, 333_335)


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--units", type=int, default=UNITS, help="with three judgments each")
    parser.add_argument("--large", action="store_true", help="10,000, 100,000 and 1,000,000, too")
    parser.add_argument("--peer", choices=["turkle"], help="the same on a peer, in this run")


def run(options: argparse.Namespace) -> dict[str, Any]:
    sizes = [options.units, *(SIZES if options.large else ())]
    figures: dict[str, Any] = {}
    with cluster() as servers:
        prepare(servers)
        figures["ours"] = [_release(servers, units) for units in sizes]
        if options.peer:
            turkle.install(servers)
            figures[turkle.NAME] = turkle.export(servers, options.units)
    _tell(options.units, figures)
    if options.large:
        _tell_sizes(figures["ours"][1:])
    return figures


def _release(servers: Cluster, units: int) -> dict[str, Any]:
    report.say(f"{units:,} units …")
    servers.make_database("release", TEMPLATE)
    settings = environment(servers, "release")
    do("make", settings, slug="release", units=units, settings=ONE_UNIT)
    judged = do("judge", settings)
    servers.settle("release")
    meter = Meter({"postgres": [servers.pid("postgres")]})
    done = do("release", settings)
    usage = meter.usage()
    # The same data again are a new version where a single byte differs.
    if do("release", settings)["version"] != done["version"]:
        raise BenchError("The second release differs from the first.")
    return done | {
        "judgments": judged["judgments"],
        "total_seconds": round(sum(done["seconds"].values()), 2),
        "postgres_cpu_seconds": round(usage.by_part["postgres"], 2),
        "foreign_cpu_share": usage.foreign_share(),
    }


def _tell(units: int, figures: dict[str, Any]) -> None:
    first = figures["ours"][0]
    name = f"ours, {first['judgments']:,} judgments"
    rows = [[name, f"{first['total_seconds']:.2f}", f"{first['peak_memory_mb']}", ""]]
    peers = [(turkle.NAME, figures[turkle.NAME])] if turkle.NAME in figures else []
    if units == UNITS:
        peers += [(f"{each.name}*", each.export()) for each in EARLIER]
    rows += [report.peer_row(peer, found, first["total_seconds"]) for peer, found in peers]
    title = f"Release; the peers export {3 * units:,} answers"
    report.table(title, ["", "seconds", "peak MB", "ours is"], rows)
    report.note_on_earlier()


def _tell_sizes(runs: list[dict[str, Any]]) -> None:
    rows = [
        [
            f"{run['judgments']:,}",
            f"{run['total_seconds']:.1f}",
            f"{run['cpu_seconds']:.1f}",
            f"{run['postgres_cpu_seconds']:.1f}",
            f"{run['peak_memory_mb']}",
            *(f"{_megabytes(run['bytes'], ending):.1f}" for ending in ("csv", "jsonl", "parquet")),
        ]
        for run in runs
    ]
    columns = ["judgments", "seconds", "CPU", "of PostgreSQL", "peak MB"]
    report.table(
        "Releases by size, each made twice with the same bytes",
        [*columns, "MB of CSV", "of JSON lines", "of Parquet"],
        rows,
    )


def _megabytes(sizes: dict[str, int], ending: str) -> float:
    return sum(size for name, size in sizes.items() if name.endswith(f".{ending}")) / 1e6
