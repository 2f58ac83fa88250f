"""No half release is ever seen, and none mixes what was before with what came after."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from threading import Thread

import pandas
import pytest
from django.conf import settings
from django.db import connection

from hits.models import Release, Study
from hits.pipeline import aggregate, shelf
from hits.pipeline.check import check_submitted
from hits.pipeline.release import release
from hits.pipeline.review import decide
from tests import making
from tests.faults import programs

pytestmark = pytest.mark.django_db(transaction=True)

PROGRAM = str(Path(__file__).with_name("releasing.py"))


def judged_study() -> Study:
    study = making.study(
        making.corpus(images=12), settings={"justification": False, "candidates_a_page": 4}
    )
    making.work(study, making.rater(study))
    making.work(study, making.rater(study))
    check_submitted()
    return study


def left_behind() -> list[str]:
    folder = Path(settings.DATA_DIR) / "releases" / "killed"
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize(
    ("moment", "left"), [("while it is written", [".unfinished"]), ("in its place", ["1.0"])]
)
def test_a_release_that_was_killed_is_not_there_and_the_next_one_is_whole(
    moment: str, left: list[str]
) -> None:
    study = judged_study()
    killed = subprocess.run(
        [sys.executable, PROGRAM, study.slug, "killed", moment],
        env=programs.environment(PYTHONPATH=str(Path(__file__).parents[2])),
        check=False,
    )
    assert killed.returncode == -9
    assert left_behind() == left
    assert not Release.objects.exists()
    made = release(studies=[study], name="killed", by=study.corpus.owner)
    assert made.version == "1.0"
    assert left_behind() == ["1.0"]
    undisturbed = release(studies=[study], name="undisturbed", by=study.corpus.owner)
    for name in ("judgments.parquet", "judgments.csv", "units.jsonl"):
        first, second = (each.files.get(name=name) for each in (made, undisturbed))
        assert first.sha256 == second.sha256
        assert shelf.path_of(first).stat().st_size == first.size
    shelf.remove(made)


def elsewhere(do: Callable[[], object]) -> None:
    """In a connection of its own, to its end."""

    def work() -> None:
        do()
        connection.close()

    thread = Thread(target=work)
    thread.start()
    thread.join()


def test_what_is_decided_while_it_runs_does_not_mix_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(aggregate, "BATCH", 7)
    study = judged_study()
    owner = study.corpus.owner
    page = study.assignments.earliest("pk")
    newcomer = making.rater(study)
    told: list[int] = []

    def change(done: int) -> None:
        told.append(done)
        if len(told) == 1:
            elsewhere(lambda: making.work(study, newcomer))
            elsewhere(
                lambda: decide(
                    assignment=page, by=owner, use="not_used", payment="approved", reason="Late"
                )
            )

    made = release(studies=[study], name="snapshot", by=owner, tell=change)
    assert len(told) > 1
    folder = shelf.path_of(made.files.get(name="units.parquet")).parent
    judgments = pandas.read_parquet(folder / "judgments.parquet")
    (stated,) = made.manifest["studies"]
    assert set(judgments["use"]) == {"used"}
    assert judgments["page"].nunique() == stated["people"] == stated["pages"]["used"] == 2
    assert pandas.read_parquet(folder / "units.parquet")["judgments"].sum() == 8
    assert made.last_decision_id < page.decisions.latest("pk").pk
    after = release(studies=[study], name="snapshot", by=owner)
    assert after.manifest["studies"][0]["pages"] == {"not_used": 1, "pending": 1, "used": 1}
