"""Pausing, closing and opening again: what is still sold, promised and made."""

from datetime import timedelta
from decimal import Decimal
from functools import partial
from typing import Any

import pytest
from django.utils import timezone

from hits.marketplace.models import HIT, Fault
from hits.marketplace.models import Assignment as TheirAssignment
from hits.models import Claim, Hit, Intent, Job, Publication, Study
from hits.pipeline.compensate import compensate
from hits.pipeline.errors import Closed, Stale
from hits.pipeline.follow import attention_in, following
from hits.pipeline.launch import launch
from hits.pipeline.open import set_state as set_study_state
from hits.pipeline.pay import spending
from hits.pipeline.publish import (
    pages_missing,
    pages_short,
    publish,
    replace_lost,
    set_state,
    top_up,
)
from hits.pipeline.reconcile import due, reconcile
from tests import selling
from tests.concurrency.racing import at_once

pytestmark = pytest.mark.usefixtures("requester")


class Died(Exception):
    pass


def ordered(pages: int) -> Publication:
    study = selling.study()
    return publish(
        study=study,
        channel="local",
        terms=selling.terms(),
        by=study.corpus.owner,
        least_wage=None,
        pages=pages,
    )


def launched_until(publication: Publication, hits: int) -> None:
    """The worker dies when so many HITs are made."""

    def die_in_time(*_: object) -> None:
        if publication.hits.filter(state="live").count() >= hits:
            raise Died

    progress: Any = die_in_time
    with pytest.raises(Died):
        launch(publication, progress)
    Job.objects.filter(kind="publish").update(state="failed", finished_at=timezone.now())
    publication.refresh_from_db()


def turn(publication: Publication, state: str) -> None:
    set_state(publication=publication, state=state, by=publication.created_by)


@pytest.mark.parametrize("first", ["open", "paused"])
def test_tickets_that_a_closed_launch_did_not_make_are_neither_waited_for_nor_promised(
    first: str,
) -> None:
    publication = ordered(pages=4)
    launched_until(publication, hits=1)
    if first == "paused":
        turn(publication, "paused")
    turn(publication, "closed")
    selling.run_jobs()
    assert HIT.objects.count() == 1
    assert pages_short(publication.study) == pages_missing(publication.study)
    assert spending(publication).promised == 0
    assert not Intent.objects.filter(settled_at__isnull=True).exists()
    assert following(publication).refused == 0
    assert attention_in(publication.study) == []


def test_a_ticket_that_may_have_been_made_is_found_and_ended_when_its_publication_is_closed() -> (
    None
):
    publication = ordered(pages=2)
    launched_until(publication, hits=1)
    made = publication.hits.get(state="live")
    # As if the worker had died between the call and its note.
    Hit.objects.filter(pk=made.pk).update(state="meant", hit_id="", expires_at=None)
    Intent.objects.filter(hit=made, action="ticket").update(
        state="unknown", settled_at=None, answer=None
    )
    turn(publication, "closed")
    assert spending(publication).offered == Decimal("0.78")
    selling.run_jobs()
    made.refresh_from_db()
    assert (made.state, made.hit_id) == ("ended", HIT.objects.get().hit_id)
    assert not HIT.objects.filter(status=HIT.Status.ASSIGNABLE).exists()
    assert spending(publication).promised == 0


def test_a_ticket_that_was_called_for_and_never_made_is_given_up_when_that_is_known() -> None:
    publication = ordered(pages=2)
    launched_until(publication, hits=1)
    called = publication.intents.filter(action="ticket", settled_at__isnull=True)
    called.update(attempts=1, state="unknown")
    Fault.objects.create(operation="ListHITs", kind="throttle", remaining=100)
    turn(publication, "closed")
    selling.run_jobs()
    assert called.count() == 1
    long_ago = timezone.now() - timedelta(days=1)
    Publication.objects.update(reconciled_at=long_ago)
    publication.hits.update(expires_at=long_ago - timedelta(days=1))
    assert publication in due()
    Fault.objects.all().delete()
    publication.refresh_from_db()
    reconcile(publication)
    assert called.count() == 0
    assert HIT.objects.count() == 1
    assert pages_short(publication.study) == pages_missing(publication.study)


def test_a_publication_that_is_closed_meanwhile_gets_no_new_tickets() -> None:
    publication = selling.sell(selling.study(), pages=2)
    stale = Publication.objects.get(pk=publication.pk)
    turn(publication, "closed")
    selling.run_jobs()
    assert replace_lost(stale) == 0
    assert publication.hits.count() == 2


def test_what_is_in_work_when_a_publication_is_paused_is_not_sold_again() -> None:
    publication = selling.sell(selling.study(), pages=2)
    first, second = publication.hits.all()
    selling.do_page(first)
    theirs = selling.accept(second)
    claim = selling.claim(second, theirs)
    turn(publication, "paused")
    selling.run_jobs()
    assert spending(publication).promised == Decimal("1.56")
    selling.hand_over(theirs, str(selling.answer(claim).key))
    turn(publication, "open")
    selling.run_jobs()
    assert publication.hits.count() == HIT.objects.count() == 2
    publication.refresh_from_db()
    reconcile(publication)
    selling.run_jobs()
    assert HIT.objects.count() == 2
    assert spending(publication).total == Decimal("1.56")


def test_a_page_that_was_left_is_sold_again_once_its_time_is_over_and_nothing_came() -> None:
    publication = selling.sell(selling.study(), pages=1)
    hit = publication.hits.get()
    selling.claim(hit, selling.accept(hit))
    turn(publication, "paused")
    selling.run_jobs()
    turn(publication, "open")
    reconcile(publication)
    assert publication.hits.count() == 1
    now = timezone.now()
    publication.hits.update(expires_at=now - timedelta(hours=2))
    Publication.objects.update(reconciled_at=now - timedelta(hours=1))
    assert replace_lost(publication) == 0
    reconcile(publication)
    assert publication.hits.count() == 2
    assert spending(publication).offered == Decimal("0.78")


def test_a_ticket_that_is_not_taken_back_yet_is_not_replaced() -> None:
    publication = selling.sell(selling.study(), pages=1)
    turn(publication, "paused")
    turn(publication, "open")
    assert publication.hits.count() == 1
    selling.run_jobs()
    publication.refresh_from_db()
    reconcile(publication)
    assert publication.hits.count() == 2
    assert not Claim.objects.exists()


def test_more_pages_asked_for_four_times_at_once_are_published_once() -> None:
    publication = selling.sell(selling.study(), pages=1)
    by = publication.created_by
    ask = partial(top_up, publication=publication, pages=2, by=by, seen=1)
    answers = at_once([ask] * 4)
    assert answers.count(2) == 1
    assert sum(isinstance(answer, Stale) for answer in answers) == 3
    publication.refresh_from_db()
    assert (publication.hits.count(), publication.pages) == (3, 3)


def stranded(publication: Publication) -> Claim:
    hit = selling.live_hit(publication)
    claim = selling.claim(hit, selling.accept(hit))
    selling.answer(claim)
    Hit.objects.filter(pk=hit.pk).update(expires_at=timezone.now() - timedelta(hours=2))
    reconcile(publication)
    return Claim.objects.get(pk=claim.pk)


def test_a_compensation_asked_for_four_times_at_once_is_made_once() -> None:
    claim = stranded(selling.sell(selling.study(), pages=1))
    by = claim.hit.publication.created_by
    made = at_once([partial(compensate, claim=claim, by=by)] * 4)
    assert made == [claim.compensation] * 4
    assert claim.compensation.hits.count() == 1


def hand_over_late(claim: Claim) -> None:
    theirs = TheirAssignment.objects.get(assignment_id=claim.ref)
    selling.hand_over(theirs, str(claim.assignment.key) if claim.assignment else "")
    Publication.objects.update(reconciled_at=None)
    reconcile(Publication.objects.get(pk=claim.hit.publication_id))


def test_a_compensation_that_nobody_took_ends_when_the_page_is_confirmed_after_all() -> None:
    claim = stranded(selling.sell(selling.study(), pages=1))
    made = compensate(claim=claim, by=claim.hit.publication.created_by)
    selling.run_jobs()
    hand_over_late(claim)
    selling.run_jobs()
    made.refresh_from_db()
    assert (made.state, made.hits.get().state) == ("closed", "ended")
    assert not HIT.objects.filter(status=HIT.Status.ASSIGNABLE).exists()


def test_a_compensation_that_was_taken_is_left_to_its_worker() -> None:
    claim = stranded(selling.sell(selling.study(), pages=1))
    made = compensate(claim=claim, by=claim.hit.publication.created_by)
    selling.run_jobs()
    Claim.objects.create(hit=made.hits.get(), ref="3TAKEN", account=claim.account)
    hand_over_late(claim)
    made.refresh_from_db()
    assert made.state == "open"


@pytest.mark.parametrize("state", ["paused", "closed"])
def test_a_study_that_is_not_open_takes_its_hits_off_the_marketplace(state: str) -> None:
    study = selling.study()
    publication = selling.sell(study, pages=2)
    set_study_state(study=study, state=state, by=publication.created_by)
    selling.run_jobs()
    publication.refresh_from_db()
    assert publication.state == state
    assert not HIT.objects.filter(status=HIT.Status.ASSIGNABLE).exists()
    with pytest.raises(Closed):
        turn(publication, "open")


def test_a_study_that_is_paused_gets_no_tickets_in_place_of_lost_ones() -> None:
    publication = selling.sell(selling.study(), pages=2)
    turn(publication, "paused")
    selling.run_jobs()
    # As it was left by whoever paused the study before its publications followed.
    Publication.objects.update(state="open")
    Study.objects.update(state="paused")
    assert replace_lost(Publication.objects.get()) == 0


def test_a_reopened_study_sells_again_what_a_person_opens() -> None:
    study = selling.study()
    publication = selling.sell(study, pages=2)
    set_study_state(study=study, state="paused")
    selling.run_jobs()
    set_study_state(study=study, state="open")
    selling.run_jobs()
    assert not HIT.objects.filter(status=HIT.Status.ASSIGNABLE).exists()
    turn(publication, "open")
    selling.run_jobs()
    assert HIT.objects.filter(status=HIT.Status.ASSIGNABLE).count() == 2


def test_pausing_a_study_leaves_a_compensation_to_its_worker() -> None:
    claim = stranded(selling.sell(selling.study(), pages=1))
    made = compensate(claim=claim, by=claim.hit.publication.created_by)
    set_study_state(study=made.study, state="closed")
    selling.run_jobs()
    assert made.hits.get().state == "live"
