"""One study open in the house and at a marketplace at once, with one person on both."""

from functools import partial

import pytest

from hits.marketplace.models import Worker
from hits.models import Account, Claim, Hit, Judgment, Publication, Study, Unit
from hits.pipeline.check import check_submitted
from hits.pipeline.errors import NothingLeft
from hits.pipeline.people import link
from hits.pipeline.reconcile import reconcile
from tests import making, selling
from tests.concurrency.racing import at_once
from tests.concurrency.reconciling import assert_places_reconcile
from tests.marketplace import world

WORKERS = 3
RATERS = 2


def work_in_house(study: Study, account: Account) -> int:
    pages = 0
    while True:
        try:
            making.work(study, account)
        except NothingLeft:
            return pages
        pages += 1


def work_at_the_marketplace(hits: list[Hit], worker: Worker) -> int:
    for done, hit in enumerate(hits):
        try:
            selling.do_page(hit, worker)
        except NothingLeft:
            return done
    return len(hits)


@pytest.mark.usefixtures("requester")
def test_no_unit_is_over_its_number_and_none_is_judged_twice_by_one_person_on_both() -> None:
    study = selling.study(images=14, judgments_wanted=3)
    publication = selling.sell(study)
    raters = [making.rater(study) for _ in range(RATERS)]
    workers = [world.worker(f"worker {number}") for number in range(WORKERS)]
    link(account=selling.account_of(workers[0]), same_as=raters[0])
    hits = list(publication.hits.order_by("pk"))
    shares = [hits[number::WORKERS] for number in range(WORKERS)]
    pages = at_once(
        [partial(work_in_house, study, rater) for rater in raters]
        + [
            partial(work_at_the_marketplace, share, worker)
            for share, worker in zip(shares, workers, strict=True)
        ]
    )
    assert all(isinstance(done, int) for done in pages), pages
    assert sum(pages[:RATERS]) > 0
    assert sum(pages[RATERS:]) > 0
    check_everything(publication, raters[0])


def check_everything(publication: Publication, both: Account) -> None:
    assert_places_reconcile()
    study = publication.study
    units = Unit.objects.filter(study=study, gold__isnull=True)
    assert set(units.values_list("held", flat=True)) == {0}
    both.refresh_from_db()
    theirs = Account.objects.filter(person=both.person)
    assert sorted(theirs.values_list("channel", flat=True)) == ["in_house", "local"]
    judged = list(
        Judgment.objects.filter(slot__assignment__account__in=theirs).values_list(
            "slot__unit", flat=True
        )
    )
    assert len(judged) == len(set(judged))
    handed_over = Claim.objects.filter(assignment__state="submitted").count()
    assert reconcile(publication)["confirmed"] == handed_over
    check_submitted()
    assert_places_reconcile()
