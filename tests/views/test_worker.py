"""What a worker meets in the frame, without a browser: forms that work without script too."""

import json
import logging
import re
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from hits.models import Assignment, Claim, Consent, Hit, Judgment, Publication, Slot, Study, Unit
from hits.pipeline.submit import free_expired
from tests import making
from tests.framed import Worker

pytestmark = pytest.mark.django_db
QUESTIONS = 6


@pytest.fixture
def study() -> Study:
    settings = {"candidates_a_page": 4, "justification": False}
    return making.study(making.corpus(images=15), settings=settings)


@pytest.fixture
def hit(study: Study) -> Hit:
    return making.offered(study)


@pytest.fixture
def worker(hit: Hit) -> Worker:
    return Worker(hit)


def text(response: Any) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", response.content.decode()).split())


class TestPreview:
    def test_it_shows_all_questions_of_a_specimen_disabled(self, worker: Worker) -> None:
        shown = worker.preview().content.decode()
        assert shown.count('class="question"') == QUESTIONS
        assert "<fieldset disabled>" in shown
        assert "<button" not in shown.replace("data-action", "").split("<fieldset", 1)[1]

    def test_it_says_what_the_study_is_about_and_what_it_pays(
        self, worker: Worker, study: Study
    ) -> None:
        assert study.version is not None
        said = text(worker.preview())
        assert study.version.information[:60] in said
        assert "$0.65" in said
        assert "60 minutes" in said
        publication = Publication.objects.get()
        publication.terms["duration"] = 60
        publication.save()
        assert "You have 1 minute from when" in text(worker.preview())

    def test_it_says_what_an_hour_earns_once_the_time_is_known(
        self, worker: Worker, study: Study
    ) -> None:
        Study.objects.filter(pk=study.pk).update(page_seconds=235)
        assert "$0.65, about 4 minutes, $9.75 an hour" in text(worker.preview())

    def test_an_address_without_parameters_is_a_preview(self, worker: Worker) -> None:
        response = worker.client.get(worker.path)
        assert "This is a preview." in text(response)

    def test_it_reserves_and_stores_nothing(self, worker: Worker) -> None:
        worker.preview()
        assert not Claim.objects.exists()
        assert not Assignment.objects.exists()
        assert not Unit.objects.filter(held__gt=0).exists()

    def test_it_carries_no_pass(self, worker: Worker) -> None:
        assert "token" not in worker.preview().content.decode()


class TestAccepting:
    def test_information_comes_first_and_nothing_is_stored_by_reading_it(
        self, worker: Worker
    ) -> None:
        assert "I agree and start" in text(worker.open())
        assert not Claim.objects.exists()

    def test_agreeing_is_stored_and_leads_to_the_page(self, worker: Worker, study: Study) -> None:
        response = worker.post("agree")
        assert response.status_code == 302
        consent = Consent.objects.get(participation__person=worker.claim.account.person)
        assert consent.version == study.version
        page = worker.client.get(response["Location"])
        assert page.content.decode().count('class="question"') == QUESTIONS
        assert '<details class="sheet" id="instructions" open>' in page.content.decode()

    def test_the_page_shows_the_reward_of_the_hit(self, worker: Worker) -> None:
        assert "$0.65, time not known yet · yours until" in text(worker.accept().open())

    def test_a_page_has_no_way_out_that_a_worker_does_not_have(self, worker: Worker) -> None:
        shown = worker.accept().open().content.decode()
        for link in ["/login/", "/work/", 'href="/"', "_blank", "csrfmiddlewaretoken"]:
            assert link not in shown

    def test_what_was_saved_is_there_after_a_reload(self, worker: Worker) -> None:
        saved = worker.accept().fetch("save", revision="0", **{"q2-choice": "mostly_no"})
        assert saved.status_code == 200
        assert saved.json()["revision"] == 1
        shown = worker.open().content.decode()
        assert re.search(r'name="q2-choice" value="mostly_no"[^>]* checked', shown)

    def test_an_older_window_cannot_submit_over_newer_answers(self, worker: Worker) -> None:
        worker.accept().fetch("save", revision="0", **{"q1-choice": "no"})
        older = {f"q{position}-choice": "yes" for position in range(1, QUESTIONS + 1)}
        refused = worker.fetch("submit", revision="0", **older)
        assert (refused.status_code, refused.json()["error"]) == (409, "newer")
        page = worker.post("submit", revision="0", **older)
        assert page.status_code == 409
        assert "Load the newer answers" in text(page)
        assert not Judgment.objects.exists()

    def test_a_save_over_a_newer_one_is_refused(self, worker: Worker) -> None:
        worker.accept().fetch("save", revision="3", **{"q1-choice": "yes"})
        refused = worker.fetch("save", revision="1", **{"q1-choice": "no"})
        assert (refused.status_code, refused.json()["error"]) == (409, "newer")

    def test_what_is_sent_again_keeps_the_place_of_the_hit(self, worker: Worker) -> None:
        worker.accept()
        Claim.objects.update(seen_at=timezone.now() - timedelta(minutes=30))
        worker.open()
        assert timezone.now() - worker.claim.seen_at < timedelta(minutes=5)


class TestSubmitting:
    def test_answers_are_stored_and_then_handed_over(self, worker: Worker) -> None:
        response = worker.accept().do()
        assert response.status_code == 200
        assert Judgment.objects.count() == QUESTIONS
        page = worker.client.get(response.json()["next_url"]).content.decode()
        assert 'action="http://market.example/mturk/externalSubmit"' in page
        assert f'name="assignmentId" value="{worker.ref}"' in page
        assert f'name="receipt" value="{worker.page.key}"' in page
        assert "data-at-once" in page

    def test_it_works_without_script(self, worker: Worker) -> None:
        worker.accept()
        response = worker.post("submit", **making.truthful(worker.page))
        assert response.status_code == 302
        finish = worker.client.get(response["Location"])
        assert "<button" in finish.content.decode()
        assert "Hand over" in text(finish)

    def test_without_script_missing_answers_come_back_with_all_the_others(
        self, worker: Worker
    ) -> None:
        worker.accept()
        fields = making.truthful(worker.page)
        del fields["q3-choice"]
        response = worker.post("submit", **fields)
        assert response.status_code == 422
        shown = response.content.decode()
        assert shown.count(" checked") == QUESTIONS - 1 + shown.count('id="keys-on" checked')
        assert "Choose one of the four answers." in shown

    def test_with_script_missing_answers_are_named(self, worker: Worker) -> None:
        response = worker.accept().fetch("submit")
        assert response.status_code == 422
        assert len(response.json()["errors"]) == QUESTIONS

    def test_sent_again_it_has_the_same_receipt_and_changes_nothing(self, worker: Worker) -> None:
        token = worker.accept().token()
        fields = making.truthful(worker.page)
        first = worker.fetch("submit", token, **fields)
        again = worker.fetch("submit", token, **dict.fromkeys(fields, "no"))
        assert again.json() == first.json()
        assert Judgment.objects.filter(answer__choice="yes").count() == QUESTIONS - 1

    def test_a_note_is_taken_of_the_hand_over_once(self, worker: Worker) -> None:
        token = worker.accept().token()
        worker.do()
        assert worker.claim.handed_over_at is None
        assert worker.fetch("handed-over", token).status_code == 204
        noted = worker.claim.handed_over_at
        assert noted is not None
        worker.fetch("handed-over", token)
        assert worker.claim.handed_over_at == noted

    def test_nothing_is_handed_over_before_it_is_submitted(self, worker: Worker) -> None:
        worker.accept().fetch("handed-over")
        assert worker.claim.handed_over_at is None

    def test_after_it_the_button_stays_and_nothing_is_posted_by_itself(
        self, worker: Worker
    ) -> None:
        token = worker.accept().token()
        worker.do()
        worker.fetch("handed-over", token)
        shown = worker.open()
        assert "Hand over again" in text(shown)
        assert "data-at-once" not in shown.content.decode()

    def test_once_the_marketplace_confirmed_it_there_is_nothing_left_to_do(
        self, worker: Worker
    ) -> None:
        worker.accept().do()
        Claim.objects.update(theirs="submitted", confirmed_at=timezone.now())
        shown = worker.open()
        assert "The marketplace has your work." in text(shown)
        assert "<form" not in shown.content.decode()

    def test_after_the_marketplaces_time_it_says_what_happens_next(self, worker: Worker) -> None:
        worker.accept().do()
        Claim.objects.update(opened_at=timezone.now() - timedelta(days=2))
        shown = worker.open()
        assert "Your answers are stored." in text(shown)
        assert "can pay you for them by a HIT that is for you alone" in text(shown)
        assert "data-at-once" not in shown.content.decode()
        assert not re.search(r"\breturn", text(shown), re.IGNORECASE)

    def test_no_page_asks_anybody_to_return_their_work(self, worker: Worker) -> None:
        pages = [worker.preview(), worker.open(), worker.accept().open()]
        worker.do()
        pages += [worker.open()]
        for page in pages:
            assert not re.search(r"\breturn", text(page), re.IGNORECASE)

    @pytest.mark.parametrize("state", ["paused", "closed"])
    def test_it_is_taken_from_a_study_that_was_closed_in_between(
        self, worker: Worker, study: Study, state: str
    ) -> None:
        worker.accept()
        Study.objects.filter(pk=study.pk).update(state=state)
        Publication.objects.update(state=state)
        assert worker.do().status_code == 200
        assert Slot.objects.filter(state="counted").count() == QUESTIONS

    def test_late_it_counts_where_its_units_are_open_and_is_kept_in_any_case(
        self, worker: Worker, hit: Hit
    ) -> None:
        worker.accept()
        Assignment.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
        free_expired()
        taken = worker.page.slots.filter(unit__gold__isnull=True).values("unit")[:1]
        Unit.objects.filter(pk__in=taken).update(counted=1)
        assert worker.do().status_code == 200
        states = worker.page.slots.filter(unit__gold__isnull=True).values_list("state", flat=True)
        assert sorted(states) == ["counted"] * 3 + ["surplus"]
        assert Judgment.objects.count() == QUESTIONS

    def test_a_page_given_back_in_between_is_refused_without_a_loss(self, worker: Worker) -> None:
        token = worker.accept().token()
        fields = making.truthful(worker.page)
        Assignment.objects.update(state="returned")
        refused = worker.fetch("submit", token, **fields)
        assert (refused.status_code, refused.json()["error"]) == (409, "closed")


class TestWithdrawing:
    def test_what_is_open_is_given_up_and_agreeing_again_is_asked_for(self, worker: Worker) -> None:
        token = worker.accept().token()
        assert "You have withdrawn." in text(worker.post("withdraw", token))
        assert worker.page.state == Assignment.State.RETURNED
        assert not Unit.objects.filter(held__gt=0).exists()
        assert "I agree and start" in text(worker.open())

    def test_whoever_withdrew_is_asked_again_before_a_late_page_goes_on(
        self, worker: Worker
    ) -> None:
        token = worker.accept().token()
        first = worker.page
        Assignment.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
        free_expired()
        worker.post("withdraw", token)
        assert "I agree and start" in text(worker.open())
        worker.accept()
        assert worker.page == first
        assert worker.do().status_code == 200

    def test_what_was_submitted_stays(self, worker: Worker) -> None:
        token = worker.accept().token()
        worker.do()
        worker.post("withdraw", token)
        assert worker.page.state == Assignment.State.SUBMITTED
        assert Slot.objects.filter(state="counted").count() == QUESTIONS


class TestWhoeverAccepted:
    def test_gets_golds_when_nothing_else_is_left(self, worker: Worker, study: Study) -> None:
        Unit.objects.filter(study=study, gold__isnull=True).update(excluded=True)
        worker.accept()
        assert not worker.page.slots.filter(unit__gold__isnull=True).exists()
        assert worker.do().status_code == 200
        assert "externalSubmit" in worker.open().content.decode()

    def test_gets_a_specimen_after_that(self, worker: Worker, study: Study) -> None:
        Unit.objects.filter(study=study, gold__isnull=False).update(excluded=True)
        Study.objects.update(state="closed")
        worker.accept()
        assert not worker.page.slots.exists()
        shown = worker.open().content.decode()
        assert shown.count('class="question"') == QUESTIONS
        assert worker.fetch("submit", **making.answers(QUESTIONS)).status_code == 200
        assert worker.page.draft["q1-choice"] == ["yes"]
        assert "externalSubmit" in worker.open().content.decode()

    def test_hands_a_hit_over_that_pays_for_earlier_work(
        self, worker: Worker, study: Study
    ) -> None:
        worker.accept().do()
        publication = making.offered(study).publication
        publication.compensates = worker.claim
        publication.save()
        paid = Worker(making.hit(publication), ref="ASSIGNMENT2")
        before = paid.preview()
        assert "Accept it and hand it over: there is nothing to answer." in text(before)
        assert 'class="question"' not in before.content.decode()
        shown = paid.open()
        assert "This HIT pays you for work that you did before." in text(shown)
        assert "externalSubmit" in shown.content.decode()
        assert paid.claim.assignment is None


def test_the_log_has_no_pass_and_no_worker(
    worker: Worker, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO):
        token = worker.accept().token()
        worker.do()
    said = json.dumps([record.msg for record in caplog.records], default=str)
    assert token not in said
    assert worker.worker not in said
