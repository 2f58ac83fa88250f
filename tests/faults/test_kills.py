"""Sixteen raters at work while the processes that serve them are killed."""

import json
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Any

import pytest
from django.db import DatabaseError, connection
from django.db.models import Sum
from django.utils import timezone

from hits.models import Account, Assignment, Judgment, Slot, Study, Unit
from hits.pipeline.open import create_study, open_study
from hits.pipeline.submit import free_expired
from tests import making
from tests.concurrency.reconciling import assert_places_reconcile
from tests.faults.programs import Web, Workers, kill_a_database_backend, web, workers

RATERS = 16
UNITS = 2_000
WANTED = 3
RATER = Path(__file__).with_name("rater.py")


@dataclass
class Plan:
    """What is killed when: by the share of all judgments given, whatever the machine's speed."""

    judgments_between_kills: int
    raters_die: list[float]
    workers_die: list[float]
    database_dies: list[float]
    patience: float
    random: Random = field(default_factory=lambda: Random(7))


def two_thousand_units(candidates_a_page: int, golds: int) -> Study:
    corpus = making.corpus(images=100, captions_each=2)
    study = create_study(
        slug="killed",
        name="Under fire",
        corpus=corpus,
        protocol_slug="matching",
        by=corpus.owner,
        settings={
            "candidates_a_page": candidates_a_page,
            "true_positives_a_page": golds,
            "true_negatives_a_page": golds,
            "justification": False,
            "judged_depth": 20,
            "fill_depth": 20,
        },
        judgments_wanted=WANTED,
    )
    study.proposals.set(making.proposals(corpus, machines=1, depth=20))
    assert open_study(study=study)["candidate"] == UNITS
    return study


@contextmanager
def raters_at_work(
    folder: Path, address: str, accounts: list[Account], study: Study
) -> Iterator[list[subprocess.Popen[bytes]]]:
    with ExitStack() as stack:
        started = []
        for number, account in enumerate(accounts):
            assert account.user is not None
            what = {
                "address": address,
                "email": account.user.email,
                "password": "a good password",
                "study": study.slug,
                "log": str(folder / f"rater{number}.jsonl"),
                "stop": str(folder / "stop"),
                "seed": number,
            }
            errors = stack.enter_context((folder / f"rater{number}.err").open("wb"))
            process = subprocess.Popen([sys.executable, RATER, json.dumps(what)], stderr=errors)
            stack.callback(process.wait)
            stack.callback(process.kill)
            started.append(process)
        yield started


def given(study: Study) -> int:
    """How many judgments the units have."""
    candidates = Unit.objects.filter(study=study, gold__isnull=True)
    return candidates.aggregate(given=Sum("counted"))["given"] or 0


def patiently(call: Callable[[], Any], seconds: float = 120) -> Any:
    """A database that is recovering is asked again."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            return call()
        except DatabaseError:
            connection.close()
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)


def let_leases_run_out(pages: list[int]) -> None:
    past = timezone.now() - timedelta(seconds=1)
    Assignment.objects.filter(pk__in=pages, state="open").update(lease_until=past)


def one_open_page(random: Random) -> list[int]:
    found = list(Assignment.objects.filter(state="open").values_list("pk", flat=True))
    return random.sample(found, min(1, len(found)))


def open_pages_of(accounts: list[Account]) -> list[int]:
    theirs = Assignment.objects.filter(account__in=accounts, state="open")
    return list(theirs.values_list("pk", flat=True))


def kill_until_done(
    plan: Plan,
    study: Study,
    site: Web,
    sweeping: Workers,
    raters: list[subprocess.Popen[bytes]],
    accounts: list[Account],
) -> Counter[str]:
    deadline = time.monotonic() + plan.patience
    done: Counter[str] = Counter()
    judgments = at_last_kill = 0

    def due(name: str, shares: list[float]) -> bool:
        if done[name] < len(shares) and judgments > shares[done[name]] * UNITS * WANTED:
            done[name] += 1
            return True
        return False

    while judgments < UNITS * WANTED:
        assert time.monotonic() < deadline, (done, judgments)
        assert any(process.poll() is None for process in raters), "All raters gave up."
        if judgments >= at_last_kill + plan.judgments_between_kills:
            at_last_kill = judgments
            site.kill_a_worker(plan.random)
            patiently(lambda: let_leases_run_out(one_open_page(plan.random)))
        if due("raters", plan.raters_die):
            raters[done["raters"]].kill()
        if due("workers", plan.workers_die):
            sweeping.start_again()
        if due("database", plan.database_dies):
            patiently(lambda: kill_a_database_backend(plan.random))
        patiently(lambda: let_leases_run_out(open_pages_of(accounts[1 : done["raters"] + 1])))
        time.sleep(0.1)
        judgments = patiently(lambda: given(study))
    done["web"] = site.kills
    return done


def run(folder: Path, plan: Plan, *, candidates_a_page: int, golds: int) -> Counter[str]:
    study = two_thousand_units(candidates_a_page, golds)
    accounts = [making.rater(study, f"rater{number}") for number in range(RATERS)]
    with (
        web(folder) as site,
        workers(folder) as sweeping,
        raters_at_work(folder, site.address, accounts, study) as raters,
    ):
        done = kill_until_done(plan, study, site, sweeping, raters, accounts)
        (folder / "stop").touch()
        for process in raters:
            process.wait(30)
    connection.close()
    patiently(connection.ensure_connection)
    return done


def notes(folder: Path) -> list[dict[str, Any]]:
    return [
        json.loads(line)
        for log in folder.glob("rater*.jsonl")
        for line in log.read_text().splitlines()
        if line.endswith("}")
    ]


def assert_nothing_was_lost_doubled_or_left(folder: Path) -> None:
    assert_places_reconcile()
    candidates = Unit.objects.filter(gold__isnull=True)
    assert set(candidates.values_list("held", "counted")) == {(0, WANTED)}
    assert Slot.objects.filter(unit__in=candidates, state="counted").count() == UNITS * WANTED
    noted = notes(folder)
    assert [note for note in noted if "anomaly" in note] == []
    assert_every_acknowledged_answer_is_stored(noted)


def assert_every_acknowledged_answer_is_stored(noted: list[dict[str, Any]]) -> None:
    stored = Counter(Judgment.objects.values_list("problem", flat=True))
    assert max(stored.values()) == 1
    acknowledged = [problem for note in noted for problem in note["problems"]]
    assert [problem for problem in acknowledged if problem not in stored] == []
    receipts: dict[str, set[str]] = {}
    for note in noted:
        receipts.setdefault(note["page"], set()).add(note["answer"])
    assert [page for page, answers in receipts.items() if len(answers) > 1] == []
    assert len(noted) > len(receipts), "no submission was sent twice"


@pytest.mark.django_db(transaction=True)
def test_no_answer_is_lost_doubled_or_missing_when_servers_are_killed(tmp_path: Path) -> None:
    plan = Plan(
        judgments_between_kills=150,
        raters_die=[0.2, 0.5],
        workers_die=[0.3, 0.6],
        database_dies=[0.4],
        patience=300,
    )
    done = run(tmp_path, plan, candidates_a_page=10, golds=1)
    assert done["web"] > 10
    free_expired()
    assert_nothing_was_lost_doubled_or_left(tmp_path)


@pytest.mark.deep
@pytest.mark.django_db(transaction=True)
def test_no_answer_is_lost_doubled_or_missing_in_six_thousand_pages_of_one_unit(
    tmp_path: Path,
) -> None:
    plan = Plan(
        judgments_between_kills=50,
        raters_die=[0.1, 0.3, 0.5, 0.7],
        workers_die=[0.15, 0.35, 0.55, 0.75, 0.9],
        database_dies=[0.2, 0.4, 0.6, 0.8],
        patience=1800,
    )
    done = run(tmp_path, plan, candidates_a_page=1, golds=0)
    assert done["web"] > 50
    free_expired()
    assert_nothing_was_lost_doubled_or_left(tmp_path)
