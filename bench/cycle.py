"""The rater cycle: next page, its HTML, one autosave, submit."""

import argparse
import sys
from collections import defaultdict
from dataclasses import dataclass
from typing import Any

from bench import report
from bench.cluster import Cluster, cluster
from bench.inside import do
from bench.measuring import Run, measure
from bench.peers.figures import EARLIER
from bench.peers.turkle import peer as turkle
from bench.web import ask, environment, serving

TEMPLATE = "ours"
ONE_UNIT = {
    "justification": False,
    "candidates_a_page": 1,
    "true_positives_a_page": 0,
    "true_negatives_a_page": 0,
    "golds_a_query": 0,
}
SLUG = "bench"
# What the peer is measured on; its rate stays the same over more cycles.
PEER_UNITS, PEER_CYCLES = 2_000, 1_000


@dataclass(frozen=True)
class Scenario:
    name: str
    units: int
    settings: dict[str, Any]
    cycles: int


SCENARIOS = [
    Scenario("one unit a page, 2,000 units", 2_000, ONE_UNIT, 3_000),
    Scenario("one unit a page, 100,000 units", 100_000, ONE_UNIT, 3_000),
    Scenario("twenty units a page, 20,000 units", 20_000, {}, 600),
    Scenario("twenty units a page, 100,000 units", 100_000, {}, 600),
]


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--only", default="", metavar="TEXT", help="only scenarios whose name has this in it"
    )
    parser.add_argument("--cycles", type=int, help="so many instead of 3,000 or 600")
    parser.add_argument("--peer", choices=["turkle"], help="the same load on a peer, in this run")
    parser.add_argument("--statements", action="store_true", help="print each statement's share")


def run(options: argparse.Namespace) -> dict[str, Any]:
    scenarios = [each for each in SCENARIOS if options.only in each.name]
    figures: list[dict[str, Any]] = []
    with cluster() as servers:
        prepare(servers)
        for scenario in scenarios:
            report.say(f"{scenario.name} …")
            cycles = options.cycles or scenario.cycles
            figures.append(_measured(servers, scenario, cycles, options.statements))
        if options.peer:
            report.say(f"{turkle.NAME} …")
            turkle.install(servers)
            figures.append(turkle.cycle(servers, PEER_UNITS, options.cycles or PEER_CYCLES))
    report.cycles(figures)
    return {"scenarios": figures, "ratios": _ratios(figures)}


def _ratios(figures: list[dict[str, Any]]) -> dict[str, float]:
    """How many times faster than each peer, and how many times less CPU, on what they did."""
    ours = next((run for run in figures if run["scenario"] == SCENARIOS[0].name), None)
    if ours is None:
        return {}
    ratios = {}
    peers = [(peer.name, peer.cycles_per_second, peer.cpu_ms_per_cycle) for peer in EARLIER]
    for run in figures:
        if run["scenario"].startswith(turkle.NAME):
            found = (run["cycles_per_second"], run["cpu_ms_per_cycle"]["served"])
            peers.append((f"{turkle.NAME} in this run", *found))
    for name, rate, cpu in peers:
        ratios[f"{name}: cycles/s"] = round(ours["cycles_per_second"] / rate, 2)
        ratios[f"{name}: CPU"] = round(cpu / ours["cpu_ms_per_cycle"]["served"], 2)
    report.table(
        "Times faster, and times less CPU",
        ["", "times"],
        [[name, f"{ratio:.1f}"] for name, ratio in ratios.items()],
    )
    return ratios


def prepare(servers: Cluster) -> None:
    """A database with tables and nothing in them, to be copied; and static files."""
    servers.make_database(TEMPLATE)
    settings = environment(servers, TEMPLATE)
    for command in ("migrate", "collectstatic"):
        ask([sys.executable, "manage.py", command, "--no-input", "--verbosity=0"], settings)


def _measured(
    servers: Cluster, scenario: Scenario, cycles: int, show_statements: bool
) -> dict[str, Any]:
    database = "cycle"
    servers.make_database(database, TEMPLATE)
    settings = environment(servers, database)
    made = do("make", settings, slug=SLUG, units=scenario.units, settings=scenario.settings)
    servers.settle(database)
    with serving(servers, "annotation_app.wsgi:application", settings) as web:
        done = measure(
            servers, database, web, raters="bench.ours:OurRater", work=SLUG, cycles=cycles
        )
    if show_statements:
        report.statements(done.statements)
    checked = do("check", settings)
    return {
        "scenario": scenario.name,
        "made": made,
        **done.figures,
        "stored": verify(servers, database, done),
        "check_cpu_ms_per_page": round(1000 * checked["cpu_seconds"] / checked["pages"], 2),
    }


_JUDGMENTS = """
    SELECT a.key::text, j.answer ->> 'choice'
    FROM hits_judgment j JOIN hits_slot s ON s.id = j.slot_id
    JOIN hits_assignment a ON a.id = s.assignment_id AND a.state = 'submitted'
    ORDER BY a.id, s.position
"""
_OVER = """
    SELECT count(*) FROM (
        SELECT FROM hits_slot s JOIN hits_unit u ON u.id = s.unit_id AND u.gold IS NULL
        WHERE s.state IN ('held', 'counted') GROUP BY u.id HAVING count(*) > u.wanted) over
"""
_DOUBLED = """
    SELECT count(*) FROM (
        SELECT FROM hits_slot GROUP BY unit_id, person_id HAVING count(*) > 1) doubled
"""
_MISCOUNTED = """
    SELECT count(*) FROM hits_unit u WHERE u.gold IS NULL AND (u.held, u.counted) <> (
        SELECT count(*) FILTER (WHERE s.state = 'held'), count(*) FILTER (WHERE s.state = 'counted')
        FROM hits_slot s WHERE s.unit_id = u.id)
"""


def verify(servers: Cluster, database: str, done: Run) -> dict[str, int]:
    """What the database says of the answers that the raters were told are stored."""
    stored: dict[str, list[str]] = defaultdict(list)
    for key, choice in servers.rows(database, _JUDGMENTS):
        stored[key].append(choice)
    missing = [key for key, said in done.acknowledged.items() if stored.get(key) != said]

    def count(statement: str) -> int:
        return int(servers.rows(database, statement)[0][0])

    return {
        "pages_stored": len(stored),
        "pages_acknowledged": len(done.acknowledged),
        "acknowledged_missing": len(missing),
        "units_over": count(_OVER),
        "units_doubled": count(_DOUBLED),
        "units_miscounted": count(_MISCOUNTED),
    }
