"""Calls that start at the same moment, each in a thread with a connection of its own."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

from django.db import connection

from hits.pipeline.errors import PipelineError


def at_once(calls: Sequence[Callable[[], Any]]) -> list[Any]:
    """What each returned, or how it was refused; any other exception is the test's failure."""
    barrier = Barrier(len(calls))

    def run(call: Callable[[], Any]) -> Any:
        try:
            with connection.cursor() as cursor:
                cursor.execute("SELECT 1")
            barrier.wait(timeout=20)
            return call()
        except PipelineError as refusal:
            return refusal
        finally:
            connection.close()

    with ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(run, calls))
