"""Judgments come in from files while people work on the same units."""

from functools import partial
from pathlib import Path

import pytest

from hits.models import Account, Judgment, JudgmentImport, Study, Unit
from hits.pipeline.errors import NothingLeft
from hits.pipeline.judgments import import_judgments
from tests import making
from tests.concurrency.racing import at_once
from tests.concurrency.reconciling import assert_places_reconcile

pytestmark = pytest.mark.django_db(transaction=True)

SMALL = {"candidates_a_page": 4, "judged_depth": 2, "fill_depth": 2, "justification": False}
RATERS = 3
FILES = 3


def work(study: Study, account: Account) -> int:
    pages = 0
    while True:
        try:
            making.work(study, account)
        except NothingLeft:
            return pages
        pages += 1


def file_of(study: Study, path: Path, worker: str) -> Path:
    keys = study.units.filter(gold__isnull=True).order_by("pk").values_list("key", flat=True)
    path.write_text("worker,unit,choice\n" + "".join(f"{worker},{key},no\n" for key in keys))
    return path


def test_no_unit_is_over_its_number_while_files_and_raters_race(tmp_path: Path) -> None:
    study = making.study(making.corpus(images=14), settings=SMALL, judgments_wanted=3)
    raters = [making.rater(study) for _ in range(RATERS)]
    files = [file_of(study, tmp_path / f"{each}.csv", f"w{each}") for each in range(FILES)]
    done = at_once(
        [partial(work, study, rater) for rater in raters]
        + [partial(import_judgments, study=study, source=str(file)) for file in files]
    )
    assert all(isinstance(each, int) for each in done[:RATERS]), done
    units = Unit.objects.filter(study=study, gold__isnull=True).count()
    assert [each["added"] for each in done[RATERS:]] == [units] * FILES
    assert_places_reconcile()
    wanting = Unit.objects.filter(study=study, gold__isnull=True, counted__lt=3)
    assert wanting.count() == 0


def test_the_same_file_brought_twice_at_once_comes_in_once(tmp_path: Path) -> None:
    study = making.study(making.corpus(images=12), settings=SMALL, judgments_wanted=2)
    file = file_of(study, tmp_path / "one.csv", "w")
    came = at_once([partial(import_judgments, study=study, source=str(file))] * 3)
    units = Unit.objects.filter(study=study, gold__isnull=True).count()
    assert sorted(each["added"] for each in came) == [0, 0, units]
    assert (Judgment.objects.count(), JudgmentImport.objects.count()) == (units, 1)
    assert_places_reconcile()
