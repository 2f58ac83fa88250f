"""Long work in parts that any worker takes, and that the one who asked does itself if nobody else.

A part leaves a file that is the same whoever made it. So nothing waits for a worker that is not
there, a part whose worker died is done again, and with one worker or with ten the outcome is the
same bytes.
"""

import time
from collections.abc import Callable
from typing import Any

from hits.models import Job
from hits.pipeline import jobs
from hits.pipeline.errors import Refused
from workers.machines import Say

WORK = "part"
LOOK_EVERY_SECONDS = 0.3
Do = Callable[[int, Say], Any]


def do_all(
    say: Say,
    *,
    work: str,
    name: str,
    arguments: dict[str, Any],
    count: int,
    is_there: Callable[[int], bool],
    do: Do,
    message: str,
) -> None:
    """Come back when every part is there. Outside of a job, all of it is done here, in order."""
    missing = [part for part in range(count) if not is_there(part)]
    if isinstance(say, jobs.Progress):
        asked = _asked(say.job, work, name, arguments, missing)
        try:
            done_here = _share(say, asked, do, count, message)
        except BaseException:
            for job in Job.objects.filter(part_of=say.job, pk__in=asked):
                jobs.cancel(job)
            raise
        Job.objects.filter(part_of=say.job, part__startswith=f"{name} ").delete()
        if len(asked) > done_here:
            say.say(f"{len(asked) - done_here} of {count} parts were done by other workers.")
    for part in range(count):
        # Outside of a job; or its job was done on a corpus that has changed since; or another job
        # that needed the same has finished, and its files are gone.
        if not is_there(part):
            do(part, say)


def _share(say: jobs.Progress, asked: list[int], do: Do, count: int, message: str) -> int:
    """How many of them were done here."""
    done_here = 0

    def here(given: dict[str, Any], own: jobs.Progress) -> dict[str, Any]:
        nonlocal done_here

        def tell(done: int, total: int | None = None, message: str = "") -> None:
            own(done, total, message)
            say.heed()

        do(given["part"], tell)
        done_here += 1
        return {}

    while left := _unfinished(asked):
        for job in left:
            say(count - len(_unfinished(asked)), count, message)
            # It comes back at once where another worker has the part, and is alive.
            jobs.run(job, {WORK: here})
            say.heed()
        if _unfinished(asked) == left:
            time.sleep(LOOK_EVERY_SECONDS)
    return done_here


def _asked(
    parent: Job, work: str, name: str, arguments: dict[str, Any], missing: list[int]
) -> list[int]:
    """The jobs of the parts, as they were asked for before or are asked for now."""
    before = Job.objects.filter(part_of=parent, part__startswith=f"{name} ")
    before.filter(state__in=["failed", "cancelled"]).delete()
    Job.objects.bulk_create(
        [
            Job(
                kind=WORK,
                part_of=parent,
                part=f"{name} {number}",
                queue=parent.queue,
                arguments={**arguments, "work": work, "part": number},
            )
            for number in missing
        ],
        ignore_conflicts=True,
    )
    found = Job.objects.filter(part_of=parent, part__in=[f"{name} {n}" for n in missing])
    for job in found.filter(state="queued"):
        jobs.ring(job)
    return [job.pk for job in found]


def _unfinished(asked: list[int]) -> list[int]:
    found = Job.objects.filter(pk__in=asked).order_by("pk")
    states = list(found.values_list("pk", "state", "message"))
    for _, state, message in states:
        if state in {"failed", "cancelled"}:
            raise Refused(message or "A part of it was stopped.")
    return [pk for pk, state, _ in states if state != "done"]
