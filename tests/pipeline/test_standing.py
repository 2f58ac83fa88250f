from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import DatabaseError, transaction
from django.test import Client

from hits.models import Account, Assignment, PersonEvent, Reading, Study, User
from hits.pipeline import standing
from hits.pipeline.attention import needs_by_study
from hits.pipeline.check import check_submitted
from hits.pipeline.draw import draw
from hits.pipeline.errors import Closed, NotAllowed, PipelineError, Refused
from hits.pipeline.evidence import track_record
from hits.pipeline.review import LONGEST_REASON, decide
from hits.pipeline.submit import submit
from hits.pipeline.versions import change_version
from tests import making

pytestmark = pytest.mark.django_db

SMALL = {"candidates_a_page": 4, "justification": False}


@pytest.fixture
def study() -> Study:
    return making.study(making.corpus(images=14), settings=SMALL, pay="0.50")


@pytest.fixture
def rater(study: Study) -> Account:
    """Somebody with three pages: two well done, one with a failed gold, which is not used."""
    account = making.rater(study)
    making.work(study, account)
    making.work(study, account)
    page = draw(study=study, account=account)
    fields = making.answers(page.slots.count()) | {"q1-ms": ["0"]}
    submit(assignment_key=page.key, account=account, fields=fields)
    check_submitted()
    page.refresh_from_db()
    owner = study.corpus.owner
    decide(assignment=page, by=owner, use="not_used", payment="approved", reason="Not read.")
    return account


def user_of(account: Account) -> User:
    assert account.user is not None
    return account.user


def test_a_record_has_pages_golds_pay_and_what_was_decided(study: Study, rater: Account) -> None:
    record = standing.record_of(study, rater.person_id)
    assert record is not None
    assert (record.pages, record.used, record.not_used, record.waiting) == (3, 2, 1, 0)
    assert (record.golds_shown, record.golds_passed) == (6, 5)
    assert (str(record.paid), record.doubt) == ("1.50", 1.0)
    assert standing.rolling(study, rater.person_id).count(False) == 1
    assert standing.record_of(study, 0) is None


def test_pages_that_a_rule_used_and_a_signal_doubts_wait_in_the_record(
    study: Study, rater: Account
) -> None:
    Assignment.objects.filter(person=rater.person_id, use="used").update(doubt=2)
    record = standing.record_of(study, rater.person_id)
    assert record is not None
    assert (record.used, record.waiting) == (2, 2)
    page = Assignment.objects.filter(person=rater.person_id).select_related("study").first()
    assert page is not None
    assert track_record(page).waiting == 2


def test_what_is_done_about_a_person_is_on_record_with_who_and_why(
    study: Study, rater: Account
) -> None:
    owner = study.corpus.owner
    long = "y" * LONGEST_REASON
    for kind in ("warning", "excluded", "readmitted"):
        standing.act(study=study, person=rater.person_id, kind=kind, text=long, by=owner)
        if kind == "excluded":
            with pytest.raises(PipelineError):
                draw(study=study, account=rater)
    draw(study=study, account=rater)
    events = PersonEvent.objects.order_by("pk").values_list("kind", "text", "by")
    assert list(events) == [
        ("warning", long, owner.pk),
        ("excluded", long, owner.pk),
        ("readmitted", long, owner.pk),
    ]
    with pytest.raises(DatabaseError, match="only ever added"), transaction.atomic():
        PersonEvent.objects.update(text="Something else.")


def test_somebody_is_let_in_where_people_are_trained_and_nowhere_else(
    study: Study, rater: Account
) -> None:
    owner = study.corpus.owner
    trains = making.study(study.corpus, settings=SMALL, training_units=2)
    trained = making.rater(trains)
    draw(study=trains, account=trained)
    act: Any = {"kind": "qualified", "text": "Known from before.", "by": owner}
    standing.act(study=trains, person=trained.person_id, **act)
    assert trains.participations.get().qualified_at is not None
    with pytest.raises(Refused):
        standing.act(study=study, person=rater.person_id, **act)
    with pytest.raises(Closed, match="not excluded"):
        standing.act(study=study, person=rater.person_id, **act | {"kind": "readmitted"})
    assert [event.study for event in PersonEvent.objects.all()] == [trains]


@pytest.mark.parametrize(("kind", "text"), [("warning", " "), ("praise", "Good!"), ("answer", "x")])
def test_what_says_nothing_is_refused(study: Study, rater: Account, kind: str, text: str) -> None:
    owner = study.corpus.owner
    with pytest.raises(Refused):
        standing.act(study=study, person=rater.person_id, kind=kind, text=text, by=owner)
    assert not PersonEvent.objects.exists()


def test_an_appeal_is_told_wherever_somebody_looks_at_the_study(
    study: Study, rater: Account
) -> None:
    appealed = standing.appeal(study=study, account=rater, text="I did look.")
    assert needs_by_study([study])[study.pk][-1] == ("1 to answer", "warn")
    owner = study.corpus.owner
    desk = Client()
    desk.force_login(owner)
    overview = desk.get(f"/research/studies/{study.slug}/").content.decode()
    assert "1 appeal waits for an answer." in overview
    assert f'href="/review/{study.slug}/people/"' in overview
    assert "1 appeal</span>" in desk.get("/review/").content.decode()
    nothing_else = desk.get(f"/review/{study.slug}/").content.decode()
    assert "1 appeal waits for an answer." in nothing_else
    page = Assignment.objects.filter(study=study).latest("pk")
    shown = desk.get(f"/review/{study.slug}/{page.key}/").content.decode()
    assert "1 appeal</span>" in shown
    standing.answer(appealed=appealed, text="We looked again.", by=owner)
    assert "1 appeal" not in desk.get("/review/").content.decode()


def test_an_appeal_is_answered_once_and_another_waits_for_that(
    study: Study, rater: Account
) -> None:
    user, owner = user_of(rater), study.corpus.owner
    appealed = standing.appeal(study=study, account=rater, text="I did look.")
    assert list(standing.open_appeals(study)) == [appealed]
    with pytest.raises(Closed, match="not been answered"):
        standing.appeal(study=study, account=rater, text="And once more.")
    standing.answer(appealed=appealed, text="We looked again.", by=owner)
    with pytest.raises(Closed, match="answered this appeal already"):
        standing.answer(appealed=appealed, text="Twice.", by=owner)
    assert not standing.open_appeals(study).exists()
    standing.appeal(study=study, account=rater, text="Thank you.")
    (own,) = standing.own_records(user)
    assert [event.text for event in own.said] == ["I did look.", "Thank you."]
    assert own.said[0].answer.text == "We looked again."
    assert not own.may_appeal


def test_what_two_raters_wrote_stays_when_they_turn_out_to_be_one(
    study: Study, rater: Account
) -> None:
    other = making.rater(study)
    making.work(study, other)
    standing.appeal(study=study, account=other, text="I did look.")
    call_command("same_person", str(rater.person_id), str(other.person_id))
    (record,) = standing.records_of(study)
    assert (record.number, record.pages, record.has_appeal) == (rater.person_id, 4, True)
    assert [event.text for event in standing.events_of(study, rater.person_id)] == ["I did look."]
    assert not standing.own_record(rater, study).may_appeal
    assert Reading.objects.get(study=study).asked_at is not None
    with pytest.raises(CommandError, match="no rater"):
        call_command("same_person", str(rater.person_id), "0")


def test_only_who_worked_in_a_study_appeals_there(study: Study, rater: Account) -> None:
    with pytest.raises(NotAllowed):
        standing.appeal(study=study, account=making.rater(study), text="Hello.")


def test_nobody_acts_on_themselves(study: Study, rater: Account) -> None:
    with pytest.raises(NotAllowed):
        standing.act(
            study=study, person=rater.person_id, kind="warning", text="x", by=user_of(rater)
        )


def test_raters_learn_how_many_golds_they_passed_once_the_study_tells_it(
    study: Study, rater: Account
) -> None:
    (own,) = standing.own_records(user_of(rater))
    assert (own.golds_passed, own.golds_shown) == (None, None)
    change_version(study=study, by=study.corpus.owner, quality={"raters_see_accuracy": True})
    (own,) = standing.own_records(user_of(rater))
    assert (own.golds_passed, own.golds_shown) == (5, 6)
    Assignment.objects.filter(person=rater.person_id).update(golds_shown=1, golds_failed=0)
    (own,) = standing.own_records(user_of(rater))
    assert own.golds_shown is None
