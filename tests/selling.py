"""A study at the marketplace: its terms, and what workers do with its HITs there and here."""

from datetime import timedelta
from decimal import Decimal
from typing import Any

from hits.channels.contract import Terms
from hits.marketplace import work
from hits.marketplace.models import HIT, Requester, Worker
from hits.marketplace.models import Assignment as TheirAssignment
from hits.models import Account, Assignment, Claim, Hit, Job, Publication, Study
from hits.pipeline import jobs
from hits.pipeline.draw import draw
from hits.pipeline.people import account_at, give_consent
from hits.pipeline.publish import publish
from hits.pipeline.submit import submit
from tests import making
from tests.marketplace import world
from workers.work import WORK

SETTINGS = {"candidates_a_page": 4, "justification": False}


def channel_values(market: str, requester: Requester, **changes: str) -> dict[str, str]:
    """What CHANNEL_LOCAL_… would say."""
    return {
        "kind": "mturk",
        "url": market,
        "submit": market,
        "region": "us-east-1",
        "access_key": requester.access_key,
        "secret_key": world.SECRET,
        "events": market.removeprefix("http://"),
        **changes,
    }


def terms(**changes: Any) -> Terms:
    given: dict[str, Any] = {
        "title": "Judge pairs",
        "description": "Say whether a caption describes an image.",
        "keywords": "image, caption",
        "reward": Decimal("0.65"),
        "duration": timedelta(hours=1),
        "lifetime": timedelta(days=1),
        "auto_approval": timedelta(days=3),
    }
    return Terms(**given | changes)


def study(images: int = 12, **values: Any) -> Study:
    return making.study(making.corpus(images=images), settings=SETTINGS, **values)


def sell(of: Study, pages: int | None = None, **changes: Any) -> Publication:
    """Publish, and launch."""
    made = publish(
        study=of,
        channel="local",
        terms=terms(**changes),
        by=of.corpus.owner,
        least_wage=None,
        pages=pages,
    )
    run_jobs()
    made.refresh_from_db()
    return made


def run_jobs() -> list[Job]:
    """Do what waits in the queue, here."""
    done = []
    while job := Job.objects.filter(state="queued").order_by("pk").first():
        jobs.run(job.pk, WORK)
        job.refresh_from_db()
        done.append(job)
    return done


def accept(hit: Hit, worker: Worker | None = None) -> TheirAssignment:
    return work.accept(worker=worker or world.worker(), hit=HIT.objects.get(hit_id=hit.hit_id))


def hand_over(theirs: TheirAssignment, receipt: str = "") -> TheirAssignment:
    return work.submit(assignment=theirs, answers=[("receipt", receipt)])


def account_of(worker: Worker) -> Account:
    return account_at(channel="local", external_id=worker.worker_id)


def claim(hit: Hit, theirs: TheirAssignment) -> Claim:
    """A worker comes to the page: it holds units for them."""
    account = account_of(theirs.worker)
    give_consent(study=hit.publication.study, account=account)
    page = draw(study=hit.publication.study, account=account)
    return Claim.objects.create(
        hit=hit, ref=theirs.assignment_id, account=account, assignment=page, reserves=True
    )


def answer(claimed: Claim, choice: str = "yes") -> Assignment:
    page = claimed.assignment
    assert page is not None
    fields = making.truthful(page, choice)
    submit(assignment_key=page.key, account=claimed.account, fields=fields)
    page.refresh_from_db()
    return page


def do_page(hit: Hit, worker: Worker | None = None) -> Claim:
    """Accept, answer here, hand over there."""
    theirs = accept(hit, worker)
    claimed = claim(hit, theirs)
    page = answer(claimed)
    hand_over(theirs, str(page.key))
    return claimed


def live_hit(publication: Publication) -> Hit:
    found = publication.hits.filter(state=Hit.State.LIVE, claims__isnull=True).first()
    assert found is not None
    return found
