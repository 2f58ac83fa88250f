"""Release: 150,000 judgments become the files of a dataset."""

import argparse
from typing import Any

from bench import report
from bench.cluster import Cluster, cluster
from bench.cycle import ONE_UNIT, TEMPLATE, prepare
from bench.inside import do
from bench.machine import Meter
from bench.peers.figures import EARLIER
from bench.peers.turkle import peer as turkle
from bench.web import environment

UNITS = 50_000
LARGE = 10


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--units", type=int, default=UNITS, help="with three judgments each")
    parser.add_argument("--large", action="store_true", help="ten times as many, too")
    parser.add_argument("--peer", choices=["turkle"], help="the same on a peer, in this run")


def run(options: argparse.Namespace) -> dict[str, Any]:
    sizes = [options.units, options.units * LARGE] if options.large else [options.units]
    figures: dict[str, Any] = {}
    with cluster() as servers:
        prepare(servers)
        figures["ours"] = [_release(servers, units) for units in sizes]
        if options.peer:
            turkle.install(servers)
            figures[turkle.NAME] = turkle.export(servers, options.units)
    _tell(options.units, figures)
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
    return done | {
        "judgments": judged["judgments"],
        "total_seconds": round(sum(done["seconds"].values()), 2),
        "postgres_cpu_seconds": round(usage.by_part["postgres"], 2),
        "foreign_cpu_share": usage.foreign_share(),
    }


def _tell(units: int, figures: dict[str, Any]) -> None:
    ours = figures["ours"]
    rows = [
        [f"ours, {run['judgments']:,} judgments", f"{run['total_seconds']:.2f}",
         f"{run['peak_memory_mb']}", ""]
        for run in ours
    ]  # fmt: skip
    peers = [(turkle.NAME, figures[turkle.NAME])] if turkle.NAME in figures else []
    if units == UNITS:
        peers += [(f"{each.name}*", each.export()) for each in EARLIER]
    rows += [report.peer_row(name, found, ours[0]["total_seconds"]) for name, found in peers]
    title = f"Release; the peers export {3 * units:,} answers"
    report.table(title, ["", "seconds", "peak MB", "ours is"], rows)
    report.note_on_earlier()
