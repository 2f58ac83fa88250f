import math
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.conf import LazySettings
from django.db import transaction
from django.utils import timezone

from hits.channels.contract import Requirement
from hits.marketplace.errors import Refused as NotForThem
from hits.marketplace.models import HIT, HITType, QualificationType, Requester
from hits.marketplace.models import Qualification as TheirQualification
from hits.models import Assignment, Claim, Exclusion, Hit, Job, Publication, Study, Unit
from hits.pipeline import jobs
from hits.pipeline.compensate import compensate
from hits.pipeline.draw import draw
from hits.pipeline.errors import Closed, Refused
from hits.pipeline.estimate import estimate
from hits.pipeline.launch import launch
from hits.pipeline.ledger import settle_due
from hits.pipeline.publish import (
    address_of,
    delete_hits,
    hit_of,
    launches_left,
    pages_missing,
    pages_short,
    publish,
    resume,
    set_state,
    top_up,
)
from hits.pipeline.reconcile import reconcile
from hits.pipeline.submit import submit
from tests import making, selling
from tests.marketplace import world
from workers.work import WORK

pytestmark = pytest.mark.usefixtures("requester")


class Interrupted(Exception):
    pass


def interrupted_after(calls: int) -> Any:
    """Progress of a worker that dies after so many calls."""
    left = iter(range(calls))

    def progress(*_: object) -> None:
        if next(left, None) is None:
            raise Interrupted

    return progress


def ordered(study: Study, pages: int, channel: str = "local") -> Publication:
    """Published, with the launch still to be done."""
    return publish(
        study=study,
        channel=channel,
        terms=selling.terms(),
        by=study.corpus.owner,
        least_wage=None,
        pages=pages,
    )


def test_every_ticket_is_a_hit_there_with_the_same_id_here() -> None:
    publication = selling.sell(selling.study(), pages=5)
    here = dict(publication.hits.values_list("hit_id", "key"))
    there = dict(HIT.objects.values_list("hit_id", "annotation"))
    assert {hit_id: key.hex for hit_id, key in here.items()} == there
    assert set(publication.hits.values_list("state", flat=True)) == {"live"}
    assert all(hit.expires_at > timezone.now() for hit in publication.hits.all() if hit.expires_at)


def test_the_address_of_a_ticket_leads_back_to_it_and_cannot_be_invented() -> None:
    hit = selling.sell(selling.study(), pages=1).hits.get()
    signed = address_of(hit).split("/hit/")[1].rstrip("/")
    assert hit_of(signed) == hit
    assert address_of(hit) == HIT.objects.get().external_url
    for forged in (signed[:-1], hit.key.hex, f"{hit.key.hex}:x", ""):
        with pytest.raises(Hit.DoesNotExist):
            hit_of(forged)


def test_as_many_pages_are_missing_as_open_places_need() -> None:
    study = selling.study()
    judged = Unit.objects.filter(study=study, pool="candidate")
    places = sum(judged.values_list("wanted", flat=True))
    assert pages_missing(study) == math.ceil(places / 4)
    making.work(study, making.rater(study))
    assert pages_missing(study) == math.ceil((places - 4) / 4)
    judged.update(excluded=True)
    assert pages_missing(study) == 0


def test_tickets_that_are_out_are_not_sold_again() -> None:
    study = selling.study()
    missing = pages_missing(study)
    selling.sell(study, pages=missing - 1)
    assert pages_short(study) == 1
    with pytest.raises(Refused, match="1 more pages, not for 2"):
        selling.sell(study, pages=2)


def test_an_account_that_cannot_pay_is_told_what_is_missing(requester: Requester) -> None:
    Requester.objects.update(balance=Decimal("1.00"))
    with pytest.raises(Refused) as refusal:
        selling.sell(selling.study(), pages=3)
    assert refusal.value.message == (
        "The account at local has $1.00; 3 pages cost $2.34 with the fee. $1.34 are missing."
    )
    assert not Publication.objects.exists()


def test_a_marketplace_that_does_not_answer_is_published_nowhere(settings: LazySettings) -> None:
    settings.CHANNELS = {"local": settings.CHANNELS["local"] | {"url": "http://127.0.0.1:1"}}
    with pytest.raises(Refused, match="does not answer"):
        selling.sell(selling.study(), pages=1)


def test_terms_and_channels_that_make_no_sense_are_refused() -> None:
    study = selling.study()
    with pytest.raises(Refused, match="title"):
        selling.sell(study, title="")
    with pytest.raises(Refused, match="no channel"):
        ordered(study, 1, channel="nowhere")
    with pytest.raises(Refused, match="invite them"):
        ordered(study, 1, channel="in_house")


def test_a_draft_cannot_be_published() -> None:
    study = selling.study()
    study.state = "paused"
    with pytest.raises(Closed):
        selling.sell(study)


def test_a_launch_that_was_interrupted_goes_on_where_it_was() -> None:
    study = selling.study()
    publication = ordered(study, pages=6)
    with pytest.raises(Interrupted):
        launch(publication, interrupted_after(5))
    assert 0 < HIT.objects.count() < 6
    publication.refresh_from_db()
    launch(publication, interrupted_after(1000))
    assert HIT.objects.count() == 6
    assert set(publication.hits.values_list("hit_id", flat=True)) == set(
        HIT.objects.values_list("hit_id", flat=True)
    )
    assert HITType.objects.count() == 1


def test_a_launch_that_was_stopped_rests_until_somebody_resumes_it() -> None:
    study = selling.study()
    with transaction.atomic():
        publication = ordered(study, pages=2)
        jobs.cancel(Job.objects.get(kind="publish"))
    selling.run_jobs()
    assert HIT.objects.count() == 0
    assert launches_left() == []
    for _two_tabs in range(2):
        resume(publication=publication, by=study.corpus.owner)
    assert Job.objects.unfinished().count() == 1
    selling.run_jobs()
    assert HIT.objects.count() == 2


def test_a_launch_that_broke_off_is_found_by_the_sweeper() -> None:
    study = selling.study()
    publication = ordered(study, pages=1)
    assert launches_left() == []
    long_ago = timezone.now() - timedelta(minutes=5)
    Job.objects.update(state="failed", finished_at=long_ago)
    assert launches_left() == [publication]


def test_a_launch_that_is_refused_says_why_and_can_be_resumed() -> None:
    study = selling.study()
    publication = ordered(study, pages=3)
    Requester.objects.update(balance=Decimal("0.80"))
    (job,) = selling.run_jobs()
    assert job.state == "failed"
    assert "insufficient funds" in job.message
    Job.objects.update(finished_at=timezone.now() - timedelta(minutes=5))
    assert launches_left() == []
    Requester.objects.update(balance=Decimal("100.00"))
    resume(publication=publication, by=study.corpus.owner)
    selling.run_jobs()
    assert HIT.objects.count() == 3
    assert publication.hits.filter(state="live").count() == 3


def test_pausing_takes_tickets_back_and_opening_again_gives_new_ones() -> None:
    study = selling.study()
    owner = study.corpus.owner
    publication = selling.sell(study, pages=4)
    selling.do_page(selling.live_hit(publication))
    reconcile(publication)
    set_state(publication=publication, state="paused", by=owner)
    selling.run_jobs()
    assert publication.hits.filter(state="live").count() == 0
    assert HIT.objects.filter(status=HIT.Status.ASSIGNABLE).count() == 0
    set_state(publication=publication, state="open", by=owner)
    selling.run_jobs()
    assert publication.hits.filter(state="live").count() == 3
    assert publication.hits.count() == 7


def test_a_paused_launch_makes_nothing() -> None:
    study = selling.study()
    publication = ordered(study, pages=2)
    set_state(publication=publication, state="paused", by=study.corpus.owner)
    selling.run_jobs()
    assert HIT.objects.count() == 0


def test_a_closed_publication_stays_closed_and_its_hits_can_be_deleted() -> None:
    study = selling.study()
    owner = study.corpus.owner
    publication = selling.sell(study, pages=2)
    with pytest.raises(Closed):
        delete_hits(publication=publication, by=owner)
    set_state(publication=publication, state="closed", by=owner)
    selling.run_jobs()
    with pytest.raises(Closed, match="stays closed"):
        set_state(publication=publication, state="open", by=owner)
    assert delete_hits(publication=publication, by=owner) == 0
    publication.hits.update(expires_at=timezone.now() - timedelta(hours=2))
    assert delete_hits(publication=publication, by=owner) == 2
    selling.run_jobs()
    assert set(publication.hits.values_list("state", flat=True)) == {"deleted"}
    assert set(HIT.objects.values_list("status", flat=True)) == {HIT.Status.DISPOSED}


def test_more_tickets_come_when_units_fall_short() -> None:
    study = selling.study()
    publication = selling.sell(study, pages=2)
    assert top_up(publication=publication, pages=1, by=study.corpus.owner) == 1
    selling.run_jobs()
    assert HIT.objects.count() == 3
    publication.refresh_from_db()
    assert publication.pages == 3
    short = pages_short(study)
    assert top_up(publication=publication, pages=short, by=study.corpus.owner) == short
    with pytest.raises(Refused, match="0 more pages"):
        top_up(publication=publication, pages=1, by=study.corpus.owner)


def ten_minutes_for_a_page(study: Study) -> None:
    account = making.rater(study)
    page = draw(study=study, account=account)
    hour_ago = timezone.now() - timedelta(hours=1)
    Assignment.objects.filter(pk=page.pk).update(drawn_at=hour_ago)
    questions = page.slots.count()
    times = {f"q{number}-ms": [str(600_000 / questions)] for number in range(1, questions + 1)}
    fields = making.truthful(page) | times
    submit(assignment_key=page.key, account=account, fields=fields)


def test_the_estimate_has_the_fee_the_balance_and_a_warning_under_the_least_wage() -> None:
    study = selling.study(expected_minutes=6)
    expected = estimate(study=study, channel="local", reward=Decimal("0.65"), pages=100)
    assert (expected.page_cost, expected.total) == (Decimal("0.78"), Decimal("78.00"))
    assert expected.balance == Decimal("1000.00")
    assert (expected.minutes, expected.hourly, expected.warning) == (None, None, "")
    hasty = estimate(
        study=study,
        channel="local",
        reward=Decimal("0.65"),
        pages=1,
        duration=timedelta(minutes=10),
    )
    assert "You expect a page to take 6 minutes, and you give 10" in hasty.warning
    ten_minutes_for_a_page(study)
    expected = estimate(
        study=study,
        channel="local",
        reward=Decimal("0.65"),
        pages=2000,
        least_wage=Decimal("7.25"),
        duration=timedelta(minutes=19),
    )
    assert "Half of the pages took longer than 10.0 minutes, and you give 19" in expected.warning
    assert expected.minutes == pytest.approx(10)
    assert expected.hourly == Decimal("3.90")
    assert "An hour earns $3.90" in expected.warning
    assert "$560.00 are missing" in expected.warning


def test_whoever_took_part_in_a_study_that_rules_this_one_out_is_not_offered_it() -> None:
    corpus = making.corpus(images=12)
    first, second = (making.study(corpus, settings=selling.SETTINGS) for _ in range(2))
    Exclusion.objects.create(study=second, other=first)
    worker = world.worker()
    selling.do_page(selling.live_hit(sold := selling.sell(first, pages=1)), worker)
    reconcile(sold)
    settle_due()
    publication = selling.sell(second, pages=1)
    with pytest.raises(NotForThem, match="qualifications"):
        selling.accept(selling.live_hit(publication), worker)
    selling.accept(selling.live_hit(publication))


def test_whoever_is_confirmed_gets_the_qualification_of_the_study_once() -> None:
    study = selling.study()
    publication = selling.sell(study, pages=1)
    worker = world.worker()
    selling.do_page(selling.live_hit(publication), worker)
    reconcile(publication)
    assert settle_due() == {"done": 1}
    assert TheirQualification.objects.get().worker == worker
    reconcile(publication)
    assert settle_due() == {}
    assert QualificationType.objects.count() == 1


def test_exclusions_never_make_more_requirements_than_the_marketplace_takes() -> None:
    corpus = making.corpus(images=12)
    study = making.study(corpus, settings=selling.SETTINGS)
    for _ in range(4):
        other = making.study(corpus, settings=selling.SETTINGS)
        Exclusion.objects.create(study=other, other=study)
    own = tuple(
        Requirement(Requirement.APPROVED_HITS, "GreaterThanOrEqualTo", (number,))
        for number in range(8)
    )
    selling.sell(study, pages=1, requirements=own)
    assert len(HITType.objects.get().requirements) == 10


def test_stranded_work_is_compensated_by_a_hit_for_that_worker_alone() -> None:
    study = selling.study()
    publication = selling.sell(study, pages=1)
    theirs = selling.accept(selling.live_hit(publication))
    claim = selling.claim(selling.live_hit(publication), theirs)
    with pytest.raises(Refused, match="Nothing was handed in"):
        compensate(claim=claim, by=study.corpus.owner)
    selling.answer(claim)
    with pytest.raises(Refused, match="may still list"):
        compensate(claim=claim, by=study.corpus.owner)
    publication.hits.update(expires_at=timezone.now() - timedelta(hours=2))
    reconcile(publication)
    claim = Claim.objects.get(pk=claim.pk)
    made = compensate(claim=claim, by=study.corpus.owner)
    assert compensate(claim=claim, by=study.corpus.owner) == made
    selling.run_jobs()
    hit = made.hits.get()
    with pytest.raises(NotForThem, match="qualifications"):
        selling.accept(hit)
    selling.accept(hit, theirs.worker)
    assert made.reward == publication.reward
    assert made.intents.get(action="qualify").state == "done"


def test_the_job_says_how_far_it_is() -> None:
    study = selling.study()
    ordered(study, pages=3)
    job = Job.objects.get(kind="publish")
    assert (job.queue, job.study) == ("marketplace", study)
    jobs.run(job.pk, WORK)
    job.refresh_from_db()
    assert (job.state, job.result) == ("done", {"tickets": 3, "made": 3})
    assert job.message == "3 of 3 calls"
    # Of the qualification, the HIT type, and all tickets together: they have one pace.
    assert job.log.count("Calls made at local") == 3
