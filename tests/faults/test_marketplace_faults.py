"""Tickets, approvals, rejections and bonuses, each once: at a marketplace that throttles and
fails after it has done what was asked, by a worker that is killed again and again."""

import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from decimal import Decimal
from pathlib import Path

import pytest
from django.conf import LazySettings
from django.db.models import Sum
from django.utils import timezone

from hits.marketplace.models import HIT, Fault, Payment, Requester
from hits.marketplace.models import Assignment as TheirAssignment
from hits.marketplace.models import Bonus as TheirBonus
from hits.models import Claim, Intent, Job, Publication, Study
from hits.pipeline.pay import bonus, spending
from hits.pipeline.publish import publish
from hits.pipeline.reconcile import reconcile
from hits.pipeline.review import record
from tests import making, selling
from tests.faults.programs import Workers, marketplace
from tests.marketplace import world

PATIENCE_SECONDS = 900
PAYING = ["approve", "reject", "bonus"]


def study_with_work_for(pages: int) -> Study:
    study = making.study(making.corpus(images=40), settings=selling.SETTINGS, judgments_wanted=16)
    assert pages < 16 * study.units.filter(pool="candidate").count() / 4
    return study


@contextmanager
def at_work(folder: Path, settings: LazySettings) -> Iterator[Callable[[], Workers]]:
    """The marketplace with our account in it, and workers of ours to be started."""
    with marketplace(folder) as address:
        values = selling.channel_values(address, world.requester())
        settings.CHANNELS = {"local": values}
        settings.PAY_AFTER_SECONDS = 0
        changes = {f"CHANNEL_LOCAL_{name.upper()}": value for name, value in values.items()}
        changes |= {"CHANNELS": "local", "SYNC_SECONDS": "2", "PAY_AFTER_SECONDS": "0"}
        with contextmanager(_started)(folder, changes) as start:
            yield start


def _started(folder: Path, changes: dict[str, str]) -> Iterator[Callable[[], Workers]]:
    started: list[Workers] = []

    def start() -> Workers:
        started.append(Workers(folder, "cpu,marketplace", changes))
        return started[0]

    yield start
    for each in started:
        each.kill()


def make_it_fail() -> None:
    Fault.objects.create(kind="throttle", operation="*", share=0.2)
    Fault.objects.create(kind="fail_after", operation="*", share=0.1)
    Fault.objects.create(kind="delay", operation="*", share=1.0, seconds=0.02)


def bury_the_dead() -> None:
    """The lease of the worker that was killed has run out."""
    past = timezone.now() - timedelta(minutes=2)
    Job.objects.filter(state="running").update(lease_until=past, rung_at=past)


def ring_soon() -> None:
    """Bells that died with a worker are rung again at once, launches taken up, and calls that
    failed made again."""
    past = timezone.now() - timedelta(minutes=2)
    Job.objects.filter(state="queued").update(rung_at=past)
    Job.objects.filter(kind="publish", state="failed").update(finished_at=past)
    Intent.objects.filter(settled_at__isnull=True, next_try_at__gt=timezone.now()).update(
        next_try_at=past
    )


def kill_until(done: Callable[[], int], total: int, started: Workers, kills: int) -> None:
    """Kill the worker so many times, in even steps, until all is done."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    killed = 0
    while (count := done()) < total:
        if time.monotonic() > deadline:
            states = Counter(Intent.objects.values_list("action", "state", "message"))
            raise AssertionError((count, total, states, started.child.log_tail()))
        if killed < kills and count > total * (killed + 1) / (kills + 2):
            started.kill()
            killed += 1
            bury_the_dead()
            started.start_again()
        ring_soon()
        time.sleep(0.05)
    assert killed == kills


def publishes_once(folder: Path, settings: LazySettings, pages: int, kills: int) -> None:
    study = study_with_work_for(pages)
    with at_work(folder, settings) as start:
        publication = publish(
            study=study,
            channel="local",
            terms=selling.terms(),
            by=study.corpus.owner,
            least_wage=None,
            pages=pages,
        )
        make_it_fail()
        live = publication.hits.filter(state="live")
        kill_until(live.count, pages, start(), kills)
    there = dict(HIT.objects.values_list("annotation", "hit_id"))
    here = {key.hex: hit_id for key, hit_id in publication.hits.values_list("key", "hit_id")}
    assert HIT.objects.count() == pages
    assert here == there
    made = Intent.objects.filter(action="ticket")
    assert set(made.values_list("state", flat=True)) == {"done", "already"}
    assert HIT.objects.values("hit_type").distinct().count() == 1


def decided(publication: Publication) -> None:
    """Every third page is refused, and every second gets a bonus of its own size."""
    owner = publication.created_by
    claims = Claim.objects.filter(hit__publication=publication).order_by("pk")
    for number, claim in enumerate(claims.select_related("assignment", "hit__publication")):
        assert claim.assignment is not None
        refused = number % 3 == 0
        payment = "refused" if refused else "approved"
        record(claim.assignment, use="used", payment=payment, reason="As decided.", by=owner)
        if number % 2 == 0:
            amount = Decimal(number + 1) / 100
            bonus(claim=claim, amount=amount, reason=f"Bonus {number}.", by=owner)


def pays_once(folder: Path, settings: LazySettings, pages: int, kills: int) -> None:
    study = study_with_work_for(pages)
    with at_work(folder, settings) as start:
        publication = selling.sell(study, pages=pages)
        for hit in publication.hits.order_by("pk"):
            selling.do_page(hit)
        assert reconcile(publication)["confirmed"] == pages
        decided(publication)
        make_it_fail()
        settled = Intent.objects.filter(action__in=PAYING, settled_at__isnull=False)
        total = pages + publication.intents.filter(action="bonus").count()
        kill_until(settled.count, total, start(), kills)
    assert_ledgers_agree(publication)


def assert_ledgers_agree(publication: Publication) -> None:
    ours = dict(
        Claim.objects.filter(hit__publication=publication).values_list("ref", "assignment__payment")
    )
    theirs = {
        each.assignment_id: {"approved": "approved", "rejected": "refused"}[each.status.lower()]
        for each in TheirAssignment.objects.all()
    }
    assert ours == theirs
    assert set(Claim.objects.values_list("theirs", flat=True)) == {"approved", "rejected"}
    intents = publication.intents.filter(action__in=PAYING)
    assert set(intents.values_list("state", flat=True)) <= {"done", "already"}
    assert TheirBonus.objects.count() == intents.filter(action="bonus").count()
    assert len(set(TheirBonus.objects.values_list("assignment", "reason"))) == (
        TheirBonus.objects.count()
    )
    paid = intents.aggregate(sum=Sum("amount"))["sum"]
    charged = Payment.objects.exclude(kind="deposit").aggregate(sum=Sum("amount"))["sum"]
    account = Requester.objects.get()
    assert paid == charged == Decimal("1000.00") - account.balance
    spent = spending(publication)
    assert spent.paid + spent.bonuses == paid


@pytest.mark.django_db(transaction=True)
def test_tickets_are_made_once_whatever_fails(tmp_path: Path, settings: LazySettings) -> None:
    publishes_once(tmp_path, settings, pages=40, kills=2)


@pytest.mark.django_db(transaction=True)
def test_pages_are_paid_once_whatever_fails(tmp_path: Path, settings: LazySettings) -> None:
    pays_once(tmp_path, settings, pages=18, kills=2)


@pytest.mark.deep
@pytest.mark.django_db(transaction=True)
def test_three_hundred_tickets_are_made_once_whatever_fails(
    tmp_path: Path, settings: LazySettings
) -> None:
    publishes_once(tmp_path, settings, pages=300, kills=5)


@pytest.mark.deep
@pytest.mark.django_db(transaction=True)
def test_three_hundred_pages_are_paid_once_whatever_fails(
    tmp_path: Path, settings: LazySettings
) -> None:
    pays_once(tmp_path, settings, pages=300, kills=5)
