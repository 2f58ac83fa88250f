from datetime import timedelta
from decimal import Decimal
from uuid import uuid4

import pytest
from django.conf import LazySettings
from django.utils import timezone

from hits.marketplace.models import Assignment as TheirAssignment
from hits.marketplace.models import Bonus as TheirBonus
from hits.marketplace.models import Fault, Message, Requester
from hits.models import Account, Claim, Intent, Job, Publication
from hits.pipeline import calls
from hits.pipeline.compensate import compensate
from hits.pipeline.errors import Closed, Refused
from hits.pipeline.follow import attention_of, following
from hits.pipeline.ledger import settle_due
from hits.pipeline.pay import (
    bonus,
    due_within,
    pay_stranded,
    payment_may_change,
    settle_payments,
    spending,
)
from hits.pipeline.publish import delete_hits, hits_to_delete, launches_left, set_state
from hits.pipeline.reconcile import free_unconfirmed, reconcile
from hits.pipeline.review import decide
from hits.pipeline.workers import block, notify, unblock
from tests import making, selling
from tests.marketplace import world

pytestmark = pytest.mark.usefixtures("requester")


@pytest.fixture
def publication() -> Publication:
    return selling.sell(selling.study(), pages=3)


@pytest.fixture
def claim(publication: Publication) -> Claim:
    """A page handed over and confirmed."""
    done = selling.do_page(selling.live_hit(publication))
    reconcile(publication)
    return Claim.objects.select_related("hit__publication", "assignment").get(pk=done.pk)


def decision(claim: Claim, payment: str, reason: str = "As seen.") -> None:
    page, by = claim.assignment, claim.hit.publication.created_by
    assert page is not None
    if payment == "refused":
        making.refuse(page, by, reason)
    else:
        decide(assignment=page, by=by, use="used", payment=payment, reason=reason)


def paid_there() -> str:
    return str(TheirAssignment.objects.exclude(submitted_at=None).get().status).lower()


def test_an_approved_page_is_approved_there_once(claim: Claim) -> None:
    decision(claim, "approved")
    assert settle_payments() == 1
    assert settle_payments() == 0
    settle_due()
    claim.refresh_from_db()
    assert (claim.theirs, paid_there()) == ("approved", "approved")
    assert settle_payments() == 0


def test_the_reason_of_a_refusal_is_what_the_worker_reads(claim: Claim) -> None:
    decision(claim, "refused", "Every answer was the same.")
    settle_payments()
    settle_due()
    assert paid_there() == "rejected"
    there = TheirAssignment.objects.exclude(submitted_at=None).get()
    assert there.feedback.startswith("Every answer was the same.\n\n")


def test_a_reason_too_long_for_the_marketplace_is_seen_to_be_cut(claim: Claim) -> None:
    decision(claim, "refused", "Every answer was the same. " * 50)
    settle_payments()
    settle_due()
    there = TheirAssignment.objects.exclude(submitted_at=None).get()
    assert len(there.feedback) <= 1000
    assert "…\n\nIf you think that this is wrong, tell the reviewers: http" in there.feedback


def test_what_is_not_decided_or_not_confirmed_is_not_paid(publication: Publication) -> None:
    hit = selling.live_hit(publication)
    unconfirmed = selling.claim(hit, selling.accept(hit))
    page = selling.answer(unconfirmed)
    type(page).objects.filter(pk=page.pk).update(payment="approved")
    selling.do_page(selling.live_hit(publication))
    reconcile(publication)
    assert settle_payments() == 0


def test_a_decision_rests_for_a_moment_before_it_is_told(
    claim: Claim, settings: LazySettings
) -> None:
    settings.PAY_AFTER_SECONDS = 60
    decision(claim, "approved")
    assert settle_payments() == 0
    decision(claim, "refused")
    settings.PAY_AFTER_SECONDS = 0
    settle_payments()
    assert Intent.objects.get(claim=claim).action == "reject"


def test_a_payment_that_was_told_cannot_be_changed(claim: Claim) -> None:
    decision(claim, "approved")
    assert payment_may_change(claim)
    settle_payments()
    assert not payment_may_change(claim)
    with pytest.raises(Closed, match="cannot be changed"):
        decision(claim, "refused")
    settle_due()
    claim.refresh_from_db()
    with pytest.raises(Closed, match="cannot be changed"):
        decision(claim, "refused")
    assert claim.assignment is not None
    decide(
        assignment=claim.assignment,
        by=claim.hit.publication.created_by,
        use="not_used",
        payment="approved",
        reason="Paid, and not used.",
    )


def test_a_rejection_can_be_turned_for_thirty_days(claim: Claim) -> None:
    decision(claim, "refused")
    settle_payments()
    settle_due()
    claim.refresh_from_db()
    assert payment_may_change(claim)
    decision(claim, "approved", "On second thoughts.")
    settle_payments()
    settle_due()
    claim.refresh_from_db()
    assert (claim.theirs, paid_there()) == ("approved", "approved")
    Claim.objects.update(theirs="rejected", submitted_there_at=timezone.now() - timedelta(days=31))
    Intent.objects.all().delete()
    claim.refresh_from_db()
    assert not payment_may_change(claim)


def test_a_hit_is_not_deleted_while_its_refusal_can_be_turned_or_a_bonus_is_on_its_way(
    claim: Claim,
) -> None:
    publication = claim.hit.publication
    decision(claim, "refused")
    settle_payments()
    settle_due()
    Publication.objects.update(state="closed", reconciled_at=timezone.now())
    publication.hits.update(state="ended", expires_at=timezone.now() - timedelta(days=2))
    assert claim.hit not in hits_to_delete(publication)
    Claim.objects.update(submitted_there_at=timezone.now() - timedelta(days=31))
    assert claim.hit in hits_to_delete(publication)
    given = bonus(
        claim=claim, amount=Decimal("0.10"), reason="For the trouble.", by=publication.created_by
    )
    assert claim.hit not in hits_to_delete(publication)
    settle_due()
    given.refresh_from_db()
    assert given.state == "done"
    assert claim.hit in hits_to_delete(publication)


def test_a_hit_whose_page_is_paid_is_deleted_long_before_it_would_expire(
    claim: Claim, publication: Publication
) -> None:
    by = publication.created_by
    set_state(publication=publication, state="closed", by=by)
    selling.run_jobs()
    assert delete_hits(publication=publication, by=by) == 0
    decision(claim, "approved")
    settle_payments()
    settle_due()
    assert list(hits_to_delete(publication)) == [claim.hit]
    assert delete_hits(publication=publication, by=by) == 1
    selling.run_jobs()
    claim.hit.refresh_from_db()
    assert claim.hit.state == "deleted"


def test_a_hit_is_not_deleted_before_the_marketplace_was_asked_for_its_last_page(
    publication: Publication,
) -> None:
    hit = selling.live_hit(publication)
    selling.do_page(hit)
    Publication.objects.update(state="closed", reconciled_at=None)
    publication.hits.update(state="ended", expires_at=timezone.now() - timedelta(days=2))
    assert hit not in hits_to_delete(publication)
    assert hits_to_delete(publication).exists()


def test_a_bonus_waits_for_confirmation_and_is_paid_once(publication: Publication) -> None:
    by = publication.created_by
    hit = selling.live_hit(publication)
    theirs = selling.accept(hit)
    claim = selling.claim(hit, theirs)
    key = uuid4()
    first = bonus(claim=claim, amount=Decimal("0.50"), reason="Thank you.", by=by, key=key)
    again = bonus(claim=claim, amount=Decimal("0.5"), reason=" Thank you. ", by=by, key=key)
    assert again == first
    settle_due()
    assert not TheirBonus.objects.exists()
    selling.hand_over(theirs)
    reconcile(publication)
    settle_due()
    settle_due()
    assert TheirBonus.objects.get().amount == Decimal("0.50")
    other = bonus(claim=claim, amount=Decimal("0.50"), reason="For the next page.", by=by)
    assert other != first
    assert first.amount == Decimal("0.60")


def test_a_key_is_for_one_bonus_only(claim: Claim) -> None:
    by, key = claim.hit.publication.created_by, uuid4()
    bonus(claim=claim, amount=Decimal("0.50"), reason="Thank you.", by=by, key=key)
    with pytest.raises(Refused, match="another amount"):
        bonus(claim=claim, amount=Decimal("0.60"), reason="Thank you.", by=by, key=key)


def test_two_like_bonuses_are_both_paid_though_the_marketplace_answers_none(
    claim: Claim,
) -> None:
    by = claim.hit.publication.created_by
    for _ in range(2):
        bonus(claim=claim, amount=Decimal("0.50"), reason="Thank you.", by=by)
    # Its tokens are forgotten, and it does what it is asked without an answer.
    Intent.objects.update(meant_at=timezone.now() - timedelta(days=2))
    Fault.objects.create(kind="fail_after", operation="SendBonus", share=1)
    for _ in range(6):
        Intent.objects.update(next_try_at=timezone.now())
        settle_due()
    assert TheirBonus.objects.count() == 2
    assert not Intent.objects.filter(settled_at=None).exists()


def test_a_bonus_refused_for_want_of_money_is_paid_when_it_is_tried_again(
    claim: Claim,
) -> None:
    by = claim.hit.publication.created_by
    asked = bonus(claim=claim, amount=Decimal(2000), reason="Thank you.", by=by)
    settle_due()
    asked.refresh_from_db()
    assert asked.state == "refused"
    Requester.objects.update(balance=Decimal(5000))
    assert calls.repeat(intent=asked, by=by).state == "meant"
    settle_due()
    asked.refresh_from_db()
    assert (asked.state, TheirBonus.objects.get().amount) == ("done", Decimal(2000))
    with pytest.raises(Closed):
        calls.repeat(intent=asked, by=by)


def test_a_refused_call_that_was_dismissed_is_not_made(claim: Claim) -> None:
    by = claim.hit.publication.created_by
    asked = bonus(claim=claim, amount=Decimal(2000), reason="Thank you.", by=by)
    settle_due()
    calls.dismiss(intent=asked)
    Requester.objects.update(balance=Decimal(5000))
    settle_due()
    asked.refresh_from_db()
    assert (asked.state, TheirBonus.objects.exists()) == ("dismissed", False)


def test_work_that_will_not_be_confirmed_any_more_gets_no_bonus(publication: Publication) -> None:
    claim = selling.do_page(selling.live_hit(publication))
    Claim.objects.update(opened_at=timezone.now() - timedelta(days=30))
    claim.refresh_from_db()
    with pytest.raises(Refused, match="compensation HIT"):
        bonus(claim=claim, amount=Decimal(1), reason="x", by=publication.created_by)


def test_a_bonus_of_nothing_is_refused(claim: Claim) -> None:
    for amount in (Decimal(0), Decimal("-1"), Decimal("0.005")):
        with pytest.raises(Refused):
            bonus(claim=claim, amount=amount, reason="x", by=claim.hit.publication.created_by)


def test_work_that_reached_only_the_marketplace_can_be_paid(publication: Publication) -> None:
    selling.hand_over(selling.accept(selling.live_hit(publication)))
    reconcile(publication)
    claim = Claim.objects.get()
    pay_stranded(claim=claim, by=publication.created_by)
    pay_stranded(claim=claim, by=publication.created_by)
    settle_due()
    claim.refresh_from_db()
    assert claim.theirs == "approved"
    with pytest.raises(Closed):
        pay_stranded(claim=claim, by=publication.created_by)


def test_a_page_with_answers_is_paid_by_review_alone(claim: Claim) -> None:
    with pytest.raises(Refused, match="review"):
        pay_stranded(claim=claim, by=claim.hit.publication.created_by)


def test_a_compensation_is_approved_as_soon_as_it_is_confirmed(publication: Publication) -> None:
    hit = selling.live_hit(publication)
    theirs = selling.accept(hit)
    stranded = selling.claim(hit, theirs)
    selling.answer(stranded)
    publication.hits.update(expires_at=timezone.now() - timedelta(hours=2))
    reconcile(publication)
    stranded = Claim.objects.get(pk=stranded.pk)
    made = compensate(claim=stranded, by=publication.created_by)
    selling.run_jobs()
    selling.hand_over(selling.accept(made.hits.get(), theirs.worker))
    reconcile(made)
    settle_payments()
    settle_due()
    assert Claim.objects.get(hit__publication=made).theirs == "approved"


def stranded_work(publication: Publication) -> Claim:
    """Answered here, never handed over, by somebody whose work nobody has reviewed."""
    hit = selling.live_hit(publication)
    selling.answer(selling.claim(hit, selling.accept(hit)))
    Claim.objects.update(opened_at=timezone.now() - timedelta(days=1))
    free_unconfirmed(publication, timezone.now())
    return Claim.objects.get()


def test_a_worker_whose_work_nobody_has_reviewed_is_told_of_a_compensation(
    publication: Publication,
) -> None:
    claim = stranded_work(publication)
    made = compensate(claim=claim, by=publication.created_by)
    Fault.objects.create(
        kind="fail_after", operation="AssociateQualificationWithWorker", remaining=1
    )
    selling.run_jobs()
    settle_due()
    message = Message.objects.get()
    assert message.worker.worker_id == claim.account.external_id
    assert made.terms["title"] in message.text
    assert attention_of(following(made), "local") == []


def test_a_compensation_for_somebody_whom_the_marketplace_does_not_know_is_refused_once(
    publication: Publication,
) -> None:
    claim = stranded_work(publication)
    Account.objects.filter(pk=claim.account_id).update(external_id="AINVENTED")
    made = compensate(claim=Claim.objects.get(), by=publication.created_by)
    (job,) = selling.run_jobs()
    assert (job.state, made.hits.get().state) == ("failed", "meant")
    refused = made.intents.get(action="qualify")
    assert (refused.state, following(made).refused) == ("refused", 1)
    Job.objects.update(finished_at=timezone.now() - timedelta(minutes=5))
    assert launches_left() == []
    calls.dismiss(intent=refused)
    assert launches_left() == []


def test_work_about_to_be_approved_by_itself_is_found(claim: Claim) -> None:
    study = claim.hit.publication.study
    assert not due_within([study]).exists()
    assert list(due_within([study], timedelta(days=4))) == [claim]
    Claim.objects.update(auto_approval_at=timezone.now() + timedelta(hours=47))
    assert list(due_within([study])) == [claim]


def test_the_money_of_a_publication_agrees_with_the_marketplace(claim: Claim) -> None:
    publication = claim.hit.publication
    by = publication.created_by
    spent = spending(publication)
    assert (spent.paid, spent.owed, spent.offered) == (
        Decimal(0),
        Decimal("0.78"),
        Decimal("1.56"),
    )
    bonus(claim=claim, amount=Decimal("0.01"), reason="A cent.", by=by)
    decision(claim, "approved")
    settle_payments()
    settle_due()
    spent = spending(publication)
    assert (spent.paid, spent.bonuses, spent.owed) == (
        Decimal("0.78"),
        Decimal("0.02"),
        Decimal(0),
    )
    account = Requester.objects.get()
    assert spent.paid + spent.bonuses == Decimal("1000.00") - account.balance
    assert account.held == spent.offered


def test_a_worker_is_blocked_and_written_to(claim: Claim) -> None:
    publication = claim.hit.publication
    by = publication.created_by
    decision(claim, "approved")
    settle_payments()
    block(claim=claim, reason="Answers at random.", by=by)
    settle_due()
    worker = TheirAssignment.objects.exclude(submitted_at=None).get().worker
    with pytest.raises(Exception, match="does not take work"):
        selling.accept(selling.live_hit(publication), worker)
    unblock(claim=claim, reason="A mistake.", by=by)
    notify(
        publication=publication,
        accounts=[claim.account],
        subject="Welcome back",
        text="There is more.",
        by=by,
    )
    settle_due()
    selling.accept(selling.live_hit(publication), worker)
    assert Message.objects.get().subject == "Welcome back"


def test_messages_go_out_in_batches_of_a_hundred(publication: Publication) -> None:
    accounts = [selling.account_of(world.worker()) for _ in range(101)]
    by = publication.created_by
    made = notify(publication=publication, accounts=accounts, subject="a", text="b", by=by)
    assert [len(intent.request["WorkerIds"]) for intent in made] == [100, 1]
    stranger: Account = making.rater(publication.study)
    with pytest.raises(Refused, match="this marketplace"):
        notify(publication=publication, accounts=[stranger], subject="a", text="b", by=by)
