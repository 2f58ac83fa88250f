"""Import: 50,000 rows of a file become units that raters can draw."""

import argparse
import json
import shutil
from pathlib import Path
from typing import Any

from PIL import Image

from bench import report
from bench.cluster import Cluster, cluster
from bench.cycle import ONE_UNIT, TEMPLATE, prepare
from bench.inside import do
from bench.machine import Meter
from bench.peers.figures import EARLIER
from bench.peers.turkle import peer as turkle
from bench.web import environment

UNITS = 50_000
FILES = 1_000


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--units", type=int, default=UNITS)
    parser.add_argument("--peer", choices=["turkle"], help="the same on a peer, in this run")


def run(options: argparse.Namespace) -> dict[str, Any]:
    with cluster() as servers:
        prepare(servers)
        figures = {"ours": _import(servers, options.units), "files": _import_files(servers)}
        if options.peer:
            turkle.install(servers)
            figures[turkle.NAME] = turkle.import_tasks(servers, options.units)
    _tell(options.units, figures)
    return figures


def _import(servers: Cluster, units: int) -> dict[str, Any]:
    source = servers.folder / "rows.jsonl"
    with source.open("w") as lines:
        lines.writelines(json.dumps(_row(number)) + "\n" for number in range(1, units + 1))
    servers.make_database("import", TEMPLATE)
    meter = Meter({"postgres": [servers.pid("postgres")]})
    settings = environment(servers, "import")
    done = do("import", settings, source=str(source), settings=ONE_UNIT)
    usage = meter.usage()
    return done | {
        "total_seconds": round(sum(done["seconds"].values()), 2),
        "foreign_cpu_share": usage.foreign_share(),
    }


def _row(number: int) -> dict[str, Any]:
    return {
        "image_id": str(number),
        "file_name": f"image_{number:012d}.jpg",
        "split": "test",
        "width": 640,
        "height": 480,
        "caption_id": f"{number}01",
        "caption": f"A photograph of item number {number} on a wooden table, seen from above, "
        "in daylight",
    }


def _import_files(servers: Cluster) -> dict[str, Any]:
    folder = servers.folder / "files"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.rmtree(servers.folder / "data" / "blobs", ignore_errors=True)
    folder.mkdir()
    with (folder / "rows.jsonl").open("w") as lines:
        for number in range(1, FILES + 1):
            row = _row(number)
            _picture(number).save(folder / row["file_name"], quality=85)
            lines.write(json.dumps(row) + "\n")
    servers.make_database("import", TEMPLATE)
    done = do("files", environment(servers, "import"), source=str(folder))
    kilobytes = sum(path.stat().st_size for path in Path(folder).iterdir()) / FILES / 1024
    return done | {"kilobytes_each": round(kilobytes)}


def _picture(number: int) -> Image.Image:
    noise = Image.effect_noise((640, 480), 20 + number % 20)
    return Image.merge("RGB", (noise, noise.rotate(180), noise.rotate(90)))


def _tell(units: int, figures: dict[str, Any]) -> None:
    ours = figures["ours"]
    rows = [["ours", f"{ours['total_seconds']:.2f}", f"{ours['peak_memory_mb']}", ""]]
    rows += [[f"  {what}", f"{seconds:.2f}", "", ""] for what, seconds in ours["seconds"].items()]
    peers = [(turkle.NAME, figures[turkle.NAME])] if turkle.NAME in figures else []
    if units == UNITS:
        peers += [(f"{each.name}*", each.import_()) for each in EARLIER]
    rows += [report.peer_row(name, found, ours["total_seconds"]) for name, found in peers]
    report.table(f"Import of {units:,} units", ["", "seconds", "peak MB", "ours is"], rows)
    files = figures["files"]
    rate = files["files"] / files["seconds"]["rows and files"]
    report.note(
        f"Image files, which peers never look at: {rate:.0f} a second of {files['kilobytes_each']} "
        "kB read, decoded, hashed and stored durably."
    )
    report.note_on_earlier()
