"""What is paid at a marketplace and not used is bought again, within what the study allows."""

import pytest
from django.conf import LazySettings

from hits.models import Assignment, Claim, Job, Publication, Study, User
from hits.pipeline import replace
from hits.pipeline.reconcile import reconcile
from hits.pipeline.review import decide, take_back
from hits.pipeline.versions import change_version
from tests import selling
from tests.concurrency.reconciling import assert_places_reconcile

pytestmark = pytest.mark.usefixtures("requester")


@pytest.fixture
def publication() -> Publication:
    """Two pages of a study were sold, done and confirmed, and both are paid and not used."""
    sold = selling.sell(selling.study(), pages=2)
    for hit in list(sold.hits.filter(state="live")):
        selling.do_page(hit)
    reconcile(sold)
    for claim in Claim.objects.select_related("assignment"):
        assert claim.assignment is not None
        set_aside(claim.assignment, sold.created_by)
    sold.refresh_from_db()
    return sold


def set_aside(page: Assignment, by: User) -> None:
    decide(assignment=page, by=by, use="not_used", payment="approved", reason="Not read.")


def allow(publication: Publication, pages: int) -> Publication:
    change_version(
        study=publication.study,
        by=publication.created_by,
        quality={"replacement_pages": pages},
    )
    return Publication.objects.select_related("study__version").get(pk=publication.pk)


def test_nothing_is_bought_that_nobody_agreed_to(publication: Publication) -> None:
    assert replace.replace_all() == 0
    assert publication.hits.count() == 2


def test_what_is_not_used_is_bought_again_up_to_the_limit_and_once(
    publication: Publication,
) -> None:
    allow(publication, 1)
    assert [replace.replace_all() for _ in range(3)] == [1, 0, 0]
    assert publication.hits.count() == 3
    publication.refresh_from_db()
    assert (publication.replaced, publication.pages) == (1, 3)
    allow(publication, 9)
    assert [replace.replace_all() for _ in range(2)] == [1, 0]
    assert publication.hits.count() == 4
    assert_places_reconcile()


def test_two_publications_of_a_study_share_what_it_allows(publication: Publication) -> None:
    allow(publication, 1)
    other = selling.sell(publication.study, pages=1)
    selling.do_page(selling.live_hit(other))
    reconcile(other)
    page = Claim.objects.get(hit__publication=other).assignment
    assert page is not None
    set_aside(page, publication.created_by)
    assert replace.replace_all() == 1
    allow(publication, 2)
    assert [replace.replace_all() for _ in range(2)] == [1, 0]


def test_a_decision_that_may_still_be_taken_back_buys_nothing(
    publication: Publication, settings: LazySettings
) -> None:
    allow(publication, 9)
    settings.PAY_AFTER_SECONDS = 600
    assert replace.replace_all() == 0
    for claim in Claim.objects.select_related("assignment"):
        assert claim.assignment is not None
        take_back(assignment=claim.assignment, by=publication.created_by)
    settings.PAY_AFTER_SECONDS = 0
    assert replace.replace_all() == 0


def test_the_sweep_asks_for_it_where_some_is_wanted(publication: Publication) -> None:
    replace.ask_what_is_due()
    assert not Job.objects.filter(kind="replace").exists()
    allow(publication, 9)
    replace.ask_what_is_due()
    replace.ask_what_is_due()
    assert Job.objects.filter(kind="replace").count() == 1


def test_a_paused_study_buys_nothing(publication: Publication) -> None:
    allow(publication, 9)
    Study.objects.update(state="paused")
    assert replace.replace_all() == 0
