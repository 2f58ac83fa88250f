"""What somebody may try who knows the address of a HIT, and what it comes to."""

import logging
from base64 import urlsafe_b64encode
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.core.signing import Signer
from django.test import Client
from django.utils import timezone

from hits.models import Account, Assignment, Claim, Hit, Judgment, Person, Slot, Study, Unit
from hits.pipeline import submit
from hits.pipeline.passes import write_pass
from hits.pipeline.publish import address_of
from tests import framed, making
from tests.framed import Worker

pytestmark = pytest.mark.django_db
QUESTIONS = 6
SENT = ["agree", "save", "submit", "handed-over", "withdraw"]


@pytest.fixture
def study() -> Study:
    settings = {"candidates_a_page": 4, "justification": False}
    return making.study(making.corpus(images=15), settings=settings)


@pytest.fixture
def hit(study: Study) -> Hit:
    return making.offered(study)


def logged(caplog: pytest.LogCaptureFixture) -> list[str]:
    lines: list[Any] = [record.msg for record in caplog.records if record.name == "claims"]
    return [line["event"] for line in lines]


def is_untouched() -> bool:
    return not Claim.objects.exists() and not Unit.objects.filter(held__gt=0).exists()


class TestForgedKeys:
    def keys(self, hit: Hit) -> list[str]:
        good = framed.signed_key(hit)
        return [
            hit.key.hex,
            good[:-1] + ("A" if good[-1] != "A" else "B"),
            good.replace(hit.key.hex, uuid4().hex),
            Signer(salt="another").sign(hit.key.hex),
            Signer(salt="hit").sign("not a key"),
            Signer(salt="hit").sign(uuid4().hex),
            "x" * 5000,
            "%00",
        ]

    def test_there_is_nothing_to_see_behind_them(
        self, hit: Hit, caplog: pytest.LogCaptureFixture
    ) -> None:
        worker = Worker(hit)
        seen = set()
        for key in self.keys(hit):
            for query in [{}, worker.query]:
                response = Client().get(f"/hit/{key}/", query)
                assert response.status_code == 404
                seen.add(response.content)
        assert len(seen) == 1
        assert "no such HIT" in logged(caplog)
        assert is_untouched()

    def test_nothing_can_be_sent_there(self, hit: Hit) -> None:
        token = framed.token(hit)
        for key in self.keys(hit):
            for what in SENT:
                sent = Client().post(f"/hit/{key}/{what}", {"token": token, "revision": "0"})
                assert sent.status_code == 404

    def test_a_hit_of_a_marketplace_that_is_configured_no_more_is_not_found(
        self, study: Study
    ) -> None:
        assert Worker(making.offered(study, channel="gone")).preview().status_code == 404


class TestForgedPasses:
    def forged(self, hit: Hit, other: Hit) -> dict[str, str]:
        good = framed.token(hit, "VICTIM", "REF")
        body, _, signature = good.rpartition(":")
        changed = urlsafe_b64encode(
            f'["local","{hit.key.hex}","REF","ATTACKER",9999999999]'.encode()
        ).decode()
        ago = timezone.now() - timedelta(seconds=1)
        entry = framed.entry(hit, "VICTIM", "REF")
        return {
            "none": "",
            "nonsense": "nonsense",
            "without signature": body,
            "changed": f"{changed.rstrip('=')}:{signature}",
            "signed with another salt": Signer(salt="x").sign_object([1]),
            "another shape": Signer(salt="claim").sign_object({"a": 1}),
            "too short": Signer(salt="claim").sign_object(["local"]),
            "key of the hit": framed.signed_key(hit),
            "of another hit": framed.token(other, "VICTIM", "REF"),
            "run out": write_pass(hit=hit, entry=entry, until=ago),
        }

    def test_nothing_is_done_with_them(
        self, study: Study, hit: Hit, caplog: pytest.LogCaptureFixture
    ) -> None:
        victim = Worker(hit, "VICTIM", "REF").accept()
        before = Claim.objects.values().get()
        for why, token in self.forged(hit, making.hit(hit.publication)).items():
            for what in SENT:
                fields = {"revision": "0", **making.answers(QUESTIONS)}
                for sent in [
                    victim.post(what, token, **fields),
                    victim.fetch(what, token, **fields),
                ]:
                    assert sent.status_code in {401, 403}, (why, what)
        assert Claim.objects.values().get() == before
        assert victim.page.draft == {}
        assert not Judgment.objects.exists()
        assert "no good pass" in logged(caplog)

    def test_a_bearer_that_is_wrong_is_not_made_up_for_by_the_form(self, hit: Hit) -> None:
        worker = Worker(hit).accept()
        good = worker.token()
        sent = worker.client.post(
            f"{worker.path}save",
            {"token": good, "revision": "0", "q1-choice": "yes"},
            headers={"Authorization": "Bearer nonsense"},
        )
        assert sent.status_code == 401

    def test_a_good_pass_for_a_hit_never_opened_has_no_page(self, hit: Hit) -> None:
        worker = Worker(hit)
        token = worker.token()
        assert worker.fetch("save", token, revision="0").status_code == 401
        assert worker.fetch("submit", token).status_code == 401
        assert is_untouched()


class TestOtherPeople:
    def test_another_workers_assignment_is_another_claim_with_another_page(self, hit: Hit) -> None:
        real = Worker(hit, "REAL", "REF").accept()
        real.fetch("save", revision="0", **{"q1-choice": "mostly_no"})
        thief = Worker(hit, "THIEF", "REF").accept()
        assert thief.page != real.page
        assert 'value="mostly_no" data-key="3" class="opens-b" checked' not in (
            thief.open().content.decode()
        )
        assert not thief.page.slots.filter(unit__gold__isnull=True).exists()

    def test_a_pass_of_one_worker_reaches_no_page_of_another(self, hit: Hit) -> None:
        real = Worker(hit, "REAL", "REF").accept()
        thief = Worker(hit, "THIEF", "REF").accept()
        sent = real.fetch("save", thief.token(), revision="0", **{"q1-choice": "yes"})
        assert sent.status_code == 200
        assert real.page.draft == {}
        assert thief.page.draft == {"q1-choice": ["yes"]}

    def test_two_marketplaces_do_not_share_their_workers(self, study: Study, settings: Any) -> None:
        settings.CHANNELS = settings.CHANNELS | {"sandbox": settings.CHANNELS["local"]}
        one = Worker(making.offered(study)).accept()
        two = Worker(making.offered(study, channel="sandbox")).accept()
        assert one.claim.account != two.claim.account

    def test_the_page_of_a_claim_is_not_a_raters(self, hit: Hit) -> None:
        worker = Worker(hit).accept()
        client = Client()
        client.force_login(making.user())
        assert client.get(f"/work/{worker.page.key}/").status_code == 404


class TestChangedAddresses:
    def test_the_id_of_another_hit_is_refused(
        self, study: Study, hit: Hit, caplog: pytest.LogCaptureFixture
    ) -> None:
        other = making.hit(hit.publication)
        response = Worker(hit).open(hitId=other.hit_id)
        assert response.status_code == 404
        assert "changed HIT id" in logged(caplog)
        assert is_untouched()

    @pytest.mark.parametrize(
        "stranger",
        [
            "https://evil.example/",
            "http://market.example.evil.example",
            "http://market.example@evil.example/",
            "//evil.example",
            "javascript:alert(1)//evil.example",
            "https://[evil",
        ],
    )
    def test_pages_are_handed_over_where_our_own_record_says(
        self, hit: Hit, stranger: str, caplog: pytest.LogCaptureFixture
    ) -> None:
        worker = Worker(hit)
        for response in [worker.open(turkSubmitTo=stranger), worker.accept().open()]:
            assert "evil" not in response["Content-Security-Policy"]
        worker.do()
        finish = worker.open(turkSubmitTo=stranger).content.decode()
        assert 'action="http://market.example/mturk/externalSubmit"' in finish
        assert 'action="https://evil' not in finish

    def test_a_strangers_host_is_logged(self, hit: Hit, caplog: pytest.LogCaptureFixture) -> None:
        Worker(hit).open(turkSubmitTo="https://evil.example/")
        assert "foreign submit address" in logged(caplog)
        caplog.clear()
        Worker(hit).open()
        assert "foreign submit address" not in logged(caplog)

    @pytest.mark.parametrize("bad", ["", "x" * 300, "a\0b", "ä", "<script>", "' OR 1=1 --"])
    @pytest.mark.parametrize("name", ["assignmentId", "workerId", "hitId"])
    def test_ids_that_cannot_be_are_refused_and_not_stored(
        self, hit: Hit, name: str, bad: str
    ) -> None:
        response = Worker(hit).open(**{name: bad})
        is_preview = name == "assignmentId" and bad == ""
        assert response.status_code == (200 if is_preview else 404)
        assert is_untouched()

    def test_what_the_address_says_is_never_taken_for_markup(self, hit: Hit) -> None:
        response = Worker(hit).open(extra='"><script>alert(1)</script>')
        assert response.status_code == 200
        assert b"<script>alert" not in response.content


class TestReplays:
    def test_a_submission_sent_a_hundred_times_is_stored_once(self, hit: Hit) -> None:
        worker = Worker(hit).accept()
        token, fields = worker.token(), making.truthful(worker.page)
        receipts = {worker.fetch("submit", token, **fields).content for _ in range(100)}
        assert len(receipts) == 1
        assert Judgment.objects.count() == QUESTIONS

    def test_a_save_after_the_submission_changes_nothing(self, hit: Hit) -> None:
        worker = Worker(hit).accept()
        token = worker.token()
        worker.do()
        late = worker.fetch("save", token, revision="5", **{"q1-choice": "no"})
        assert (late.status_code, late.json()["error"]) == (409, "closed")
        assert worker.page.draft == {}

    def test_agreeing_again_changes_nothing(self, hit: Hit) -> None:
        worker = Worker(hit)
        token = worker.token()
        for _ in range(3):
            worker.post("agree", token)
        assert Claim.objects.count() == 1
        assert Assignment.objects.count() == 1

    def test_the_same_assignment_passed_on_to_another_worker_has_a_page_of_its_own(
        self, hit: Hit
    ) -> None:
        first = Worker(hit, "FIRST").accept()
        Claim.objects.update(seen_at=timezone.now() - timedelta(minutes=11))
        second = Worker(hit, "SECOND").accept()
        assert first.page != second.page
        assert second.do().status_code == 200
        assert Slot.objects.filter(assignment=second.page, state="counted").count() == QUESTIONS


class TestAThousandInventedClaims:
    @pytest.fixture
    def flood(self, hit: Hit) -> Any:
        """Each as far as it gets: agreed, so that it would have a page."""

        def come(first: int = 0) -> None:
            client = Client()
            path = f"/hit/{framed.signed_key(hit)}/agree"
            for number in range(first, 1000):
                token = framed.token(hit, f"INVENTED{number}", f"REF{number}")
                client.post(f"{path}?assignmentId=REF{number}", {"token": token})

        return come

    def test_they_leave_few_rows_and_block_no_more_than_the_hit_sold(
        self, flood: Any, caplog: pytest.LogCaptureFixture
    ) -> None:
        people = Person.objects.count()
        with caplog.at_level(logging.WARNING):
            flood()
        assert Claim.objects.count() == 20
        assert Assignment.objects.count() == 20
        assert Account.objects.filter(channel="local").count() == 20
        assert Person.objects.count() == people + 20
        assert Unit.objects.filter(held__gt=0).count() == 4
        assert logged(caplog).count("too many claims") == 980

    def test_a_worker_who_was_there_before_does_the_page_to_its_end(
        self, hit: Hit, flood: Any
    ) -> None:
        real = Worker(hit).accept()
        flood(first=950)
        assert real.open().status_code == 200
        assert real.do().status_code == 200
        assert Slot.objects.filter(assignment=real.page, state="counted").count() == QUESTIONS
        assert "externalSubmit" in real.open().content.decode()

    def test_a_worker_who_comes_after_them_can_hand_the_hit_over(
        self, hit: Hit, flood: Any
    ) -> None:
        flood(first=950)
        late = Worker(hit)
        finish = late.post("agree")
        assert finish.status_code == 200
        shown = finish.content.decode()
        assert "Too many people have opened this HIT" in shown
        assert 'action="http://market.example/mturk/externalSubmit"' in shown
        assert f'name="assignmentId" value="{late.ref}"' in shown
        assert Claim.objects.count() == 20

    def test_once_they_are_idle_the_place_is_the_next_workers(self, hit: Hit, flood: Any) -> None:
        flood(first=990)
        Claim.objects.update(seen_at=timezone.now() - timedelta(minutes=11))
        real = Worker(hit).accept()
        assert real.claim.reserves
        assert real.page.slots.filter(unit__gold__isnull=True).count() == 4
        assert Unit.objects.filter(held__gt=0).count() == 4

    def test_an_address_alone_stores_nothing_however_often_it_is_asked_for(self, hit: Hit) -> None:
        client = Client()
        for number in range(50):
            query = {
                "assignmentId": f"REF{number}",
                "workerId": f"W{number}",
                "hitId": hit.hit_id,
            }
            assert client.get(f"/hit/{framed.signed_key(hit)}/", query).status_code == 200
        assert is_untouched()
        assert not Account.objects.filter(channel="local").exists()


def test_the_address_of_a_hit_is_ours_and_signed(hit: Hit) -> None:
    assert address_of(hit).startswith("http://127.0.0.1:8000/hit/")
    assert framed.signed_key(hit) != hit.key.hex


class TestWithdrawingInAnothersName:
    def test_ends_no_page_but_the_invented_ones_own(self, hit: Hit, study: Study) -> None:
        real = Worker(hit).accept()
        invented = Worker(making.hit(hit.publication), ref="ASSIGNMENT2")
        invented.open()
        invented.post("withdraw", invented.token())
        assert invented.page.state == Assignment.State.RETURNED
        assert real.page.state == Assignment.State.OPEN
        assert real.do().status_code == 200
        assert Judgment.objects.count() == QUESTIONS

    def test_keeps_nobody_from_submitting_a_page_whose_time_ran_out(self, hit: Hit) -> None:
        real = Worker(hit).accept()
        submit.close(real.page, Assignment.State.EXPIRED)
        invented = Worker(making.hit(hit.publication), ref="ASSIGNMENT2")
        invented.open()
        invented.post("withdraw", invented.token())
        assert real.do().status_code == 200
        assert Judgment.objects.count() == QUESTIONS
