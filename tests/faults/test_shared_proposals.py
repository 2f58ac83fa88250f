"""A proposal in parts: killed in the middle, shared by two workers, always the same bytes."""

import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings

from hits.models import Candidate, Corpus, Job, Proposal
from hits.pipeline import jobs
from hits.pipeline.propose import ask
from tests import making
from tests.faults.programs import workers
from tests.faults.test_jobs_survive import (
    eventually,
    let_lease_run_out,
    somebody_waits_for,
    state_of,
    table_locked,
)
from workers.propose import propose_candidates
from workers.work import WORK

pytestmark = pytest.mark.django_db(transaction=True)

IMAGES, PART = 520, "256"
MACHINE: dict[str, Any] = {"split": "test", "train_split": "test", "depth": 5, "query_sample": None}
Rows = list[tuple[Any, ...]]


def data(kind: str, corpus: Corpus) -> Path:
    folder = Path(settings.DATA_DIR) / kind
    return folder / corpus.slug if kind == "vectors" else folder


def bytes_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.glob("*.f32"))}


def lists(proposals: list[Proposal]) -> list[Rows]:
    columns = ("query_id", "rank", "target_id", "score")
    return [
        list(Candidate.objects.filter(proposal=each).order_by(*columns).values_list(*columns))
        for each in proposals
    ]


def undisturbed() -> tuple[Corpus, dict[str, bytes], list[Rows]]:
    """What one process makes at one go; then it is as if it had never been."""
    corpus = making.corpus(images=IMAGES, captions_each=2)
    made = propose_candidates(
        corpus=corpus, kind="palette", directions=["i2t", "t2i"], seed=1, **MACHINE
    )
    expected = bytes_of(data("vectors", corpus)), lists(made)
    for path in data("vectors", corpus).iterdir():
        path.unlink()
    return corpus, *expected


def asked(corpus: Corpus) -> Job:
    return ask(
        corpus=corpus,
        machine="palette",
        directions=["i2t", "t2i"],
        by=corpus.owner,
        seed=2,
        **MACHINE,
    )


def found(job: Job) -> list[Rows]:
    assert job.result is not None
    return lists([Proposal.objects.get(pk=pk) for pk in job.result["proposals"]])


def soon(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.002)


@pytest.mark.parametrize(
    ("table", "kind", "first"),
    [("hits_blob", "vectors", "*-0.f32"), ("hits_job", "searches", "*/0-forth.npy")],
    ids=["encoding", "searching"],
)
def test_a_worker_killed_in_the_middle_leaves_the_bytes_of_an_undisturbed_run(
    tmp_path: Path, table: str, kind: str, first: str
) -> None:
    corpus, files, rows = undisturbed()
    with workers(tmp_path, PART_ITEMS=PART) as celery:
        job = asked(corpus)
        soon(lambda: any(data(kind, corpus).glob(first)))
        with table_locked(table):
            soon(lambda: somebody_waits_for(table))
            assert bytes_of(data("vectors", corpus)) != files or kind == "searches"
            celery.kill()
        assert state_of(job) == "running"
        for each in Job.objects.filter(state="running"):
            let_lease_run_out(each)
        celery.start_again()
        eventually(lambda: state_of(job) == "done")
    assert job.attempts == 2
    assert bytes_of(data("vectors", corpus)) == files
    assert found(job) == rows
    assert not Job.objects.filter(part_of=job).exists()
    assert not any(data("searches", corpus).iterdir())


def test_two_workers_on_one_job_give_the_bytes_of_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    corpus, files, rows = undisturbed()
    monkeypatch.setattr(settings, "PART_ITEMS", int(PART))

    def after_the_other(job_id: int, work: dict[str, jobs.Work]) -> None:
        """The one who asked does a part only when the other has one, too."""
        of_both = Job.objects.filter(part_of=job)
        soon(lambda: of_both.exclude(state="queued").exists())
        run(job_id, work)

    run = jobs.run
    monkeypatch.setattr("workers.parts.jobs.run", after_the_other)
    with workers(tmp_path, queues="gpu", PART_ITEMS=PART):
        job = asked(corpus)
        Job.objects.filter(pk=job.pk).update(queue="gpu")
        job.refresh_from_db()
        run(job.pk, WORK)
        eventually(lambda: state_of(job) == "done")

    assert "parts were done by other workers" in job.log
    assert bytes_of(data("vectors", corpus)) == files
    assert found(job) == rows


def test_a_cancelled_job_takes_its_parts_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "PART_ITEMS", int(PART))
    job = asked(making.corpus(images=IMAGES, captions_each=2))
    run = jobs.run

    def cancel_then_run(job_id: int, work: dict[str, jobs.Work]) -> None:
        jobs.cancel(job)
        soon(lambda: not Job.objects.filter(pk=job.pk, cancel_asked=False).exists())
        time.sleep(1.5)
        run(job_id, work)

    monkeypatch.setattr("workers.parts.jobs.run", cancel_then_run)
    run(job.pk, WORK)

    assert state_of(job) == "cancelled"
    assert set(Job.objects.filter(part_of=job).values_list("state", flat=True)) == {"cancelled"}
    assert not Proposal.objects.exists()


def test_parts_that_other_settings_left_are_not_taken_for_those_of_these(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    corpus, files, rows = undisturbed()
    run = jobs.run
    job = asked(corpus)

    def once(job_id: int, work: dict[str, jobs.Work]) -> None:
        """The first part, and then the worker is gone."""
        run(job_id, work)
        raise KeyboardInterrupt

    monkeypatch.setattr(settings, "PART_ITEMS", int(PART) * 2)
    monkeypatch.setattr("workers.parts.jobs.run", once)
    with pytest.raises(KeyboardInterrupt):
        run(job.pk, WORK)
    assert any(data("vectors", corpus).glob("*-0.f32"))

    monkeypatch.setattr(settings, "PART_ITEMS", int(PART))
    monkeypatch.setattr("workers.parts.jobs.run", run)
    let_lease_run_out(job)
    run(job.pk, WORK)

    assert state_of(job) == "done"
    assert files.items() <= bytes_of(data("vectors", corpus)).items()
    assert found(job) == rows


def test_shards_that_another_job_cleared_away_are_searched_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Asked twice at a time, the one who is done first takes the files of both with it."""
    corpus, _, rows = undisturbed()
    job, run = asked(corpus), jobs.run

    def and_clear_away(job_id: int, work: dict[str, jobs.Work]) -> None:
        run(job_id, work)
        for folder in data("searches", corpus).glob("*"):
            shutil.rmtree(folder)

    monkeypatch.setattr(settings, "PART_ITEMS", int(PART))
    monkeypatch.setattr("workers.parts.jobs.run", and_clear_away)
    run(job.pk, WORK)

    assert state_of(job) == "done"
    assert found(job) == rows
