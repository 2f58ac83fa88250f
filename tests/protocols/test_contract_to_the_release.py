"""What every protocol must do with answers, run over the registry."""

import json

import pytest
from django.test import Client
from pyarrow import parquet

from hits.models import Judgment, Slot
from hits.pipeline.aggregate import StudySource
from hits.pipeline.check import check_submitted
from hits.pipeline.release import release
from hits.pipeline.shelf import path_of
from tests.concurrency.reconciling import assert_places_reconcile
from tests.protocols.test_contract import SLUGS, Case


@pytest.mark.parametrize("slug", SLUGS)
@pytest.mark.django_db(transaction=True)
def test_a_page_answered_well_is_used_aggregated_and_released(slug: str) -> None:
    case = Case(slug)
    case.submit_well()
    check_submitted()
    case.page.refresh_from_db()
    assert (case.page.use, case.page.golds_failed) == ("used", 0)
    assert_places_reconcile()
    released = list(StudySource([case.study], case.kind).units())
    asked = Slot.objects.filter(assignment=case.page, unit__gold__isnull=True).count()
    assert len(released) == asked
    for unit in released:
        assert unit.aggregate.label
        assert sum(unit.aggregate.distribution.values()) == 1
    researcher = Client()
    researcher.force_login(case.corpus.owner)
    for path in ("", "results/", "results.csv"):
        assert researcher.get(f"/research/studies/{case.study.slug}/{path}").status_code == 200
    made = release(studies=[case.study], name="contract", by=case.corpus.owner)
    names = set(made.files.values_list("name", flat=True))
    source = StudySource([case.study], case.kind)
    assert {"judgments.csv", "units.csv", "manifest.json"} <= names
    assert set(case.kind.export(source, case.settings)) <= names
    rows = parquet.read_table(path_of(made.files.get(name="judgments.parquet"))).to_pylist()
    assert len(rows) == Judgment.objects.count()
    slots = {slot.position: slot for slot in Slot.objects.filter(assignment=case.page)}
    for row in rows:
        shown = slots[row["position"]].shown
        assert (row["shown"] is None) == (shown is None)
        if shown is not None and not case.kind.captions_in_order:
            assert json.loads(row["shown"]) == shown
