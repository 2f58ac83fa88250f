"""Signals of a study's real work: what they raise, when they are read, and by which rules."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from hits.models import Assignment, Flag, Job, Reading, Study
from hits.pipeline import doubt, jobs
from hits.pipeline.check import check_submitted
from hits.pipeline.draw import draw
from hits.pipeline.errors import Refused
from hits.pipeline.review import decide, queue, take_back
from hits.pipeline.submit import submit
from hits.pipeline.versions import change_version
from tests import making
from workers.work import WORK

pytestmark = pytest.mark.django_db

Callbacks = Callable[..., Any]

RULES = {"fewest_people": 3, "fewest_judgments": 4, "fewest_shared": 2}


@pytest.fixture
def study() -> Study:
    settings = {"candidates_a_page": 4, "justification": False}
    return making.study(making.corpus(images=14), settings=settings, quality=RULES)


def worked(study: Study, seconds: float, choice: str = "yes") -> Assignment:
    account = making.rater(study)
    page = draw(study=study, account=account)
    Assignment.objects.filter(pk=page.pk).update(drawn_at=page.drawn_at - timedelta(hours=1))
    fields = making.truthful(page, choice)
    times = {f"q{slot.position}-ms": [str(seconds * 1000)] for slot in page.slots.all()}
    submit(assignment_key=page.key, account=account, fields=fields | times)
    return page


@pytest.fixture
def pages(study: Study) -> list[Assignment]:
    """Five people who take ten seconds a question, more or less, and one who takes none."""
    found = [worked(study, seconds) for seconds in (9, 10, 10.5, 11, 12, 0.2)]
    check_submitted()
    return found


def read(study: Study) -> dict[str, int]:
    return doubt.read_signals(Study.objects.select_related("version").get(pk=study.pk))


def test_what_stands_out_is_raised_with_its_figure_and_put_before_a_person(
    study: Study, pages: list[Assignment]
) -> None:
    assert not queue(study).exists()
    read(study)
    hasty = pages[-1]
    on_page = Flag.objects.get(assignment=hasty, signal="time")
    of_person = Flag.objects.get(assignment=None, person=hasty.person_id, signal="time")
    assert on_page.figure < on_page.threshold < 0
    assert "A judgment took 0.2 s in the middle" in of_person.says
    assert not Flag.objects.filter(assignment__in=pages[:-1]).exists()
    assert list(queue(study)) == [hasty]
    hasty.refresh_from_db()
    assert (hasty.use, hasty.doubt) == ("used", max(on_page.doubt, of_person.doubt))


def test_reading_again_replaces_what_was_raised_and_says_what_is_silent(
    study: Study, pages: list[Assignment]
) -> None:
    first = read(study)
    assert read(study) == first
    assert Flag.objects.count() == first["raised"]
    reading = Reading.objects.get(study=study)
    assert reading.judgments == 36
    assert reading.silent["side"] == "The study shows nothing in places drawn at random."


def test_rules_are_the_versions_own(study: Study, pages: list[Assignment]) -> None:
    lenient = RULES | {"fast_spreads": 50}
    change_version(study=study, by=study.corpus.owner, quality=lenient)
    read(study)
    assert not Flag.objects.filter(signal="time").exists()
    with pytest.raises(Refused, match="fast_spreads"):
        change_version(study=study, by=study.corpus.owner, quality={"fast_spreads": -1})
    assert [version.quality["fast_spreads"] for version in study.versions.order_by("number")] == [
        3.0, 50.0,
    ]  # fmt: skip


def test_golds_of_work_that_is_not_used_stay_in_the_record(study: Study) -> None:
    change_version(study=study, by=study.corpus.owner, quality=RULES | {"level": 0.02})
    account = making.rater(study)
    for _ in range(3):
        page = draw(study=study, account=account)
        fields = making.answers(page.slots.count(), "yes")
        submit(assignment_key=page.key, account=account, fields=fields)
    check_submitted()
    Assignment.objects.filter(pk=page.pk).update(use="not_used")
    read(study)
    record = Flag.objects.get(signal="gold record", assignment=None)
    assert record.says.startswith("Of the last 6 golds of this person, 3 failed.")
    assert Flag.objects.filter(signal="page golds").count() == 3


def test_new_work_is_read_once_it_has_rested(study: Study, pages: list[Assignment]) -> None:
    assert doubt.ask_what_is_due() == 0
    Reading.objects.update(asked_at=timezone.now() - doubt.REST - timedelta(seconds=1))
    assert doubt.ask_what_is_due() == 1
    doubt.ask_what_is_due()
    job = Job.objects.get(kind="signals")
    jobs.run(job.pk, WORK)
    job.refresh_from_db()
    assert (job.state, job.result["judgments"]) == ("done", 36)  # type: ignore[index]
    assert doubt.ask_what_is_due() == 0
    assert Reading.objects.get(study=study).asked_at is None


def test_work_that_comes_in_while_signals_are_read_is_read_the_next_time(
    study: Study, pages: list[Assignment], monkeypatch: pytest.MonkeyPatch
) -> None:
    store = doubt._store

    def meanwhile(*given: Any) -> int:
        doubt.note([study.pk])
        return store(*given)

    monkeypatch.setattr(doubt, "_store", meanwhile)
    read(study)
    assert Reading.objects.get(study=study).asked_at is not None


def test_what_a_reviewer_decides_is_read_again_if_other_work_counts_then(
    study: Study, pages: list[Assignment], django_capture_on_commit_callbacks: Callbacks
) -> None:
    read(study)
    by, page = study.corpus.owner, pages[0]
    pays: Any = {"payment": "approved", "reason": "Seen.", "by": by}
    with django_capture_on_commit_callbacks(execute=True):
        decide(assignment=page, use="used", **pays)
    assert Reading.objects.get(study=study).asked_at is None
    with django_capture_on_commit_callbacks(execute=True):
        decide(assignment=page, use="not_used", **pays)
    assert Reading.objects.get(study=study).asked_at is not None
    assert read(study)["judgments"] < 36
    with django_capture_on_commit_callbacks(execute=True):
        take_back(assignment=page, by=by)
    assert Reading.objects.get(study=study).asked_at is not None
    assert read(study)["judgments"] == 36


def test_a_study_without_work_says_why_there_are_no_signals(study: Study) -> None:
    assert read(study) == {"judgments": 0, "raised": 0, "golds_in_doubt": 0}
    assert Reading.objects.get(study=study).silent == {"all": "Nothing has been judged yet."}
