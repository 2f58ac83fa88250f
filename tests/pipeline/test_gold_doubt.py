"""Golds that good people fail are put before a person, and retiring one clears who failed it."""

import pytest
from django.test import Client
from django.urls import reverse

from hits.analysis.signals.golds import gold_records
from hits.models import Assignment, GoldDecision, Job, Slot, Study, Unit
from hits.pipeline import gold_doubt, jobs
from hits.pipeline.attention import needs_by_study
from hits.pipeline.check import check_submitted
from hits.pipeline.doubt import read_signals
from hits.pipeline.draw import draw
from hits.pipeline.errors import Closed, Refused
from hits.pipeline.gold_failures import in_doubt
from hits.pipeline.review import decide, queue
from tests import making
from tests.concurrency.reconciling import assert_places_reconcile
from workers.work import WORK

pytestmark = pytest.mark.django_db


def test_a_gold_says_nothing_about_those_who_answered_it() -> None:
    others = [(gold, person, True) for person in (1, 2, 3, 4) for gold in (10, 11, 12)]
    bad_person = [(gold, 5, False) for gold in (10, 11, 12)]
    on_it = [(99, 1, False), (99, 2, False), (99, 3, True), (99, 5, False)]
    found = {each.gold: each for each in gold_records(others + bad_person + on_it, tolerated=0.1)}
    assert (found[99].answered, found[99].failed) == (4, 3)
    assert (found[99].good_answered, found[99].good_failed) == (3, 2)
    assert found[99].is_doubtful(0.4, 0.001)
    assert not found[99].is_doubtful(0.7, 0.001)
    assert (found[10].good_answered, found[10].good_failed) == (1, 0)


def test_wrong_golds_do_not_hide_each_other() -> None:
    right, wrong = range(10, 16), (98, 99)
    said = [(gold, person, gold in right) for person in (1, 2, 3, 4) for gold in (*right, *wrong)]
    said += [(gold, 5, False) for gold in right]
    doubted = [
        each.gold for each in gold_records(said, tolerated=0.1) if each.is_doubtful(0.4, 0.001)
    ]
    assert doubted == [98, 99]


def test_a_gold_that_nearly_everybody_fails_is_in_doubt_where_nobody_is_known() -> None:
    """People with one page have one other gold."""
    one_page_each = [(99, person, person == 8) for person in range(1, 9)]
    one_page_each += [(10 + person % 4, person, True) for person in range(1, 9)]
    found = {each.gold: each for each in gold_records(one_page_each, tolerated=0.1)}
    assert (found[99].good_answered, found[99].is_doubtful(0.4, 0.001)) == (0, True)
    assert not any(found[10 + place].is_doubtful(0.4, 0.001) for place in range(4))


def test_a_gold_that_is_failed_often_says_why_it_is_not_in_doubt() -> None:
    said = [(gold, person, gold != 99) for person in (1, 2) for gold in (10, 11, 12, 99)]
    found = {each.gold: each for each in gold_records(said, tolerated=0.1)}
    assert not found[99].is_doubtful(0.4, 0.001)
    assert found[99].is_failed_often(0.4)
    assert found[99].why_not_doubted().endswith("and 2 of those who answered it do.")
    bad = [(gold, person, False) for person in (3, 4, 5) for gold in (10, 11, 12, 98)]
    good = [(gold, person, True) for person in (6, 7, 8) for gold in (10, 11, 12, 98)]
    found = {each.gold: each for each in gold_records(said + bad + good, tolerated=0.1)}
    assert found[98].is_failed_often(0.4)
    assert found[98].why_not_doubted().endswith("only 0 of 3 failed it.")


@pytest.fixture
def study() -> Study:
    settings = {"candidates_a_page": 2, "judged_depth": 3, "justification": False}
    return making.study(making.corpus(images=14), settings=settings)


@pytest.fixture
def wrong(study: Study) -> Unit:
    """A gold of everybody's third page, whose answer is the wrong one; three fail it."""
    for _ in range(3):
        account = making.rater(study)
        for _ in range(3):
            making.work(study, account)
    page = Assignment.objects.order_by("pk").last()
    assert page is not None
    unit = Unit.objects.filter(slots__assignment=page, gold__isnull=False).earliest("pk")
    for person in Assignment.objects.order_by("person").values_list("person", flat=True).distinct():
        if not Slot.objects.filter(unit=unit, person=person).exists():
            mine = Slot.objects.filter(person=person, unit__gold=unit.gold).latest("pk")
            Slot.objects.filter(pk=mine.pk).update(unit=unit)
    assert unit.gold is not None
    Unit.objects.filter(pk=unit.pk).update(
        gold={**unit.gold, "positive": not unit.gold["positive"]}
    )
    unit.refresh_from_db()
    check_submitted()
    return unit


def test_a_gold_that_good_people_fail_is_in_doubt_until_somebody_decides(
    study: Study, wrong: Unit
) -> None:
    (found,) = in_doubt(study)
    assert (found.gold, found.good_answered, found.good_failed) == (wrong.pk, 3, 3)
    (shown,) = gold_doubt.described(study, [found])
    assert shown.given[0][1] == 3
    owner = study.corpus.owner
    gold_doubt.decide(study=study, unit=wrong, value="kept", reason="It is right.", by=owner)
    assert in_doubt(study) == []
    assert GoldDecision.objects.get().failed == 3


def test_a_gold_in_doubt_is_told_wherever_somebody_looks_at_the_study(
    study: Study, wrong: Unit
) -> None:
    assert read_signals(study)["golds_in_doubt"] == 1
    assert needs_by_study([study])[study.pk][-1] == ("1 gold in doubt", "warn")
    desk = Client()
    desk.force_login(study.corpus.owner)
    overview = desk.get(reverse("study", args=[study.slug])).content.decode()
    assert "1 gold is in doubt: good people fail it." in overview
    assert f'href="/review/{study.slug}/golds/"' in overview
    assert "1 gold in doubt" in desk.get("/review/").content.decode()
    waiting = queue(study).first()
    assert waiting is not None
    page = desk.get(f"/review/{study.slug}/{waiting.key}/").content.decode()
    assert "It failed a gold that is in doubt" in page
    gold_doubt.decide(
        study=study, unit=wrong, value="kept", reason="It is right.", by=study.corpus.owner
    )
    assert "gold in doubt" not in desk.get("/review/").content.decode()


def test_the_page_of_golds_tells_of_those_that_are_failed_often(study: Study, wrong: Unit) -> None:
    reviewer = Client()
    reviewer.force_login(study.corpus.owner)
    assert "Failed often" not in reviewer.get(f"/review/{study.slug}/golds/").content.decode()
    one = Assignment.objects.filter(slots__unit=wrong).earliest("pk")
    Assignment.objects.filter(pk=one.pk).update(is_training=True)
    page = reviewer.get(f"/review/{study.slug}/golds/").content.decode()
    assert "No gold is in doubt." in page
    assert "and 2 of those who answered it do." in page
    api = f"/api/studies/{study.slug}/golds-in-doubt/"
    assert reviewer.get(api).json() == []
    (often,) = reviewer.get(api, {"failed_often": "true"}).json()
    assert (often["gold"], often["failed"]) == (wrong.pk, 2)
    assert often["why_not_doubted"]


def test_retiring_a_gold_clears_the_pages_that_failed_no_other(study: Study, wrong: Unit) -> None:
    owner = study.corpus.owner
    waiting = list(queue(study))
    assert len(waiting) == 3
    decide(assignment=waiting[0], by=owner, use="not_used", payment="approved", reason="Golds.")
    gold_doubt.decide(study=study, unit=wrong, value="retired", reason="It is wrong.", by=owner)
    jobs.run(Job.objects.get(kind="recheck").pk, WORK)
    for page in waiting:
        page.refresh_from_db()
    assert [page.golds_failed for page in waiting] == [0, 0, 0]
    assert [page.use for page in waiting] == ["pending", "used", "used"]
    assert list(queue(study)) == [waiting[0]]
    desk = Client()
    desk.force_login(owner)
    shown = desk.get(f"/review/{study.slug}/{waiting[0].key}/").content.decode()
    assert gold_doubt.LOOK_AGAIN in shown.partition("<h2")[0]
    assert "look again</span>" in shown
    assert_places_reconcile()
    assert in_doubt(study) == []
    page = draw(study=study, account=making.rater(study))
    assert not page.slots.filter(unit=wrong).exists()
    with pytest.raises(Closed):
        gold_doubt.decide(study=study, unit=wrong, value="retired", reason="Again.", by=owner)


def test_a_decision_on_a_gold_needs_a_reason(study: Study, wrong: Unit) -> None:
    with pytest.raises(Refused):
        gold_doubt.decide(
            study=study, unit=wrong, value="retired", reason=" ", by=study.corpus.owner
        )
    assert not GoldDecision.objects.exists()
