"""What waits for a researcher: HITs that run out and jobs that nobody does, beside the work."""

from datetime import timedelta

import pytest
from django.db.models import F
from django.utils import timezone

from hits.models import Decision, Hit, Job, Release, Study, Unit
from hits.pipeline.attention import attention_in, needs_by_study
from hits.pipeline.check import check_submitted
from hits.pipeline.draw import draw
from hits.pipeline.overview import overview_of
from hits.pipeline.publish import pages_short
from hits.pipeline.submit import submit
from tests import making

pytestmark = pytest.mark.django_db


@pytest.fixture
def study() -> Study:
    made = making.study()
    making.rater(made)
    return made


def texts(study: Study) -> list[str]:
    is_published = study.publications.exists()
    found = attention_in(study, overview_of(study), is_published=is_published)
    return [each.text for each in found]


def test_hits_that_run_out_are_told_of_with_how_many_pages_are_missing(study: Study) -> None:
    assert texts(study) == []
    short = pages_short(study)
    publication = making.publication(study, hits=1)
    told = [f"HITs run out: {short - 1:,} pages are missing for which none is on sale."]
    assert texts(study) == told
    publication.state = "paused"
    publication.save(update_fields=["state"])
    assert texts(study) == []


def test_hits_that_end_soon_are_told_of(study: Study) -> None:
    publication = making.publication(study, hits=pages_short(study))
    assert texts(study) == []
    soon = timezone.now() + timedelta(hours=3)
    first = publication.hits.order_by("pk")[0]
    Hit.objects.filter(pk=first.pk).update(expires_at=soon)
    assert texts(study) == ["1 HIT on sale will end within a day."]


def test_a_study_with_all_its_judgments_is_to_be_released_until_it_is(study: Study) -> None:
    page = making.work(study, making.rater(study))
    _complete(study)
    assert texts(study)[-1] == "Every unit has its judgments."
    values = {"last_decision_id": 0, "manifest": {}, "made_by": study.corpus.owner}
    made = Release.objects.create(name="one", major=1, minor=0, **values)
    made.studies.add(study)
    assert texts(study)[-1] == "one 1.0 has the judgments of every unit."
    Decision.objects.create(assignment=page, kind="use", value="used", reason="Careful.")
    assert texts(study)[-1] == "Every unit has its judgments."


def test_a_pilot_with_all_its_judgments_is_not_to_be_released(study: Study) -> None:
    pilot = making.study()
    pilot.pilot_of, pilot.pilot_pages = study, 1
    pilot.save(update_fields=["pilot_of", "pilot_pages"])
    _complete(pilot)
    assert texts(pilot) == [
        f"Every unit has its judgments; “{study.name}” tells the pay they suggest."
    ]


def _complete(study: Study) -> None:
    Unit.objects.filter(study=study).update(held=0, counted=F("wanted"))


def test_a_job_that_no_worker_does_is_told_of_first(study: Study) -> None:
    Job.objects.create(kind="release", arguments={"name": "one"}, study=study)
    assert texts(study) == []
    Job.objects.update(asked_at=timezone.now() - timedelta(minutes=12))
    making.publication(study, hits=1)
    stalled, *others = texts(study)
    assert stalled == "Release one was asked for 12 minutes ago, and no worker does it."
    assert len(others) == 1
    Job.objects.update(state="running", lease_until=timezone.now() + timedelta(minutes=1))
    assert texts(study) == others


def test_a_list_of_studies_says_of_each_what_it_needs(study: Study) -> None:
    other = making.study(study.corpus)
    account = making.rater(study)
    page = draw(study=study, account=account)
    submit(assignment_key=page.key, account=account, fields=making.answers(page.slots.count()))
    check_submitted()
    Job.objects.create(kind="open", study=other, state="failed")
    Job.objects.create(kind="release", study=other, state="failed")
    Job.objects.create(kind="open", study=other, state="done")
    assert needs_by_study([study, other]) == {
        study.pk: [("1 to review", "warn")],
        other.pk: [("1 job failed", "bad")],
    }
    Job.objects.create(kind="release", study=other)
    Job.objects.filter(state="queued").update(asked_at=timezone.now() - timedelta(hours=1))
    assert needs_by_study([other]) == {other.pk: [("1 job stalled", "bad")]}
