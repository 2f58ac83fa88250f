"""One action in a process of the application: python -m bench.inside ACTION ARGUMENTS-AS-JSON.

Prints what the action answers, with the process's CPU seconds and the memory it had at most.
"""

import json
import os
import sys
from collections.abc import Callable, Mapping
from typing import Any

import django

from bench.machine import peak_memory_mb
from bench.web import ask


def do(action: str, environment: Mapping[str, str], /, **arguments: Any) -> dict[str, Any]:
    """The action's answer; from outside of the application."""
    answer: dict[str, Any] = ask(
        [sys.executable, "-m", "bench.inside", action, json.dumps(arguments)], environment
    )
    return answer


def _actions() -> dict[str, Callable[..., dict[str, Any]]]:
    from bench import large, studies, transfers

    return {
        "make": studies.make,
        "check": studies.check_all,
        "judge": studies.judge,
        "import": transfers.import_units,
        "files": transfers.import_files,
        "release": transfers.release_judgments,
        "scale-make": large.make,
        "scale-rows": large.bring_rows,
        "scale-open": large.open_it,
        "scale-draw": large.draw_pages,
        "scale-write": large.write_judgments,
        "scale-judgments": large.bring_judgments,
        "scale-aggregate": large.aggregate,
        "scale-release": large.release_it,
        "scale-report": large.report,
    }


def main() -> None:
    django.setup()
    action = _actions()[sys.argv[1]]
    before, cpu = peak_memory_mb(os.getpid()), sum(os.times()[:2])
    answer = action(**json.loads(sys.argv[2]))
    used = {
        "cpu_seconds": round(sum(os.times()[:2]) - cpu, 3),
        "memory_mb_before": round(before),
        "peak_memory_mb": round(peak_memory_mb(os.getpid())),
    }
    print(json.dumps(answer | used))


if __name__ == "__main__":
    main()
