"""What reviewers say to a worker reaches them at the marketplace, and their note comes back."""

import re

import pytest
from django.test import Client

from hits.marketplace.models import Assignment as TheirAssignment
from hits.marketplace.models import Message
from hits.models import Claim, Intent, PersonEvent
from hits.pipeline import letters, standing
from hits.pipeline.check import check_submitted
from hits.pipeline.ledger import settle_due
from hits.pipeline.pay import settle_payments
from hits.pipeline.reconcile import reconcile
from tests import making, selling

pytestmark = pytest.mark.usefixtures("requester")


@pytest.fixture
def claim() -> Claim:
    """A page that is handed over and confirmed."""
    publication = selling.sell(selling.study(), pages=2)
    done = selling.do_page(selling.live_hit(publication))
    reconcile(publication)
    return Claim.objects.select_related("hit__publication__study", "assignment", "account").get(
        pk=done.pk
    )


def address_in(text: str) -> str:
    found = re.search(r"http://[^/]+(/notes/\S+/)$", text)
    assert found is not None
    return found[1]


def said(claim: Claim, kind: str, text: str) -> PersonEvent:
    study, person = claim.hit.publication.study, claim.account.person_id
    return standing.act(study=study, person=person, kind=kind, text=text, by=study.corpus.owner)


def test_a_refused_worker_reads_why_and_writes_back_and_is_answered_there(claim: Claim) -> None:
    study = claim.hit.publication.study
    assert claim.assignment is not None
    making.refuse(claim.assignment, study.corpus.owner, "All the same answer. " * 90)
    settle_payments()
    settle_due()
    read = TheirAssignment.objects.exclude(submitted_at=None).get().feedback
    assert len(read) == 1000
    page, worker = address_in(read), Client()
    shown = worker.get(page).text
    assert ("All the same answer." in shown, "not paid" in shown) == (True, True)
    about = {"text": "All of them were alike.", "page": str(claim.assignment.key)}
    assert worker.post(page, about).status_code == 302
    twice = worker.post(page, about | {"text": "And I read each of them."})
    assert twice.status_code == 422
    assert "not been answered yet" in twice.text
    assert "not sent: And I read each of them." in twice.text
    (appealed,) = standing.open_appeals(study)
    assert (appealed.person_id, appealed.assignment) == (claim.account.person_id, claim.assignment)
    standing.answer(appealed=appealed, text="You are right.", by=study.corpus.owner)
    settle_due()
    assert "You are right." in worker.get(page).text
    assert address_in(Message.objects.get().text) == page


@pytest.mark.parametrize("kind", ["warning", "excluded"])
def test_what_is_said_to_a_worker_is_sent_by_the_marketplace(claim: Claim, kind: str) -> None:
    """It writes to those whose work it was told to approve or refuse."""
    check_submitted()
    settle_payments()
    settle_due()
    said(claim, kind, "Please read to the end.")
    settle_due()
    sent = Message.objects.get()
    assert "Please read to the end." in sent.text
    assert "Please read to the end." in Client().get(address_in(sent.text)).text


def test_a_letter_waits_until_the_marketplace_was_told_to_pay_or_refuse(claim: Claim) -> None:
    said(claim, "warning", "Please read to the end.")
    settle_due()
    (letter,) = Intent.objects.filter(action="notify")
    assert (letter.state, letter.attempts) == ("meant", 0)
    check_submitted()
    settle_payments()
    settle_due()
    settle_due()
    letter.refresh_from_db()
    assert (letter.state, letter.failures) == ("done", {})
    assert "Please read to the end." in Message.objects.get().text


def test_a_letter_does_not_wait_where_other_work_of_the_worker_was_decided(claim: Claim) -> None:
    worker = TheirAssignment.objects.exclude(submitted_at=None).get().worker
    assert claim.assignment is not None
    making.refuse(claim.assignment, claim.hit.publication.created_by, "All the same answer.")
    settle_payments()
    settle_due()
    newer = selling.do_page(selling.live_hit(claim.hit.publication), worker)
    reconcile(claim.hit.publication)
    said(claim, "warning", "Please read to the end.")
    settle_due()
    assert Intent.objects.get(action="notify").claim == newer
    assert "Please read to the end." in Message.objects.get().text


def test_nobody_is_written_to_whose_id_the_marketplace_has_not_confirmed(claim: Claim) -> None:
    Claim.objects.update(theirs="", confirmed_at=None)
    said(claim, "warning", "Please read to the end.")
    assert not Intent.objects.filter(action="notify").exists()
    assert letters.channels_reaching(claim.hit.publication.study, claim.account.person_id) == []


def test_an_address_is_of_one_worker_in_one_study(claim: Claim) -> None:
    study, other = claim.hit.publication.study, making.study(claim.hit.publication.study.corpus)
    mine = letters.signed(study.pk, claim.account_id)
    assert Client().get(f"/notes/{mine}/").status_code == 200
    for changed in (f"{other.pk}{mine[mine.index('-') :]}", "x", mine[:-1]):
        assert Client().get(f"/notes/{changed}/").status_code == 404
