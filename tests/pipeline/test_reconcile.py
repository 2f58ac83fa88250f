from datetime import timedelta

import pytest
from django.utils import timezone

from hits.channels.configured import channel
from hits.channels.mturk import MTurk
from hits.marketplace.models import Assignment as TheirAssignment
from hits.marketplace.models import Fault
from hits.models import (
    Account,
    Assignment,
    Claim,
    Decision,
    Hit,
    Job,
    Participation,
    Publication,
    Slot,
)
from hits.pipeline.check import check_submitted
from hits.pipeline.errors import Closed
from hits.pipeline.follow import claims_of, to_compensate
from hits.pipeline.people import give_consent
from hits.pipeline.reconcile import NOT_CONFIRMED, ask_to_reconcile, due, reconcile, reconcile_due
from hits.pipeline.review import decide, queue
from tests import selling
from tests.concurrency.reconciling import assert_places_reconcile
from tests.marketplace import world

pytestmark = pytest.mark.usefixtures("requester")


@pytest.fixture
def publication() -> Publication:
    return selling.sell(selling.study(), pages=3)


def silent(*_: object, **__: object) -> None:
    pass


def invented(hit: Hit, name: str = "A2INVENTED") -> Claim:
    """Somebody who wrote the address of a page themselves, and answered it."""
    theirs = TheirAssignment(assignment_id="3INVENTED", worker=world.worker(name))
    claim = selling.claim(hit, theirs)
    selling.answer(claim)
    return claim


def over(hit: Hit) -> None:
    """Its time and the time of whoever accepted it have passed."""
    Hit.objects.filter(pk=hit.pk).update(expires_at=timezone.now() - timedelta(hours=2))


def test_a_page_handed_over_there_is_confirmed(publication: Publication) -> None:
    claim = selling.do_page(selling.live_hit(publication))
    assert reconcile(publication)["confirmed"] == 1
    claim.refresh_from_db()
    assert claim.theirs == "submitted"
    assert claim.confirmed_at is not None
    assert claim.auto_approval_at is not None
    assert claim.submitted_there_at is not None
    assert reconcile(publication)["confirmed"] == 0


def test_a_hit_that_was_sold_is_live_no_longer(publication: Publication) -> None:
    hit = selling.live_hit(publication)
    selling.do_page(hit)
    reconcile(publication)
    hit.refresh_from_db()
    assert hit.state == "ended"


def test_what_is_confirmed_there_and_unknown_here_becomes_a_claim_without_a_page(
    publication: Publication,
) -> None:
    theirs = selling.accept(selling.live_hit(publication))
    selling.hand_over(theirs)
    reconcile(publication)
    claim = Claim.objects.get()
    assert (claim.ref, claim.account.external_id) == (theirs.assignment_id, theirs.worker.worker_id)
    assert claim.assignment is None
    assert claim.theirs == "submitted"


def test_a_page_is_not_checked_or_reviewed_before_it_is_confirmed(
    publication: Publication,
) -> None:
    hit = selling.live_hit(publication)
    theirs = selling.accept(hit)
    claim = selling.claim(hit, theirs)
    page = selling.answer(claim, "no")
    check_submitted()
    assert not queue(publication.study).exists()
    with pytest.raises(Closed, match="not confirmed"):
        decide(
            assignment=page,
            by=publication.created_by,
            use="used",
            payment="approved",
            reason="Good.",
        )
    selling.hand_over(theirs)
    reconcile(publication)
    check_submitted()
    page.refresh_from_db()
    assert page.checked_at is not None
    assert (page.use, page.payment) == ("used", "approved")


def test_when_somebody_else_is_confirmed_the_units_of_an_invented_claim_go_out_again(
    publication: Publication,
) -> None:
    hit = selling.live_hit(publication)
    false = invented(hit)
    Claim.objects.update(reserves=False)
    selling.do_page(hit)
    reconcile(publication)
    page = Assignment.objects.get(claim=false)
    assert (page.use, page.payment) == ("not_used", "pending")
    assert set(page.slots.filter(unit__gold__isnull=True).values_list("state", flat=True)) == {
        "not_used"
    }
    reason = Decision.objects.get(assignment=page, kind="use")
    assert (reason.reason, reason.by) == (f"{NOT_CONFIRMED}.", None)
    assert_places_reconcile()


def test_when_somebody_else_is_confirmed_an_open_page_holds_nothing_any_more(
    publication: Publication,
) -> None:
    hit = selling.live_hit(publication)
    theirs = TheirAssignment(assignment_id="3INVENTED", worker=world.worker("A2INVENTED"))
    page = selling.claim(hit, theirs).assignment
    assert page is not None
    Claim.objects.update(reserves=False)
    selling.do_page(hit)
    reconcile(publication)
    page.refresh_from_db()
    assert page.state == Assignment.State.EXPIRED
    assert "held" not in page.slots.values_list("state", flat=True)
    assert_places_reconcile()


def test_units_of_a_page_that_was_never_handed_over_go_out_again_when_its_hit_is_over(
    publication: Publication,
) -> None:
    hit = selling.live_hit(publication)
    claim = invented(hit)
    reconcile(publication)
    page = Assignment.objects.get(claim=claim)
    assert page.use == "pending"
    over(hit)
    reconcile(publication)
    page.refresh_from_db()
    assert page.use == "not_used"
    assert_places_reconcile()


def test_a_page_handed_over_in_the_last_moment_is_waited_for(publication: Publication) -> None:
    hit = selling.live_hit(publication)
    claim = invented(hit)
    Hit.objects.filter(pk=hit.pk).update(expires_at=timezone.now() - timedelta(minutes=59))
    reconcile(publication)
    page = Assignment.objects.get(claim=claim)
    assert page.use == "pending"


def test_late_work_is_stranded_although_its_hit_is_live(publication: Publication) -> None:
    hit = selling.live_hit(publication)
    claim = selling.claim(hit, selling.accept(hit))
    selling.answer(claim)
    hour = timedelta(hours=1)
    Claim.objects.update(opened_at=timezone.now() - hour)
    assert reconcile(publication)["freed"] == 0
    Claim.objects.update(opened_at=timezone.now() - hour - timedelta(minutes=6))
    assert reconcile(publication)["freed"] == 1
    hit.refresh_from_db()
    assert (hit.state, to_compensate(claims_of(publication)).get()) == ("live", claim)


def test_a_page_that_is_confirmed_after_all_counts_again(publication: Publication) -> None:
    hit = selling.live_hit(publication)
    theirs = selling.accept(hit)
    claim = selling.claim(hit, theirs)
    page = selling.answer(claim)
    over(hit)
    done = counts_of(page)
    reconcile(publication)
    assert counts_of(page) == (0, 0, 0)
    selling.hand_over(theirs)
    Publication.objects.update(reconciled_at=None)
    publication.refresh_from_db()
    reconcile(publication)
    page.refresh_from_db()
    assert page.use == "pending"
    counted = Slot.objects.filter(assignment=page, unit__gold__isnull=True)
    assert set(counted.values_list("state", flat=True)) == {"counted"}
    assert counts_of(page) == done
    assert_places_reconcile()


def counts_of(page: Assignment) -> tuple[int, int, int]:
    """What the person has done, as limits count it."""
    found = Participation.objects.get(study=page.study_id, person=page.person_id)
    return found.pages_done, found.judgments_done, found.units_done


def test_an_older_list_takes_back_no_payment(publication: Publication) -> None:
    claim = selling.do_page(selling.live_hit(publication))
    reconcile(publication)
    Claim.objects.filter(pk=claim.pk).update(theirs="approved")
    Hit.objects.update(state="live")
    reconcile(publication)
    claim.refresh_from_db()
    assert claim.theirs == "approved"


def test_what_the_marketplace_approved_by_itself_is_seen(publication: Publication) -> None:
    claim = selling.do_page(selling.live_hit(publication))
    reconcile(publication)
    TheirAssignment.objects.update(auto_approval_at=timezone.now() - timedelta(seconds=1))
    reconcile(publication)
    claim.refresh_from_db()
    assert claim.theirs == "approved"
    page = Assignment.objects.get(claim=claim)
    assert (page.payment, page.use) == ("approved", "pending")
    decide(
        assignment=page,
        by=publication.created_by,
        use="not_used",
        payment="approved",
        reason="Paid by itself, and not used.",
    )


def test_a_worker_who_is_somebody_elses_account_here_is_not_taken_for_them(
    publication: Publication,
) -> None:
    theirs = selling.accept(selling.live_hit(publication))
    selling.hand_over(theirs)
    same_name = Account.objects.create(
        person=selling.account_of(world.worker()).person,
        channel="sandbox",
        external_id=theirs.worker.worker_id,
    )
    give_consent(study=publication.study, account=same_name)
    reconcile(publication)
    assert Claim.objects.get().account.channel == "local"


def test_publications_are_due_until_all_is_settled_there(publication: Publication) -> None:
    assert list(due()) == [publication]
    reconcile_due(silent)  # type: ignore[arg-type]
    assert list(due()) == []
    hour_ago = timezone.now() - timedelta(hours=1)
    Publication.objects.update(reconciled_at=hour_ago)
    assert list(due()) == [publication]
    for hit in publication.hits.all():
        over(hit)
    Hit.objects.update(expires_at=timezone.now() - timedelta(days=2))
    reconcile_due(silent)  # type: ignore[arg-type]
    Publication.objects.update(reconciled_at=hour_ago)
    assert list(due()) == []


def test_a_marketplace_that_is_silent_keeps_no_other_waiting(
    publication: Publication, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = selling.sell(selling.study(), pages=1)
    sold_at = channel("local")
    assert isinstance(sold_at, MTurk)
    monkeypatch.setattr(sold_at, "reading", sold_at.client)
    Fault.objects.create(kind="throttle", operation="ListAssignmentsForHIT", remaining=1)
    done = reconcile_due(silent)  # type: ignore[arg-type]
    assert len(done) == 2
    assert sum("failed" in each for each in done.values()) == 1
    publication.refresh_from_db()
    other.refresh_from_db()
    assert [publication.reconciled_at, other.reconciled_at].count(None) == 1


def test_a_rejected_page_is_replaced_by_a_new_ticket(publication: Publication) -> None:
    claim = selling.do_page(selling.live_hit(publication))
    reconcile(publication)
    Claim.objects.filter(pk=claim.pk).update(theirs="rejected")
    assert reconcile(publication)["tickets"] == 1
    assert reconcile(publication)["tickets"] == 0
    assert publication.hits.count() == 4


def test_a_hint_asks_for_a_look_once_however_often_it_comes(publication: Publication) -> None:
    hit_ids = list(publication.hits.values_list("hit_id", flat=True))
    for _ in range(3):
        ask_to_reconcile(channel="local", hit_ids=hit_ids)
    ask_to_reconcile(channel="local", hit_ids=["3UNKNOWN"])
    ask_to_reconcile(channel="sandbox", hit_ids=hit_ids)
    asked = Job.objects.get(kind="reconcile")
    assert (asked.arguments, asked.queue) == ({"publication": publication.pk}, "marketplace")
    selling.run_jobs()
    asked.refresh_from_db()
    assert asked.state == "done"
