import csv
import json
from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.utils import timezone

from hits.models import (
    Account,
    Assignment,
    Decision,
    Exclusion,
    Participation,
    Qualification,
    Slot,
    Study,
    StudyVersion,
    Unit,
)
from hits.pipeline.check import check_submitted
from hits.pipeline.draw import draw, draw_for_ticket
from hits.pipeline.errors import Refused
from hits.pipeline.evidence import track_record
from hits.pipeline.feedback import Feedback, feedback_on
from hits.pipeline.launch import grant
from hits.pipeline.open import create_study, open_study
from hits.pipeline.overview import overview_of
from hits.pipeline.own_work import earned
from hits.pipeline.people import give_consent, link
from hits.pipeline.release import release
from hits.pipeline.review import queue
from hits.pipeline.shelf import path_of
from hits.pipeline.submit import free_expired, give_back, submit
from hits.pipeline.training import NO_MORE_TRIES, OPEN_ELSEWHERE, NotQualified, let_in, standings
from hits.pipeline.versions import change_version
from tests import making
from tests.protocols.cases.similarity import rows_of, study_of

pytestmark = pytest.mark.django_db

SMALL = {"candidates_a_page": 4, "justification": False}
SET = {"score": "3.27", "set": "1"}
TRAINING: dict[str, Any] = {"training_units": 4, "training_accuracy": 75, "training_attempts": 2}


@pytest.fixture
def study() -> Study:
    return making.study(making.corpus(images=12), settings=SMALL, pay="0.50", **TRAINING)


@pytest.fixture
def account(study: Study) -> Account:
    return making.rater(study)


def answer(page: Assignment, wrong: int) -> None:
    """Submit a page of golds with so many wrong answers."""
    fields = making.truthful(page)
    for name in list(fields)[:wrong]:
        fields[name] = ["no" if fields[name] == ["yes"] else "yes"]
    submit(assignment_key=page.key, account=page.account, fields=fields)


def train(study: Study, account: Account, wrong: int) -> Assignment:
    page = draw(study=study, account=account)
    assert page.is_training
    answer(page, wrong)
    return page


def told(page: Assignment) -> Feedback:
    feedback = feedback_on(Assignment.objects.get(pk=page.pk))
    assert feedback is not None
    return feedback


def units(page: Assignment) -> set[int]:
    return set(Slot.objects.filter(assignment=page).values_list("unit", flat=True))


def test_the_first_page_is_a_training_page_of_golds_alone(study: Study, account: Account) -> None:
    page = draw(study=study, account=account)
    assert page.is_training
    assert page.slots.count() == 4
    assert not Unit.objects.filter(pk__in=units(page), gold__isnull=True).exists()


def test_asking_again_gives_the_training_page_that_is_open(study: Study, account: Account) -> None:
    assert draw(study=study, account=account) == draw(study=study, account=account)


def test_who_answers_well_enough_goes_on_to_units(study: Study, account: Account) -> None:
    train(study, account, wrong=1)
    page = draw(study=study, account=account)
    assert not page.is_training
    assert Unit.objects.filter(pk__in=units(page), gold__isnull=True).count() == 4


def test_who_does_not_tries_again_on_other_golds(study: Study, account: Account) -> None:
    first = train(study, account, wrong=2)
    second = draw(study=study, account=account)
    assert second.is_training
    assert not units(first) & units(second)


def test_golds_of_training_are_never_asked_of_that_person_again(
    study: Study, account: Account
) -> None:
    seen = units(train(study, account, wrong=2)) | units(train(study, account, wrong=0))
    for _ in range(3):
        assert not seen & units(making.work(study, account))


def test_after_the_last_try_there_are_no_pages_and_a_kind_word(
    study: Study, account: Account
) -> None:
    for _ in range(2):
        train(study, account, wrong=4)
    with pytest.raises(NotQualified) as refusal:
        draw(study=study, account=account)
    assert refusal.value.message == NO_MORE_TRIES.format(person=account.person_id)


def test_training_ends_when_the_golds_run_out(study: Study, account: Account) -> None:
    golds = Unit.objects.filter(study=study, gold__isnull=False).order_by("pk")
    golds.exclude(pk__in=list(golds.values_list("pk", flat=True)[:7])).update(excluded=True)
    train(study, account, wrong=4)
    with pytest.raises(NotQualified, match="no more questions to train on"):
        draw(study=study, account=account)
    assert Assignment.objects.count() == 1


def test_a_page_open_under_another_account_is_a_try_too(study: Study, account: Account) -> None:
    other = making.rater(study)
    link(account=account, same_as=other)
    for each in (account, other):
        each.refresh_from_db()
    train(study, account, wrong=4)
    draw(study=study, account=account)
    with pytest.raises(NotQualified) as refusal:
        draw(study=study, account=other)
    assert refusal.value.message == OPEN_ELSEWHERE


def test_a_late_page_past_the_last_try_does_not_qualify(study: Study, account: Account) -> None:
    late = draw(study=study, account=account)
    Assignment.objects.update(lease_until=timezone.now())
    free_expired()
    for _ in range(2):
        train(study, account, wrong=4)
    answer(late, wrong=0)
    with pytest.raises(NotQualified):
        draw(study=study, account=account)


def test_a_training_page_given_back_is_no_try(study: Study, account: Account) -> None:
    first = draw(study=study, account=account)
    give_back(assignment_key=first.key, account=account)
    train(study, account, wrong=4)
    assert train(study, account, wrong=0)
    assert not draw(study=study, account=account).is_training


def test_feedback_tells_of_each_question_what_was_answered_what_is_right_and_why(
    study: Study, account: Account
) -> None:
    making.explain_golds(study, lambda unit: f"Because of {(unit.gold or {})['positive']}.")
    feedback = told(train(study, account, wrong=1))
    assert (feedback.right, feedback.needed, feedback.asked) == (3, 3, 4)
    assert feedback.has_qualified
    assert [each.passed for each in feedback.answers].count(False) == 1
    for each in feedback.answers:
        expected = each.expected.startswith("A yes")
        assert each.explanation == f"Because of {expected}."
        assert (each.answer == "100% YES") == (expected == each.passed)


def test_feedback_of_a_slider_says_no_number() -> None:
    corpus = making.corpus(images=12)
    ids = list(corpus.images.order_by("pk").values_list("pk", flat=True))
    rows = rows_of(("image1", ids), ("image2", ids[1:]))
    study = study_of("sis", corpus, rows, training_units=3, training_accuracy=50)
    page = draw(study=study, account=making.rater(study))
    fields = {f"q{n}-{name}": [value] for n in (1, 2, 3) for name, value in SET.items()}
    submit(assignment_key=page.key, account=page.account, fields=fields)
    for each in told(page).answers:
        assert each.passed
        assert (each.answer, each.expected) == (
            "Above “Roughly equivalent”",
            "From below “Roughly equivalent” to “Near duplicates”",
        )


def test_feedback_says_how_many_tries_are_left(study: Study, account: Account) -> None:
    first = train(study, account, wrong=2)
    assert (told(first).has_qualified, told(first).tries_left) == (False, 1)
    train(study, account, wrong=2)
    assert told(first).tries_left == 0


def test_there_is_no_feedback_before_a_page_is_submitted(study: Study, account: Account) -> None:
    assert feedback_on(draw(study=study, account=account)) is None


def test_there_is_no_feedback_on_a_page_that_is_no_training(study: Study, account: Account) -> None:
    train(study, account, wrong=0)
    page = making.work(study, account)
    page.refresh_from_db()
    assert feedback_on(page) is None


def test_training_is_paid_and_waits_for_no_review_however_it_went(
    study: Study, account: Account
) -> None:
    page = train(study, account, wrong=4)
    check_submitted()
    page.refresh_from_db()
    assert (page.use, page.payment) == ("used", "approved")
    assert set(Decision.objects.values_list("reason", flat=True)) == {
        "Training, which is paid whatever was answered."
    }
    assert not queue(study).exists()
    assert account.user is not None
    assert earned(account.user).approved == page.version.pay


def test_training_counts_neither_as_work_nor_as_golds_that_failed(
    study: Study, account: Account
) -> None:
    train(study, account, wrong=1)
    check_submitted()
    theirs = Participation.objects.get(person=account.person)
    assert (theirs.pages_done, theirs.judgments_done, theirs.units_done) == (0, 0, 0)
    page = making.work(study, account)
    check_submitted()
    overview = overview_of(study)
    assert (overview.pages.submitted, overview.pages.golds_failed) == (1, 0)
    assert sum(row.answered for row in overview.results.golds) == 2
    assert track_record(page).golds_shown == 2


@pytest.mark.django_db(transaction=True)
def test_a_release_leaves_training_out_and_says_so(study: Study, account: Account) -> None:
    train(study, account, wrong=1)
    page = making.work(study, account)
    only_trained = making.rater(study)
    train(study, only_trained, wrong=4)
    check_submitted()
    made = release(studies=[study], name="a-release", by=study.corpus.owner)
    files = {file.name: path_of(file) for file in made.files.all()}
    judgments = list(csv.DictReader(StringIO(files["judgments.csv"].read_text())))
    assert {row["page"] for row in judgments} == {str(page.pk)}
    (entry,) = json.loads(files["manifest.json"].read_text())["studies"]
    assert entry["training"] == {
        "pages": 2,
        "people_qualified": 1,
        "people_let_in": 0,
        "judgments": "left out of every file",
    }
    assert (entry["pages"], entry["people"]) == ({"used": 1}, 1)
    assert entry["versions"][0]["training_units"] == 4


def test_who_only_trained_has_not_started_and_may_work_in_a_study_that_excludes_this_one(
    study: Study, account: Account
) -> None:
    other = making.study(making.corpus(images=12), settings=SMALL)
    Exclusion.objects.create(study=study, other=other)
    train(study, account, wrong=0)
    give_consent(study=other, account=account)
    assert draw(study=other, account=account)


def test_who_qualified_stays_qualified_when_training_changes(
    study: Study, account: Account
) -> None:
    train(study, account, wrong=1)
    change_version(study=study, by=study.corpus.owner, training_accuracy=100, training_units=6)
    assert not draw(study=study, account=account).is_training


def test_who_judged_units_before_there_was_training_goes_on_without_it() -> None:
    study = making.study(making.corpus(images=12), settings=SMALL)
    account = making.rater(study)
    making.work(study, account)
    change_version(study=study, by=study.corpus.owner, **TRAINING)
    assert not draw(study=study, account=account).is_training
    assert draw(study=study, account=making.rater(study)).is_training


def test_somebody_let_in_by_hand_needs_no_training(study: Study, account: Account) -> None:
    for _ in range(2):
        train(study, account, wrong=4)
    let_in(study=study, person_id=account.person_id, by=study.corpus.owner)
    assert not draw(study=study, account=account).is_training


def test_letting_in_who_has_qualified_changes_nothing(study: Study, account: Account) -> None:
    train(study, account, wrong=0)
    theirs = let_in(study=study, person_id=account.person_id, by=study.corpus.owner)
    assert theirs.let_in_by is None


def test_nobody_is_let_in_who_does_not_take_part(study: Study) -> None:
    stranger = making.worker()
    with pytest.raises(Refused):
        let_in(study=study, person_id=stranger.person_id, by=study.corpus.owner)


def test_the_researcher_sees_who_trained_how_often(study: Study, account: Account) -> None:
    making.rater(study)
    train(study, account, wrong=4)
    train(study, account, wrong=0)
    tries = dict(standings(study).values_list("person", "tries"))  # type: ignore[misc]  # annotated
    assert sorted(tries.values()) == [0, 2]
    assert tries[account.person_id] == 2


def test_of_two_accounts_of_one_person_one_that_qualified_is_enough(
    study: Study, account: Account
) -> None:
    other = making.rater(study)
    train(study, other, wrong=0)
    link(account=account, same_as=other)
    account.refresh_from_db()
    assert not draw(study=study, account=account).is_training


def ticket(study: Study, account: Account, *, may_hold: bool = True) -> Assignment:
    until = timezone.now() + timedelta(hours=1)
    return draw_for_ticket(study=study, account=account, lease_until=until, may_hold=may_hold)


def test_a_hit_owes_a_training_page_to_who_must_train(study: Study, account: Account) -> None:
    page = ticket(study, account)
    assert page.is_training
    answer(page, wrong=0)
    assert not ticket(study, account).is_training


def test_a_claim_without_the_place_of_its_hit_gets_golds_and_no_answers_to_them(
    study: Study, account: Account
) -> None:
    assert not ticket(study, account, may_hold=False).is_training


def test_a_hit_owes_a_page_of_golds_to_who_did_not_qualify(study: Study, account: Account) -> None:
    for _ in range(2):
        answer(ticket(study, account), wrong=4)
    owed = ticket(study, account)
    assert not owed.is_training
    assert owed.slots.count() == 6
    assert not owed.slots.filter(unit__gold__isnull=True).exists()


def test_a_worker_who_only_trained_is_not_marked_as_one_who_took_part(
    study: Study, account: Account
) -> None:
    Qualification.objects.create(channel="local", study=study, name="Took part", type_id="Q1")
    publication = making.publication(study)
    worker = making.worker()
    give_consent(study=study, account=worker)
    trained = ticket(study, worker)
    answer(trained, wrong=0)
    making.claim(publication, page=trained)
    assert grant(study, "local") == 0
    judged = ticket(study, worker)
    submit(assignment_key=judged.key, account=worker, fields=making.truthful(judged))
    making.claim(publication, page=judged)
    assert grant(study, "local") == 1


def test_more_training_than_there_are_golds_is_refused_in_an_open_study(study: Study) -> None:
    with pytest.raises(Refused, match="needs as many"):
        change_version(study=study, by=study.corpus.owner, training_units=1000)
    assert StudyVersion.objects.filter(study=study).count() == 1


def test_a_study_with_fewer_golds_than_its_training_needs_is_not_opened() -> None:
    corpus = making.corpus(images=12)
    study = create_study(
        slug="few", name="Few", corpus=corpus, protocol_slug="matching", by=corpus.owner,
        settings=SMALL, training_units=1000,
    )  # fmt: skip
    study.proposals.set(making.proposals(corpus))
    with pytest.raises(Refused, match="needs as many"):
        open_study(study=study)
