"""A simulated crowd by command: imported, or at work over HTTP as raters and as workers of the
marketplace."""

import pytest
from django.conf import LazySettings
from django.core.management import CommandError, call_command
from pytest_django.live_server_helper import LiveServer

from hits.marketplace.models import HIT, Requester
from hits.models import Assignment, Judgment, Person, Unit
from tests import making, selling
from tests.concurrency.reconciling import assert_places_reconcile
from tests.ports import two_free_ports

pytestmark = pytest.mark.django_db(transaction=True)


def test_the_judgments_of_a_crowd_are_imported(capsys: pytest.CaptureFixture[str]) -> None:
    study = making.study(
        making.corpus(images=8), settings={"candidates_a_page": 10}, judgments_wanted=3
    )
    call_command("simulate", study.slug, people=9, seed=3)
    assert "simulated people" in capsys.readouterr().out
    units = Unit.objects.filter(study=study, pool="candidate")
    assert units.exists()
    assert not units.exclude(counted=3).exists()


def test_raters_log_in_agree_save_and_submit_until_nothing_is_left(
    live_server: LiveServer, capsys: pytest.CaptureFixture[str]
) -> None:
    study = making.study(making.corpus(images=8), settings={"candidates_a_page": 10})
    given = {"people": 3, "seed": 4, "by": "http", "url": live_server.url, "at_once": 2}
    call_command("simulate", study.slug, **given)
    assert "pages submitted by simulated raters" in capsys.readouterr().out
    assert not Unit.objects.filter(study=study, pool="candidate", counted=0).exists()
    pages = Assignment.objects.filter(study=study)
    assert all(page.draft_revision == 1 and page.device for page in pages)
    people = Person.objects.filter(assignments__in=pages).distinct()
    assert all(person.is_simulated for person in people)
    # As long as they say: the page was out for all of it.
    slow = Judgment.objects.filter(slot__assignment__in=pages, seconds__gt=2)
    assert slow.count() > Judgment.objects.count() / 2
    assert_places_reconcile()


def test_workers_accept_hits_work_in_the_frame_and_hand_over(
    live_server: LiveServer,
    requester: Requester,
    settings: LazySettings,
    capsys: pytest.CaptureFixture[str],
) -> None:
    settings.SITE_URL = live_server.url
    study = selling.study()
    with pytest.raises(CommandError, match="Publish the study first"):
        call_command("simulate", study.slug, people=2, by="marketplace")
    publication = selling.sell(study, pages=3)
    call_command("simulate", study.slug, people=2, seed=4, by="marketplace")
    assert "3 pages submitted by simulated workers" in capsys.readouterr().out
    pages = Assignment.objects.filter(study=study, state="submitted")
    assert pages.count() == publication.hits.count() == 3
    assert all(page.person.is_simulated for page in pages.select_related("person"))
    assert HIT.objects.filter(assignments__status="Submitted").count() == 3


def test_a_server_that_does_not_run_is_named() -> None:
    study = making.study(making.corpus(images=8), settings={"candidates_a_page": 10})
    nowhere = f"http://127.0.0.1:{two_free_ports()}"
    with pytest.raises(CommandError, match=rf"{nowhere}\S* cannot be reached"):
        call_command("simulate", study.slug, people=1, by="http", url=nowhere)
