from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from hits.models import (
    Account,
    Assignment,
    Claim,
    Exclusion,
    Hit,
    Judgment,
    Participation,
    Person,
    Slot,
    Study,
    Unit,
)
from hits.pipeline import claim as claims
from hits.pipeline.errors import NotAllowed, Refused
from hits.pipeline.people import account_at, give_consent, link, withdraw
from hits.pipeline.show import page_of
from hits.pipeline.submit import free_expired
from tests import making
from tests.concurrency.reconciling import assert_places_reconcile
from tests.framed import entry

pytestmark = pytest.mark.django_db
QUESTIONS = 6
SMALL = {"candidates_a_page": 4, "justification": False}


@pytest.fixture
def study() -> Study:
    return making.study(making.corpus(images=15), settings=SMALL)


@pytest.fixture
def hit(study: Study) -> Hit:
    return making.offered(study)


def accept(hit: Hit, worker: str = "WORKER1", ref: str = "ASSIGNMENT1") -> Claim:
    return claims.agree(hit=hit, entry=entry(hit, worker, ref))


def page_of_claim(claim: Claim) -> Assignment:
    claim.refresh_from_db()
    assert claim.assignment is not None
    return claim.assignment


def pools(claim: Claim) -> list[str]:
    return sorted(claim.assignment.slots.values_list("unit__pool", flat=True))  # type: ignore[union-attr]


def go_away(claim: Claim, minutes: int) -> None:
    Claim.objects.filter(pk=claim.pk).update(seen_at=timezone.now() - timedelta(minutes=minutes))


def close_all_units(study: Study) -> None:
    Unit.objects.filter(study=study, gold__isnull=True).update(excluded=True)


def send(claim: Claim) -> Assignment:
    claim = Claim.objects.select_related("assignment", "account").get(pk=claim.pk)
    assert claim.assignment is not None
    fields = making.truthful(claim.assignment) or making.answers(QUESTIONS)
    claims.hand_in(claim=claim, fields=fields)
    return page_of_claim(claim)


class TestThePageOfAClaim:
    def test_it_has_units_and_golds_and_lasts_as_long_as_the_marketplace_says(
        self, hit: Hit
    ) -> None:
        claim = accept(hit)
        assert pools(claim) == ["candidate"] * 4 + ["true_negative", "true_positive"]
        page = page_of_claim(claim)
        assert page.lease_until == claim.opened_at + making.TERMS.duration
        assert claim.reserves

    def test_the_time_to_read_and_agree_is_part_of_the_marketplaces(self, hit: Hit) -> None:
        asked = timezone.now() - timedelta(minutes=3)
        claim = claims.agree(hit=hit, entry=entry(hit, "WORKER1", "ASSIGNMENT1"), since=asked)
        assert page_of_claim(claim).lease_until == asked + making.TERMS.duration

    def test_without_consent_there_is_none_and_nothing_is_stored(self, hit: Hit) -> None:
        with pytest.raises(NotAllowed):
            claims.claim(hit=hit, entry=entry(hit))
        assert not Claim.objects.exists()
        assert not Account.objects.filter(channel="local").exists()

    def test_it_is_the_same_whenever_it_is_asked_for(self, hit: Hit) -> None:
        first = accept(hit)
        again = claims.claim(hit=hit, entry=entry(hit))
        assert again.pk == first.pk
        assert again.assignment == first.assignment

    def test_whoever_agreed_gets_the_page_of_the_next_hit_at_once(self, hit: Hit) -> None:
        accept(hit)
        other = making.hit(hit.publication)
        assert claims.claim(hit=other, entry=entry(other, ref="ASSIGNMENT2")).assignment

    def test_one_account_has_a_page_for_each_of_its_hits(self, study: Study, hit: Hit) -> None:
        other = making.hit(hit.publication)
        first, second = accept(hit), accept(other, ref="ASSIGNMENT2")
        assert first.account == second.account
        assert first.assignment != second.assignment
        assert Slot.objects.filter(person=first.account.person).count() == 2 * QUESTIONS

    def test_nobody_gets_a_unit_that_they_judged_in_house(self, study: Study, hit: Hit) -> None:
        rater = making.rater(study)
        done = making.work(study, rater)
        link(account=account_at(channel="local", external_id="WORKER1"), same_as=rater)
        claim = accept(hit)
        theirs = set(claim.assignment.slots.values_list("unit", flat=True))  # type: ignore[union-attr]
        assert not theirs & set(done.slots.values_list("unit", flat=True))

    def test_a_page_given_back_by_withdrawal_is_replaced_after_new_consent(self, hit: Hit) -> None:
        claim = accept(hit)
        first = claim.assignment
        withdraw(study=hit.publication.study, account=claim.account)
        with pytest.raises(NotAllowed):
            claims.claim(hit=hit, entry=entry(hit))
        assert accept(hit).assignment != first


class TestSomebodyForWhomNothingIsLeft:
    def test_gets_golds_they_have_not_seen(self, study: Study, hit: Hit) -> None:
        close_all_units(study)
        claim = accept(hit)
        assert pools(claim) == ["true_negative"] * 3 + ["true_positive"] * 3

    def test_gets_a_specimen_when_no_gold_is_left_either(self, study: Study, hit: Hit) -> None:
        Unit.objects.filter(study=study).update(excluded=True)
        claim = accept(hit)
        assert not Slot.objects.exists()
        assert claim.assignment is not None

    def test_a_specimen_shows_as_many_questions_as_a_page_and_the_same_after_a_reload(
        self, study: Study, hit: Hit
    ) -> None:
        Unit.objects.filter(study=study, gold__isnull=False).update(excluded=True)
        other = making.hit(hit.publication)
        accept(hit)
        claim = accept(hit, "WORKER2", "ASSIGNMENT2")
        assert claim.assignment is not None
        assert not claim.assignment.slots.exists()
        page = page_of(claim.assignment)
        assert len(page.questions) == QUESTIONS
        accept(other, "WORKER3", "ASSIGNMENT3")
        assert page_of(page_of_claim(claim)).questions == page.questions

    def test_the_answers_to_a_specimen_stay_in_its_draft_and_judge_nothing(
        self, study: Study, hit: Hit
    ) -> None:
        Unit.objects.filter(study=study, gold__isnull=False).update(excluded=True)
        accept(hit)
        page = send(accept(hit, "WORKER2", "ASSIGNMENT2"))
        assert page.state == Assignment.State.SUBMITTED
        assert page.draft["q1-choice"] == ["yes"]
        assert not Judgment.objects.filter(slot__assignment=page).exists()

    @pytest.mark.parametrize("state", ["paused", "closed"])
    def test_a_study_that_is_not_open_gives_no_units(
        self, study: Study, hit: Hit, state: str
    ) -> None:
        Study.objects.filter(pk=study.pk).update(state=state)
        assert "candidate" not in pools(accept(making.offered(Study.objects.get(pk=study.pk))))

    def test_an_excluded_person_gets_golds_only(self, study: Study, hit: Hit) -> None:
        account = account_at(channel="local", external_id="WORKER1")
        give_consent(study=study, account=account)
        Participation.objects.update(excluded_reason="Answers at random.")
        assert "candidate" not in pools(accept(hit))

    def test_somebody_of_a_study_that_rules_this_one_out_gets_golds_and_may_go_on_there(
        self, study: Study, hit: Hit
    ) -> None:
        other = making.study(making.corpus(images=15), settings=SMALL)
        Exclusion.objects.create(study=study, other=other)
        accept(making.offered(other))
        assert "candidate" not in pools(accept(hit))
        assert "candidate" in pools(accept(making.offered(other), ref="ASSIGNMENT2"))

    def test_a_hit_that_has_ended_gives_no_units(self, hit: Hit) -> None:
        Hit.objects.update(state=Hit.State.ENDED)
        claim = accept(hit)
        assert not claim.reserves
        assert "candidate" not in pools(claim)


class TestThePlaceOfAHit:
    def test_a_second_claim_holds_no_units(self, hit: Hit) -> None:
        first, second = accept(hit), accept(hit, "WORKER2", "ASSIGNMENT2")
        assert (first.reserves, second.reserves) == (True, False)
        assert "candidate" not in pools(second)

    def test_it_passes_on_when_its_holder_was_away_for_ten_minutes(self, hit: Hit) -> None:
        first = accept(hit)
        go_away(first, minutes=11)
        second = accept(hit, "WORKER2", "ASSIGNMENT2")
        assert second.reserves
        assert page_of_claim(first).state == Assignment.State.EXPIRED
        assert not first.reserves
        assert Unit.objects.filter(held=1).count() == 4
        assert_places_reconcile()

    def test_it_stays_with_somebody_who_was_here_a_moment_ago(self, hit: Hit) -> None:
        first = accept(hit)
        go_away(first, minutes=9)
        assert not accept(hit, "WORKER2", "ASSIGNMENT2").reserves

    def test_saving_an_answer_keeps_it(self, hit: Hit) -> None:
        first = accept(hit)
        go_away(first, minutes=11)
        claims.save(claim=first, fields={"q1-choice": ["yes"]}, revision=0)
        assert not accept(hit, "WORKER2", "ASSIGNMENT2").reserves

    def test_it_passes_on_at_once_when_the_lease_has_run_out(self, hit: Hit) -> None:
        first = accept(hit)
        Assignment.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
        free_expired()
        assert accept(hit, "WORKER2", "ASSIGNMENT2").reserves
        assert not Claim.objects.get(pk=first.pk).reserves

    def test_one_that_the_marketplace_confirmed_is_never_taken_over(self, hit: Hit) -> None:
        first = accept(hit)
        send(first)
        Claim.objects.update(theirs="submitted", confirmed_at=timezone.now())
        go_away(first, minutes=60)
        assert not accept(hit, "WORKER2", "ASSIGNMENT2").reserves

    def test_what_an_unconfirmed_claim_submitted_counts_no_more_once_it_is_taken_over(
        self, hit: Hit
    ) -> None:
        first = accept(hit)
        send(first)
        go_away(first, minutes=11)
        assert accept(hit, "WORKER2", "ASSIGNMENT2").reserves
        page = page_of_claim(first)
        assert (page.use, page.payment) == ("not_used", "pending")
        assert "marketplace" in page.decisions.get().reason
        assert not Unit.objects.filter(counted__gt=0).exists()
        assert Judgment.objects.filter(slot__assignment=page).count() == QUESTIONS
        assert_places_reconcile()

    def test_a_page_that_lost_it_counts_where_its_units_are_still_open(
        self, study: Study, hit: Hit
    ) -> None:
        first = accept(hit)
        mine = set(first.assignment.slots.values_list("unit", flat=True))  # type: ignore[union-attr]
        go_away(first, minutes=11)
        second = accept(hit, "WORKER2", "ASSIGNMENT2")
        theirs = set(second.assignment.slots.values_list("unit", flat=True))  # type: ignore[union-attr]
        page = send(first)
        assert page.is_late
        states = dict(page.slots.filter(unit__gold__isnull=True).values_list("unit", "state"))
        assert states == {
            unit: "surplus" if unit in theirs else "counted" for unit in states if unit in mine
        }
        assert_places_reconcile()


class TestACrowd:
    def test_past_twenty_unconfirmed_claims_nothing_more_is_stored(self, hit: Hit) -> None:
        for number in range(20):
            accept(hit, f"INVENTED{number}", f"REF{number}")
        people, accounts = Person.objects.count(), Account.objects.count()
        for number in range(20, 40):
            with pytest.raises(claims.TooMany):
                accept(hit, f"INVENTED{number}", f"REF{number}")
        assert Claim.objects.count() == 20
        assert (Person.objects.count(), Account.objects.count()) == (people, accounts)
        assert Unit.objects.filter(held__gt=0).count() == 4

    def test_whoever_was_there_before_it_goes_on(self, hit: Hit) -> None:
        real = accept(hit)
        for number in range(19):
            accept(hit, f"INVENTED{number}", f"REF{number}")
        with pytest.raises(claims.TooMany):
            accept(hit, "ONEMORE", "ONEMORE")
        assert claims.claim(hit=hit, entry=entry(hit)).assignment == real.assignment
        assert send(real).state == Assignment.State.SUBMITTED

    def test_those_of_an_earlier_time_and_confirmed_ones_are_not_counted(self, hit: Hit) -> None:
        for number in range(20):
            accept(hit, f"INVENTED{number}", f"REF{number}")
        Claim.objects.update(opened_at=timezone.now() - timedelta(minutes=61))
        assert accept(hit, "LATER", "LATER")


class TestWhatNoMarketplaceSends:
    def test_the_id_of_another_hit_is_refused(self, hit: Hit) -> None:
        other = making.hit(hit.publication)
        with pytest.raises(Refused):
            claims.check(hit=hit, entry=entry(other))

    def test_a_hit_whose_id_is_not_known_here_yet_is_let_in(self, hit: Hit) -> None:
        unsettled = Hit(publication=hit.publication)
        claims.check(hit=unsettled, entry=entry(hit))

    @pytest.mark.parametrize("bad", ["", "x" * 65, "a\0b", "ä"])
    def test_ids_that_cannot_be_are_refused(self, hit: Hit, bad: str) -> None:
        for made in [entry(hit, worker=bad), entry(hit, ref=bad)]:
            with pytest.raises(Refused):
                claims.check(hit=hit, entry=made)


class TestASpecimen:
    def test_it_has_no_gold_on_it(self, study: Study) -> None:
        golds = set()
        for payload in Unit.objects.filter(gold__isnull=False).values_list("payload", flat=True):
            golds.add((payload["image"], payload["caption"]))
        shown = [question.shown for question in claims.specimen(study).questions]
        captions = {c.text: c.pk for c in study.corpus.captions.all()}
        assert len(shown) == QUESTIONS
        by_url = {f"/images/{i.blob_id}": i.pk for i in study.corpus.images.all()}
        for each in shown:
            assert (by_url[each["image"].url], captions[each["caption"]]) not in golds

    def test_it_reserves_and_stores_nothing(self, study: Study) -> None:
        claims.specimen(study)
        assert not Assignment.objects.exists()
        assert not Unit.objects.filter(held__gt=0).exists()

    def test_it_shows_more_than_one_image(self, study: Study) -> None:
        images = {question.shown["image"].url for question in claims.specimen(study).questions}
        assert len(images) > 2

    def test_it_takes_few_statements_however_large_the_study(
        self, study: Study, django_assert_max_num_queries: Any
    ) -> None:
        with django_assert_max_num_queries(8):
            claims.specimen(study)
