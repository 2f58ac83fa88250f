"""Turkle, installed into a virtual environment of its own and run on the same servers."""

import json
import subprocess
import sys
import time
import urllib.request
import venv
from pathlib import Path
from typing import Any

from bench.cluster import ROOT, Cluster
from bench.machine import Meter, peak_memory_mb
from bench.measuring import Run, measure
from bench.peers.turkle.seed import TOKEN, tasks_csv
from bench.web import ask, environment, serving

NAME = "Turkle 3.1.0"
PACKAGES = ["turkle==3.1.0", "gunicorn==27.0.0", "psycopg2-binary==2.9.13", "whitenoise==6.12.0"]
TEMPLATE = "turkle"
APPLICATION = "django.core.wsgi:get_wsgi_application()"
WANTED = 3


def python_of(servers: Cluster) -> Path:
    return servers.folder / "turkle" / "bin" / "python"


def install(servers: Cluster) -> None:
    python = python_of(servers)
    if not python.exists():
        venv.create(python.parent.parent, with_pip=True)
    options = ["--quiet", "--disable-pip-version-check"]
    pip: list[str | Path] = [python, "-m", "pip", "install", *options, *PACKAGES]
    subprocess.run(pip, check=True, stdout=sys.stderr)
    servers.make_database(TEMPLATE)
    settings = settings_of(servers, TEMPLATE)
    for command in ("migrate", "collectstatic"):
        ask([python, "-m", "django", command, "--no-input", "--verbosity=0"], settings)


def settings_of(servers: Cluster, database: str) -> dict[str, str]:
    return {
        "PYTHONPATH": str(ROOT),
        "DJANGO_SETTINGS_MODULE": "bench.peers.turkle.settings",
        "DATABASE_URL": servers.url(database),
        "SECRET_KEY": environment(servers, database)["SECRET_KEY"],
        "STATIC_ROOT": str(servers.folder / "turkle-static"),
    }


def seeded(servers: Cluster, database: str, tasks: int, answers_each: int = 0) -> dict[str, str]:
    """A site of its own with these tasks; the settings it runs with."""
    servers.make_database(database, TEMPLATE)
    settings = settings_of(servers, database)
    numbers = (str(tasks), str(answers_each))
    command: list[str | Path] = [python_of(servers), "-m", "bench.peers.turkle.seed", *numbers]
    ask(command, settings)
    servers.settle(database)
    return settings


def cycle(servers: Cluster, tasks: int, cycles: int) -> dict[str, Any]:
    database = "turkle_cycle"
    settings = seeded(servers, database, tasks)
    with serving(servers, APPLICATION, settings, python=python_of(servers), ready="/login/") as web:
        done = measure(
            servers,
            database,
            web,
            raters="bench.peers.turkle.client:TurkleRater",
            work="1",
            cycles=cycles,
        )
    return {
        "scenario": f"{NAME}, {tasks:,} tasks",
        **done.figures,
        "stored": _verify(servers, database, done),
    }


def _verify(servers: Cluster, database: str, done: Run) -> dict[str, int]:
    stored: dict[str, list[str]] = {}
    tasks: dict[int, list[int]] = {}
    for key, task, person, answers in servers.rows(
        database,
        "SELECT id::text, task_id, assigned_to_id, answers FROM turkle_taskassignment"
        " WHERE completed",
    ):
        stored[key] = [json.loads(answers)["choice"]]
        tasks.setdefault(task, []).append(person)
    missing = [key for key, said in done.acknowledged.items() if stored.get(key) != said]
    return {
        "pages_stored": len(stored),
        "pages_acknowledged": len(done.acknowledged),
        "acknowledged_missing": len(missing),
        "units_over": sum(len(people) > WANTED for people in tasks.values()),
        "units_doubled": sum(len(people) > len(set(people)) for people in tasks.values()),
        "units_miscounted": 0,
    }


def import_tasks(servers: Cluster, tasks: int) -> dict[str, Any]:
    """One request to its API with all rows as CSV."""
    settings = seeded(servers, "turkle_import", 0)
    fields = {"name": "import", "filename": "rows.csv", "project": 1, "csv_text": tasks_csv(tasks)}
    return _timed_request(servers, settings, "/api/batches/", json.dumps(fields).encode())


def export(servers: Cluster, tasks: int) -> dict[str, Any]:
    """One request to its API for all answers as CSV."""
    settings = seeded(servers, "turkle_export", tasks, WANTED)
    return _timed_request(servers, settings, "/api/batches/1/results/", None)


def _timed_request(
    servers: Cluster, settings: dict[str, str], path: str, body: bytes | None
) -> dict[str, Any]:
    headers = {"Authorization": f"Token {TOKEN}", "Content-Type": "application/json"}
    with serving(servers, APPLICATION, settings, python=python_of(servers), ready="/login/") as web:
        request = urllib.request.Request(web.url + path, body, headers)
        meter = Meter({"app": [web.pid], "postgres": [servers.pid("postgres")]})
        started = time.perf_counter()
        with urllib.request.urlopen(request) as answer:
            size = len(answer.read())
        seconds = time.perf_counter() - started
        usage = meter.usage()
        return {
            "total_seconds": round(seconds, 2),
            "peak_memory_mb": round(peak_memory_mb(web.pid)),
            "bytes": size,
            "cpu_seconds": {name: round(used, 2) for name, used in usage.by_part.items()},
            "foreign_cpu_share": usage.foreign_share(),
        }
